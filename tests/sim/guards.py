#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""guards.py [--seeds N] [NAME...] - is each guard of the code missed by the simulator when it is gone?

A guard is what keeps a promise: a sync, a fence, a comparison of versions, an offset committed after
the work and not before. Each of the table is taken out of a copy of the tree, one at a time; the
simulation is built and runs seed after seed until one fails. A guard that can go without a failure
tells that crowd or judge lack something. Prints a line a guard with the seeds needed, and TAP.

TORG_BUILD names a build folder whose options are taken; the copy and its build are in a temporary
folder. Some 10 s a guard: ./dev test long guards.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
WORLD, CLUSTER, LOGS = "sim-world", "sim-cluster", "sim-logs"

# name: (program, file, what stands there, what stands there without the guard); further files and texts
# behind these where another guard stands behind the first: a promise is missed when both are gone.
GUARDS = {
    # ---- the disk ----
    "topic-sync": (
        WORLD, "src/topic/segment.c",
        "    return rc ? rc : ops->file_sync(segment->file, err);\n}\n\nint segment_seal",
        "    return rc;\n}\n\nint segment_seal"),
    "topic-dir-sync": (
        WORLD, "src/topic/segment.c",
        "    if (!rc)\n        rc = disk->ops->sync_dir(disk, dir, err);\n    if (rc) {\n        segment_free",
        "    if (rc) {\n        segment_free"),
    "store-sync": (
        WORLD, "src/store/sqlite_connection.c",
        'connection->place->durable ? "PRAGMA synchronous=FULL"',
        'connection->place->durable ? "PRAGMA synchronous=OFF"'),
    "file-sync": (
        WORLD, "src/base/file.c",
        "    if (!rc && file_call_fsync(fd))\n        rc = err_errno(err, \"fsync %s\", temporary);\n",
        ""),
    "rename-sync": (
        WORLD, "src/base/file.c", "    return sync_parent(path, err);\n}\n", "    return 0;\n}\n"),
    "checkpoint-dir-sync": (
        WORLD, "src/index/shard/shard_save.c",
        "    if (!rc)\n        rc = dir_sync(shard->options.dir, err);\n", ""),
    "stored-sync": (
        WORLD, "src/index/shard/shard_save.c",
        "    rc = stored_sync(shard->stored, err);\n", "    rc = 0;\n"),
    "lexicon-sync": (
        WORLD, "src/index/shard/shard_save.c",
        "    rc = lexicon_sync_wait(shard->lexicon, err);\n", "    rc = 0;\n"),
    "checkpoint-end": (  # what was taken while it was written is replayed
        CLUSTER, "src/index/shard/shard_save.c",
        "    *x1 = shard->offset > shard->serve_from ? shard->offset : shard->serve_from;\n",
        "    *x1 = 0;\n"),
    "store-checkpoint-sync": (  # what a failed sync has lost is copied again by the next process
        LOGS, "src/store/sqlite_checkpointer.c",
        '              LOG_TEXT("store", self->connection.place->path), LOG_INT("code", rc));\n    abort();\n',
        '              LOG_TEXT("store", self->connection.place->path), LOG_INT("code", rc));\n'),
    # ---- from the store to the topic ----
    "export-before-delete": (
        CLUSTER, "src/offers/outbox/export.c",
        "    if (!rc && batch->count)\n        rc = send(batch, err);\n"
        "    if (!rc && batch->count)\n        rc = store_write(store, delete_sent, batch, err);\n",
        "    if (!rc && batch->count)\n        rc = store_write(store, delete_sent, batch, err);\n"
        "    if (!rc && batch->count)\n        rc = send(batch, err);\n"),
    "export-newest": (  # an offer that stands in the window twice is sent once, as it is now
        WORLD, "src/offers/change/offer_save.c",
        "    if (!rc)\n        rc = enqueue(tx, save, err);\n",
        "    if (!rc && !save->before)\n        rc = enqueue(tx, save, err);\n"),
    "export-fence": (
        CLUSTER, "src/offers/outbox/export.c",
        "        rc = check_ticket(tx, &batch->owned[place], err);\n        if (!rc)\n"
        "            rc = delete_run",
        "        rc = 0;\n        if (!rc)\n            rc = delete_run"),
    # Whoever was replaced is kept out by the store, by a look at coordination before he sends, and where
    # offsets move only from where he has read them.
    "fence": (
        CLUSTER, "src/store/fence.c", "    if (newest > ticket)\n", "    if (newest > ticket && !ticket)\n",
        "src/registry/indexing/indexer_send.c",
        "    if (indexer->shards && !coord_valid(", "    if (!indexer && !coord_valid(",
        "src/registry/indexing/queue_read.c", "    if (!rc && changed != 1)\n", "    if (!rc && changed < 0)\n"),
    # ---- offers ----
    "offer-revision": (  # optimistic lock
        WORLD, "src/offers/change/offer_save.c",
        '"UPDATE offer SET revision = $3, updated_us = $4, body = $5 "\n'
        '                        "WHERE id = $1 AND kind = \'offer\' AND revision = $2",',
        '"UPDATE offer SET revision = $3, updated_us = $4, body = $5 "\n'
        '                        "WHERE id = $1 AND kind = \'offer\' AND revision >= $2 - 1000",'),
    "offer-expected": (
        WORLD, "src/offers/change/offer_change.c",
        "    if (change->expected_revision && !is_expected(change))\n",
        "    if (change->expected_revision < 0 && !is_expected(change))\n"),
    "offer-counts": (
        WORLD, "src/offers/change/offer_save.c",
        "    if (!rc)\n        rc = apply_counts(tx, save, err);\n",
        "    if (!rc && save->id % 8)\n        rc = apply_counts(tx, save, err);\n"),
    "once": (  # idempotency
        WORLD, "src/offers/change/once.c",
        "    if (!once->key.size)\n        return 0;\n    rows = store_select",
        "    if (once->key.size || !once->key.size)\n        return 0;\n    rows = store_select"),
    "opinion-newest": (
        WORLD, "src/offers/change/moderation.c",
        '"WHERE offer.revision < excluded.revision"', '"WHERE offer.revision <> excluded.revision"'),
    "ban-holds-name": (
        WORLD, "src/offers/change/external_item.c", "    if (opinion.bans)\n", "    if (opinion.bans && !tx)\n"),
    "undo-touched": (
        WORLD, "src/feeds/apply/undo.c",
        "    if (feed_state_hash(row->offer, page->arena) != row->record.after_hash)\n",
        "    if (!row->record.after_hash)\n"),
    "photo-attempt": (
        WORLD, "src/offers/change/photos.c",
        "    if (item->attempt <= photo->attempt)\n        return false;\n", ""),
    # ---- the reader and what is parked ----
    "reader-commit-after": (
        CLUSTER, "src/stage/reader_run.c",
        "        has_ended[message->partition] = true;\n        if (!place->is_blocked",
        "        place->next_offset = message->offset + 1;\n        place->has_news = true;\n"
        "        has_ended[message->partition] = true;\n        if (!place->is_blocked"),
    "reader-parks": (
        WORLD, "src/stage/reader_run.c",
        "        rc = stage_reader_park_as(self, message, key, message->value, reason->text, walk->arena,\n"
        "                                  err);\n        if (!rc)\n",
        "        rc = 0;\n        if (!rc)\n"),
    "parked-superseded": (
        WORLD, "src/stage/reader_run.c",
        "    while (self->options.order == PARKED_NEWEST && stage_reader_knows(self, key) &&\n",
        "    while (self->options.order == PARKED_NEWEST && !key &&\n"),
    # ---- the registry ----
    "version-order": (
        WORLD, "src/registry/receiving/order.h",
        "    if (a->version != b->version)\n        return a->version < b->version ? -1 : 1;\n", ""),
    "epoch-order": (
        WORLD, "src/registry/receiving/order.h",
        "    if (a->epoch != b->epoch)\n        return a->epoch < b->epoch ? -1 : 1;\n", ""),
    "queue-with-row": (
        WORLD, "src/registry/receiving/sweep.c",
        "        if (count && !rc)\n"
        "            rc = queue_append(tx, client->id, LANE_MAIN, shard, elements, "
        "count, err);\n", ""),
    "tombstone-kept": (
        WORLD, "src/registry/receiving/sweep.c",
        "    row->expires_us = sweeping->now_us + sweeping->receiver->tombstone_life_us;\n",
        "    row->expires_us = sweeping->now_us;\n"),
    "indexer-send-before-commit": (
        WORLD, "src/registry/indexing/indexer.c",
        "    memcpy(indexer->position, indexer->committed, sizeof(indexer->position));\n"
        "    indexer->is_claimed = true;",
        "    for (int i = 0; i < LANE_FAILED; i++)\n"
        "        indexer->position[i] = indexer->committed[i] + (indexer->committed[i] > 0);\n"
        "    indexer->is_claimed = true;"),
    "indexer-forgets": (  # any failure makes it begin at the offsets of the store
        CLUSTER, "src/registry/indexing/indexer.c",
        "    else\n        indexer->is_claimed = false;\n    arena_free(batch.arena);",
        "    arena_free(batch.arena);"),
    "indexer-fence": (
        CLUSTER, "src/registry/indexing/indexer.c",
        "    int rc = store_check_fence(tx, indexer->fence, (int64_t)indexer->ticket, err);\n\n"
        "    object_check(indexer, INDEXER_MAGIC);\n    if (!rc)\n        rc = commit_pending",
        "    int rc = 0;\n\n    if (!rc)\n        rc = commit_pending"),
    "failed-kept": (
        WORLD, "src/registry/indexing/indexer.c",
        "        if (item->state == ITEM_FAILED)\n"
        "            add_failure(indexer, item, batch->now_us);\n        else if",
        "        if (item->state == ITEM_FAILED)\n            continue;\n        else if"),
    "numbers-unique": (
        WORLD, "src/numerator/slots.c",
        "            now_us - held->freed_us < slots->rules.hold_us)",
        "            now_us < held->freed_us)"),
    "ended-not-sent": (
        WORLD, "src/registry/indexing/indexer_batch.c",
        "    return row->expires_us && row->expires_us <= batch->now_us;\n", "    return !row;\n"),
    "fields-as-kept": (  # changes of side fields that are sent again are not older than what was sent
        CLUSTER, "src/registry/indexing/indexer_fields.c",
        "    if (!row->side.size || side_decode(row->side, arena, &kept, NULL))\n",
        "    if (row || side_decode(row->side, arena, &kept, NULL))\n"),
    "fields-order": (
        CLUSTER, "src/registry/receiving/side.c",
        "        if (order > 0) {\n", "        if (order >= -1) {\n"),
    "fields-with-put": (  # a document that is sent brings its side fields along
        WORLD, "src/registry/indexing/indexer_batch.c",
        "        convert_side(item->row->side, epoch, batch->arena, converted, err))\n",
        "        convert_side(BYTES_EMPTY, epoch, batch->arena, converted, err))\n"),
    "fields-kept": (  # a later put leaves them as they are
        WORLD, "src/registry/receiving/rows.c",
        'document = excluded.document, backfill_idx = 0",\n'
        '    .shared_count = 1,\n    .own_count = 10',
        'document = excluded.document, backfill_idx = 0, side = NULL",\n'
        '    .shared_count = 1,\n    .own_count = 10'),
    "stand-in": (  # an element that is superseded is sent as the registry has it
        CLUSTER, "src/registry/indexing/indexer_batch.c",
        "    if (!is_newest && (!item->row->status || item->lane == LANE_FAILED || is_poured(item)))\n",
        "    if (!is_newest)\n"),
    "leaving-shard": (
        CLUSTER, "src/registry/indexing/indexer_worker.c",
        "    for (size_t i = 0; i < worker->room_count; i++)\n"
        "        reconcile(worker, &worker->rooms[i]);\n    return rc;\n", "    return rc;\n"),
    "trim-delay": (  # what is needed until a pour has ended
        CLUSTER, "src/registry/indexing/indexer_tend.c",
        "                   (uint64_t)backfill->whole_offset, &err))\n",
        "                   (uint64_t)tending->end, &err))\n"),
    # ---- snippets ----
    "snippet-cache": (  # what a write changes is out of the memory that reads ask first
        WORLD, "src/snippets/rows/cache.c",
        "    hold(cache, parts, count);\n"
        "    rc = snippet_rows_write_parts(store, parts, count, source, written, err);\n"
        "    let_go(cache, parts, count);\n",
        "    rc = snippet_rows_write_parts(store, parts, count, source, written, err);\n"
        "    if (!store) {\n        hold(cache, parts, count);\n        let_go(cache, parts, count);\n    }\n"),
    # ---- the searcher ----
    "refusal-sent": (  # what is shown says that all before it is found or refused
        CLUSTER, "src/searcher/replica/replica_follow.c",
        "    int unsent = refusals_send(&following->refusals, &why);\n    int rc;\n",
        "    int unsent = (why.code = 0);\n    int rc;\n\n    following->refusals.count = 0;\n"),
    "refusal-parked": (
        CLUSTER, "src/registry/indexing/refusal_inbox.c",
        "    return rc ? rc : failed_put(tx, refusal->client_id, &element, false, err);\n", "    return rc;\n"),
    "refusal-newest": (  # a refusal of what is not the newest any more is none
        CLUSTER, "src/registry/indexing/refusal_inbox.c",
        "    if (names_order(message) && !is_same_order(&refused, &row))\n",
        "    (void)refused;\n    if (false)\n"),
    "pour-whole": (  # a shard that lacks what was trimmed serves when a pour has ended
        CLUSTER, "src/searcher/replica/apply.c",
        "        progress->pour_ticket = message->begin_ticket;\n    } else if",
        "        progress->pour_ticket = message->begin_ticket;\n        progress->has_gap = false;\n    } else if"),
    "token-wait": (
        WORLD, "src/searcher/replica/replica.c",
        "    if (reached_by(replica, lane) < idx && clock_mono_us",
        "    idx = 0;\n    if (reached_by(replica, lane) < idx && clock_mono_us"),
    "apply-ticket": (
        CLUSTER, "src/searcher/replica/apply.c",
        "    if (message->ticket < applier->progress.ticket) {\n", "    if (!message->ticket) {\n"),
    "apply-remove-owner": (
        WORLD, "src/searcher/replica/apply.c",
        "    if (is_foreign(applier, message->doc_id, message->pk)) {\n        applier->counts.foreign_count++;\n",
        "    if (!message->pk) {\n        applier->counts.foreign_count++;\n"),
    "apply-texts": (
        WORLD, "src/searcher/replica/apply.c",
        "    if (!is_stored_as(applier, FIELD_PK))\n        return false;\n", ""),
    "apply-offset": (
        WORLD, "src/searcher/replica/replica_follow.c",
        "    following->offset = shard_offset(shard);\n",
        "    following->offset = shard_offset(shard) ? shard_offset(shard) + 1 : 0;\n"),
    "apply-expiry": (
        WORLD, "src/searcher/replica/apply.c",
        "        rc = rc ? rc : shard_set_expiry(applier->shard, message->doc_id, message->expires_at, err);\n",
        ""),
}

# Behind these stands another, so that none of them is missed alone; tried only when they are named.
BACKED = {
    "checkpoint-dir-sync": "file_write and dir_create sync the directory of each name that they make",
    "fence": "offsets move from where they were read, numbers by number_space.change_no, searchers know tickets",
    "export-fence": "a row is deleted after it was sent, and searchers take the newest of what is sent twice",
    "indexer-fence": "as fence",
    "trim-delay": "a searcher whose topic begins too late is not ready until a pour has ended",
    "numbers-unique": "a number's removal comes before its next put: one partition, one owner at a time",
    "apply-remove-owner": "as numbers-unique; unit/searcher/apply.c",
    "apply-texts": "as numbers-unique; unit/searcher/apply.c",
    "ban-holds-name": "it takes months until a name is forgotten, and feeds rest then; contract/offers_bans.c",
}


def misplaced():
    """Guards whose text does not stand in its file once, as after a change of that file."""
    return [f"{name}: {path}" for name, (_, *edits) in GUARDS.items()
            for path, old, _ in zip(*[iter(edits)] * 3)
            if (TOP / path).read_text().count(old) != 1]


def copy_tree(to):
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, check=True).stdout
    for name in names.decode().split("\0"):
        if name and (TOP / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, to / name)


def build(tree, program):
    done = subprocess.run(["ninja", "-C", "build", f"tests/sim/{program}"], cwd=tree,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"guards: {program} cannot be built:\n{done.stdout[-3000:]}")


def first_failure(tree, program, seeds, jobs):
    """How many seeds it took, with what was violated; None: all were good."""
    step, first = max(jobs * 4, 8), 1
    while first <= seeds:
        last = min(first + step - 1, seeds)
        done = subprocess.run([f"build/tests/sim/{program}", "--seeds", f"{first}..{last}", "--jobs",
                               str(jobs)], cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode:
            bad = re.search(r"^# seed (\d+) of [^\n]*\n#\s+([^\n]*)", done.stdout, re.M)
            return (int(bad[1]), bad[2]) if bad else (last, done.stdout[-200:])
        first, step = last + 1, step * 2
    return None


def try_guard(tree, name, seeds, jobs):
    program, *edits = GUARDS[name]
    before = {}
    try:
        for path, old, new in zip(*[iter(edits)] * 3):
            text = (tree / path).read_text()
            if text.count(old) != 1:
                return False, f"{path} has it {text.count(old)} times: mend the table"
            before.setdefault(path, text)
            (tree / path).write_text(text.replace(old, new))
        build(tree, program)
        found = first_failure(tree, program, seeds, jobs)
    finally:
        for path, text in before.items():
            (tree / path).write_text(text)
    if not found:
        return False, f"not missed in {seeds} seeds"
    return True, f"seed {found[0]}: {found[1][:150]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = [name for name in GUARDS
             if (any(part in name for part in options.names) if options.names else name not in BACKED)]
    failed = 0
    print(f"1..{len(names)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="torg-guards-") as folder:
        tree = pathlib.Path(folder)
        copy_tree(tree)
        subprocess.run(["meson", "setup", "build", "--buildtype=release", "-Dtests=true", "-Dwerror=false",
                        "-Db_lto=false"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
        for number, name in enumerate(names, 1):
            caught, words = try_guard(tree, name, options.seeds, options.jobs)
            failed += not caught
            print(f"{'ok' if caught else 'not ok'} {number} - {name}: {words}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
