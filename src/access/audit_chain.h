/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_chain.h - a hash over each row of the audit log and the hash of the previous row (a hash
 * chain): shows when a row was changed, removed or inserted.
 *
 *   hash(0) = 32 zero bytes
 *   hash(n) = SHA-256(hash(n - 1), seq, at_us, principal, key, action, target, detail)
 *             numbers as 8 bytes, texts with their sizes in 4 before them, all big-endian
 *
 * Rows count from 1 without a gap. Who can write to the table can also make the whole chain anew:
 * what holds him is a hash that is kept elsewhere: `torg audit verify` prints the last one, and
 * with --expect compares with one that was printed before.
 */
#ifndef TORG_ACCESS_AUDIT_CHAIN_H
#define TORG_ACCESS_AUDIT_CHAIN_H

#include "access/audit.h"

enum { AUDIT_HASH_SIZE = 32 /* SHA-256 */, AUDIT_HASH_TEXT_SIZE = 2 * AUDIT_HASH_SIZE + 1 };

/* Moves the chain on over the entry. */
void audit_chain_step(uint8_t hash[AUDIT_HASH_SIZE], const struct audit_entry *entry);

/* The chain's hash before the entry seq, for who has its number. */
int audit_chain_before(struct store_tx *tx, int64_t seq, uint8_t hash[AUDIT_HASH_SIZE],
                       struct err *err);

void audit_hash_text(const uint8_t hash[AUDIT_HASH_SIZE], char text[AUDIT_HASH_TEXT_SIZE]);

/* What is wrong with an entry. */
struct audit_fault {
    int64_t seq;
    const char *reason; /* the arena's */
};

struct audit_check {
    int64_t count; /* entries seen */
    int64_t last_seq;
    char head[AUDIT_HASH_TEXT_SIZE]; /* of the last one, as computed */
    struct audit_fault faults[20];
    size_t fault_count; /* of faults, those that are told */
    int64_t fault_total;
};

/* Goes over the whole log. expect_seq (0: none) must have the hash expect_hash. */
int audit_verify(struct store *store, int64_t expect_seq, const char *expect_hash,
                 struct arena *arena, struct audit_check *check, struct err *err);

#endif
