/* SPDX-License-Identifier: Apache-2.0 */
/* draft.c - see draft.h. */
#include "offers/change/draft.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "codec/message.h"
#include "offers/bounds.h"
#include "offers/change/offer_change.h"
#include "offers/record/offer_content.h"
#include "offers/record/offer_record.h"
#include "offers/record/photo_use.h"

enum { BODY_SIZE_MAX = 2 * OFFER_SIZE_MAX };

/* --- rows --- */

int draft_find(struct store_tx *tx, const char *owner, struct arena *arena, struct draft **draft,
               struct err *err)
{
    struct store_rows rows =
        store_select(tx,
                     "SELECT d.id, d.revision, d.updated_us, d.body FROM current_draft c "
                     "JOIN draft d ON d.owner_id = c.owner_id AND d.id = c.draft_id "
                     "WHERE c.owner_id = $1",
                     STORE_WITH(STORE_V_STRING(owner)));

    *draft = NULL;
    if (store_next(&rows)) {
        ProtobufCMessage *content;

        rows.rc = record_open(rows.columns[3].bytes, &torg__v1__offer_content__descriptor, arena,
                              &content, err);
        if (!rows.rc) {
            *draft = arena_alloc(arena, sizeof(**draft));
            **draft = (struct draft){.id = rows.columns[0].integer,
                                     .revision = rows.columns[1].integer,
                                     .updated_us = rows.columns[2].integer,
                                     .content = (Torg__V1__OfferContent *)content};
        }
    }
    return store_rows_end(&rows, err);
}

/* Writes what only the state before decides: it is read in the same transaction. */
static int write_draft(struct store_tx *tx, const char *owner, const struct draft *draft,
                       struct bytes body, bool is_new, struct arena *arena, struct err *err)
{
    const struct store_value params[] = {STORE_V_STRING(owner), STORE_V_INT(draft->id),
                                         STORE_V_INT(draft->revision),
                                         STORE_V_INT(draft->updated_us), STORE_V_BLOB(body)};
    int rc = 0;

    if (is_new)
        rc = store_exec(tx, "INSERT INTO current_draft (owner_id, draft_id) VALUES ($1, $2)",
                        params, 2, NULL, err);
    if (!rc && is_new)
        rc = store_exec(tx,
                        "INSERT INTO draft (owner_id, id, revision, updated_us, body) "
                        "VALUES ($1, $2, $3, $4, $5)",
                        params, 5, NULL, err);
    else if (!rc)
        rc = store_exec(tx,
                        "UPDATE draft SET revision = $3, updated_us = $4, body = $5 "
                        "WHERE owner_id = $1 AND id = $2",
                        params, 5, NULL, err);
    return rc ? rc
              : photo_use_draft(tx, draft->id, owner, draft->content, draft->updated_us, arena,
                                err);
}

/* What it referred to is nobody's from now on. */
static int wipe_draft(struct store_tx *tx, const struct offers *offers, const char *owner,
                      offerid id, struct arena *arena, struct err *err)
{
    const struct store_value params[] = {STORE_V_STRING(owner), STORE_V_INT(id)};
    int rc = store_exec(tx, "DELETE FROM current_draft WHERE owner_id = $1", params, 1, NULL, err);

    if (!rc)
        rc = store_exec(tx, "DELETE FROM draft WHERE owner_id = $1 AND id = $2", params, 2, NULL,
                        err);
    return rc ? rc : photo_use_draft(tx, id, owner, NULL, clock_wall_us(offers->clock), arena, err);
}

static int hand_over(struct store_tx *tx, const char *from, const char *to, offerid id,
                     struct err *err)
{
    const struct store_value params[] = {STORE_V_STRING(from), STORE_V_STRING(to), STORE_V_INT(id)};
    int rc = store_exec(tx, "UPDATE current_draft SET owner_id = $2 WHERE owner_id = $1", params, 2,
                        NULL, err);

    if (!rc)
        rc = store_exec(tx, "UPDATE draft SET owner_id = $2 WHERE owner_id = $1 AND id = $3",
                        params, 3, NULL, err);
    if (!rc)
        rc = store_exec(tx, "UPDATE photo_use SET seller_id = $2 WHERE holder_id = $1 AND kind = 1",
                        STORE_WITH(STORE_V_INT(id), STORE_V_STRING(to + strlen("s:"))), NULL, err);
    return rc;
}

/* The times of a draft go on too: the newer one is told by them. */
static void step_on(const struct offers *offers, struct draft *draft)
{
    int64_t now = clock_wall_us(offers->clock);

    draft->revision++;
    draft->updated_us = now > draft->updated_us ? now : draft->updated_us + 1;
}

/* --- opening, login --- */

static bool is_newer(const struct draft *draft, const struct draft *than)
{
    return !than || (draft && draft->updated_us > than->updated_us);
}

struct draft_choice draft_choose(const struct draft *seller, const struct draft *visitor,
                                 const char *category)
{
    bool seller_fits = seller && strcmp(seller->content->category, category) == 0;
    bool visitor_fits = visitor && strcmp(visitor->content->category, category) == 0;
    struct draft_choice choice = {.kept = DRAFT_OF_NOBODY};

    if (!seller && !visitor)
        return choice;
    if (*category && !seller_fits && !visitor_fits) {
        choice.kept = seller ? DRAFT_OF_SELLER : DRAFT_OF_VISITOR;
        choice.is_reset = true;
    } else if (*category && seller_fits != visitor_fits) {
        choice.kept = seller_fits ? DRAFT_OF_SELLER : DRAFT_OF_VISITOR;
    } else {
        choice.kept = visitor && is_newer(visitor, seller) ? DRAFT_OF_VISITOR : DRAFT_OF_SELLER;
    }
    return choice;
}

struct opening {
    const struct offers *offers;
    const char *seller;  /* owners; NULL: not given */
    const char *visitor; /* */
    const char *category;
    struct arena *arena;
    struct draft *of_seller; /* of the current run, as the rest */
    struct draft *of_visitor;
    struct draft_choice choice;
    struct draft *kept;
};

static int look(struct store_tx *tx, void *arg, struct err *err)
{
    struct opening *opening = arg;
    int rc = 0;

    opening->of_seller = NULL;
    opening->of_visitor = NULL;
    if (opening->seller)
        rc = draft_find(tx, opening->seller, opening->arena, &opening->of_seller, err);
    if (!rc && opening->visitor)
        rc = draft_find(tx, opening->visitor, opening->arena, &opening->of_visitor, err);
    if (rc)
        return rc;
    opening->choice = draft_choose(opening->of_seller, opening->of_visitor, opening->category);
    opening->kept =
        opening->choice.kept == DRAFT_OF_VISITOR ? opening->of_visitor : opening->of_seller;
    return 0;
}

/* The empty draft of the category, in place of what was there or new. */
static int write_empty(struct store_tx *tx, struct opening *opening, const char *owner, bool is_new,
                       struct err *err)
{
    struct buf body = BUF_INIT(BODY_SIZE_MAX);
    struct draft *draft = arena_zero(opening->arena, sizeof(*draft));
    int rc;

    if (is_new)
        draft->id = offer_id_make(offers_draw(opening->offers));
    else
        *draft = *opening->kept;
    draft->content = MESSAGE_NEW(offer_content, opening->arena);
    draft->content->category = arena_strdup(opening->arena, opening->category);
    step_on(opening->offers, draft);
    rc = record_pack(&draft->content->base, "the draft", &body, err);
    if (!rc)
        rc = write_draft(tx, owner, draft, buf_bytes(&body), is_new, opening->arena, err);
    buf_release(&body);
    opening->kept = draft;
    return rc;
}

static bool is_settled(const struct opening *opening)
{
    return opening->kept && !opening->choice.is_reset && !(opening->seller && opening->of_visitor);
}

static int keep_one_draft(struct store_tx *tx, void *arg, struct err *err)
{
    struct opening *opening = arg;
    const char *owner = opening->seller ? opening->seller : opening->visitor;
    int rc = look(tx, opening, err);

    if (rc || is_settled(opening))
        return rc;
    if (opening->of_seller && opening->choice.kept != DRAFT_OF_SELLER)
        rc = wipe_draft(tx, opening->offers, opening->seller, opening->of_seller->id,
                        opening->arena, err);
    if (!rc && opening->of_visitor && opening->choice.kept != DRAFT_OF_VISITOR)
        rc = wipe_draft(tx, opening->offers, opening->visitor, opening->of_visitor->id,
                        opening->arena, err);
    if (!rc && opening->choice.kept == DRAFT_OF_VISITOR && opening->seller)
        rc = hand_over(tx, opening->visitor, opening->seller, opening->kept->id, err);
    if (!rc && (opening->choice.is_reset || !opening->kept))
        rc = write_empty(tx, opening, owner, !opening->kept, err);
    return rc;
}

int draft_open(const struct offers *offers, const char *seller, const char *visitor,
               const char *category, struct arena *arena, struct draft **draft, struct err *err)
{
    struct opening opening = {.offers = offers,
                              .seller = seller,
                              .visitor = visitor,
                              .category = category,
                              .arena = arena};
    int rc;

    assert(offers->store && offers->clock);
    assert(seller || visitor);
    rc = store_read(offers->store, look, &opening, err);
    if (!rc && !is_settled(&opening))
        rc = store_write(offers->store, keep_one_draft, &opening, err);
    *draft = rc ? NULL : opening.kept;
    return rc;
}

/* --- reading, saving, discarding --- */

struct access {
    const struct offers *offers;
    const struct author *author;
    const char *owner;
    offerid id;
    int64_t expected_revision;
    Torg__V1__OfferContent *content; /* NULL: it is to be wiped */
    struct bytes body;               /* of it */
    struct once once;
    struct draft *draft; /* of the current run */
};

static int read_draft(struct store_tx *tx, void *arg, struct err *err)
{
    struct access *access = arg;

    return draft_find(tx, access->owner, access->author->arena, &access->draft, err);
}

int draft_get(const struct offers *offers, const char *owner, struct arena *arena,
              struct draft **draft, struct err *err)
{
    const struct author author = {.arena = arena};
    struct access access = {.offers = offers, .author = &author, .owner = owner};
    int rc = store_read(offers->store, read_draft, &access, err);

    assert(offers->store && offers->clock);
    *draft = rc ? NULL : access.draft;
    return rc;
}

/* The draft meant, at the revision meant. */
static int check_draft(const struct draft *draft, offerid id, int64_t expected_revision,
                       struct err *err)
{
    char text[OFFER_ID_TEXT_SIZE];

    offer_id_format(id, text);
    if (!draft || draft->id != id)
        return err_set(err, ERR_NOT_FOUND, "there is no draft %s", text);
    if (expected_revision && expected_revision != draft->revision)
        return err_set(err, ERR_CONFLICT,
                       "draft %s is at revision %" PRId64 ", not %" PRId64
                       ": read it and change that",
                       text, draft->revision, expected_revision);
    return 0;
}

/* A kept answer is the draft's revision and time. */
static int take_kept(struct access *access, struct bytes answer, struct err *err)
{
    int64_t numbers[2];

    if (answer.size != sizeof(numbers))
        return err_set(err, ERR_CORRUPT, "a kept answer of %zu bytes", answer.size);
    memcpy(numbers, answer.data, sizeof(numbers));
    access->draft = arena_zero(access->author->arena, sizeof(*access->draft));
    *access->draft = (struct draft){.id = access->id,
                                    .revision = numbers[0],
                                    .updated_us = numbers[1],
                                    .content = access->content};
    return 0;
}

static int keep_answer(struct store_tx *tx, const struct access *access, struct err *err)
{
    const int64_t numbers[2] = {access->draft->revision, access->draft->updated_us};
    bool taken = false;
    int rc = once_keep(tx, &access->once, bytes_make(numbers, sizeof(numbers)), &taken, err);

    /* It was asked for in this very transaction. */
    assert(rc || !taken);
    return rc;
}

static int change_draft(struct store_tx *tx, void *arg, struct err *err)
{
    struct access *access = arg;
    struct bytes answer;
    int rc;

    rc = once_find(tx, &access->once, access->author->arena, &answer, err);
    if (!rc && answer.data)
        return take_kept(access, answer, err);
    if (!rc)
        rc = read_draft(tx, access, err);
    if (!rc)
        rc = check_draft(access->draft, access->id, access->expected_revision, err);
    if (rc)
        return rc;
    if (access->content) {
        access->draft->content = access->content;
        step_on(access->offers, access->draft);
        rc = write_draft(tx, access->owner, access->draft, access->body, false,
                         access->author->arena, err);
    } else {
        rc = wipe_draft(tx, access->offers, access->owner, access->id, access->author->arena, err);
    }
    return rc ? rc : keep_answer(tx, access, err);
}

static int run_access(struct access *access, struct err *err)
{
    access->owner = access->author->seller;
    access->once = (struct once){.owner = access->owner,
                                 .key = access->author->once_key,
                                 .hash = access->author->once_hash,
                                 .now_us = clock_wall_us(access->offers->clock)};
    return store_write(access->offers->store, change_draft, access, err);
}

int draft_save(const struct offers *offers, const struct author *author, offerid id,
               int64_t expected_revision, Torg__V1__OfferContent *content, struct draft *saved,
               struct err *err)
{
    struct access access = {.offers = offers,
                            .author = author,
                            .id = id,
                            .expected_revision = expected_revision,
                            .content = content};
    struct buf body = BUF_INIT(BODY_SIZE_MAX);
    int rc;

    assert(offers->store && offers->clock);
    offer_photos_carry(content, NULL); /* they are looked at when the draft is published */
    rc = record_pack(&content->base, "the draft", &body, err);
    access.body = buf_bytes(&body);
    if (!rc)
        rc = run_access(&access, err);
    if (!rc)
        *saved = *access.draft;
    buf_release(&body);
    return rc;
}

int draft_discard(const struct offers *offers, const struct author *author, offerid id,
                  struct err *err)
{
    struct access access = {.offers = offers, .author = author, .id = id};

    assert(offers->store && offers->clock);
    return run_access(&access, err);
}

/* --- publishing --- */

struct publishing {
    const char *owner;
    offerid id;
    int64_t expected_revision;
    struct draft *draft; /* of the current try */
};

static int read_content(struct store_tx *tx, struct offer_change *change, struct err *err)
{
    struct publishing *publishing = change->arg;
    int rc = draft_find(tx, publishing->owner, change->author->arena, &publishing->draft, err);

    if (!rc)
        rc = check_draft(publishing->draft, publishing->id, publishing->expected_revision, err);
    if (!rc)
        change->content = publishing->draft->content;
    return rc;
}

static int remove_draft(struct store_tx *tx, struct offer_save *save, void *arg, struct err *err)
{
    struct offer_change *change = arg;
    struct publishing *publishing = change->arg;
    const struct store_value params[] = {STORE_V_STRING(publishing->owner),
                                         STORE_V_INT(publishing->id),
                                         STORE_V_INT(publishing->draft->revision)};
    int64_t changed = 0;
    int rc = store_exec(tx, "DELETE FROM draft WHERE owner_id = $1 AND id = $2 AND revision = $3",
                        params, 3, &changed, err);

    if (!rc && !changed) {
        save->outrun = true;
        return err_set(err, ERR_CONFLICT, "the draft was changed by another call at the same time");
    }
    if (!rc)
        rc = store_exec(tx, "DELETE FROM current_draft WHERE owner_id = $1 AND draft_id = $2",
                        params, 2, NULL, err);
    return rc ? rc
              : photo_use_draft(tx, publishing->id, publishing->owner, NULL,
                                clock_wall_us(change->offers->clock), change->author->arena, err);
}

int draft_publish(const struct offers *offers, const struct author *author, offerid id,
                  int64_t expected_revision, Torg__V1__OfferReceipt *receipt, struct err *err)
{
    struct publishing publishing = {.owner = arena_printf(author->arena, "s:%s", author->seller),
                                    .id = id,
                                    .expected_revision = expected_revision};
    struct offer_change change = {.offers = offers,
                                  .author = author,
                                  .wished_id = id,
                                  .move = MOVE_PUBLISH,
                                  .read = read_content,
                                  .also = remove_draft,
                                  .arg = &publishing};

    assert(offers->store && offers->clock);
    return offer_change_run(&change, receipt, err);
}

/* --- abandoned ones --- */

struct abandoned {
    const char *owner;
    offerid id;
};

struct purging {
    const struct offers *offers;
    const char *owners;
    int64_t before_us;
    size_t max;
    struct arena *arena;
    struct abandoned *list; /* [max] */
    size_t count;           /* of the current run */
};

static int find_abandoned(struct store_tx *tx, void *arg, struct err *err)
{
    struct purging *purging = arg;
    struct store_rows rows =
        store_select(tx,
                     "SELECT owner_id, id FROM draft WHERE SUBSTR(owner_id, 1, 2) = $1 "
                     "AND updated_us < $2 ORDER BY updated_us LIMIT $3",
                     STORE_WITH(STORE_V_STRING(purging->owners), STORE_V_INT(purging->before_us),
                                STORE_V_INT((int64_t)purging->max)));

    for (purging->count = 0; store_next(&rows); purging->count++) {
        assert(purging->count < purging->max);
        purging->list[purging->count] = (struct abandoned){
            arena_text(purging->arena, rows.columns[0].bytes), rows.columns[1].integer};
    }
    return store_rows_end(&rows, err);
}

/* Found and wiped in one transaction: who comes back at this moment finds all of it or nothing. */
static int purge(struct store_tx *tx, void *arg, struct err *err)
{
    struct purging *purging = arg;
    int rc = find_abandoned(tx, purging, err);

    for (size_t i = 0; i < purging->count && !rc; i++)
        rc = wipe_draft(tx, purging->offers, purging->list[i].owner, purging->list[i].id,
                        purging->arena, err);
    return rc;
}

int draft_purge(const struct offers *offers, const char *owners, int64_t before_us, size_t max,
                size_t *purged, struct err *err)
{
    struct purging purging = {.offers = offers,
                              .owners = owners,
                              .before_us = before_us,
                              .max = max,
                              .arena = arena_new()};
    int rc;

    assert(offers->store && offers->clock);
    purging.list = arena_array(purging.arena, max, sizeof(*purging.list));
    /* Mostly there is none: that is found out without the writer. */
    rc = store_read(offers->store, find_abandoned, &purging, err);
    if (!rc && purging.count)
        rc = store_write(offers->store, purge, &purging, err);
    *purged = rc ? 0 : purging.count;
    arena_free(purging.arena);
    return rc;
}
