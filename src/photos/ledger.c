/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - see ledger.h. */
#include "photos/ledger.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/photo_key.h"
#include "photos/bounds.h"
#include "photos/photo_folder.h"

/* As in offers/record/photo_use.h, whose table it is. */
enum { KIND_UPLOAD = 2 };

#define UPLOAD_FORM "up:"

/* --- entering --- */

struct entering {
    struct bytes stem;
    const char *forms;
    const char *seller;
    int64_t now_us;
    struct arena *arena;
    int64_t made_ms; /* of the current run, as the rest */
    bool is_known;
    const char *known; /* forms */
};

static int find_row(struct store_tx *tx, struct entering *entering, struct err *err)
{
    struct store_rows rows = store_select(tx, "SELECT made_ms, forms FROM photo WHERE photo = $1",
                                          STORE_WITH(STORE_V_TEXT(entering->stem)));

    entering->is_known = store_next(&rows);
    entering->made_ms =
        entering->is_known ? rows.columns[0].integer : entering->now_us / (int64_t)MS_US;
    entering->known = entering->is_known ? arena_text(entering->arena, rows.columns[1].bytes) : "";
    return store_rows_end(&rows, err);
}

/* The next of the words; false: there is none. */
static bool next_form(struct bytes *rest, struct bytes *form)
{
    const uint8_t *blank;

    if (!rest->size)
        return false;
    blank = memchr(rest->data, ' ', rest->size);
    *form = bytes_make(rest->data, blank ? (size_t)(blank - rest->data) : rest->size);
    *rest = bytes_skip(*rest, form->size + (blank ? 1 : 0));
    return true;
}

static bool has_form(struct bytes forms, struct bytes wanted)
{
    struct bytes form;

    while (next_form(&forms, &form))
        if (bytes_equal(form, wanted))
            return true;
    return false;
}

/* Those of before, too: another version of the program may have made other sizes. */
static const char *join_forms(const struct entering *entering)
{
    struct bytes rest = bytes_of(entering->forms);
    const char *joined = entering->known;
    struct bytes form;

    while (next_form(&rest, &form))
        if (!has_form(bytes_of(joined), form))
            joined = arena_printf(entering->arena, "%s%s%.*s", joined, *joined ? " " : "",
                                  BYTES_ARG(form));
    return joined;
}

static int note_seller(struct store_tx *tx, const struct entering *entering, struct err *err)
{
    if (!entering->seller)
        return 0;
    return store_exec(tx,
                      "INSERT INTO photo_use (holder_id, kind, photo, seller_id, shown) "
                      "VALUES ($1, $2, $3, $4, 0) ON CONFLICT (holder_id, kind, photo) DO NOTHING",
                      STORE_WITH(STORE_V_INT((int64_t)(hash64(bytes_of(entering->seller)) >> 1)),
                                 STORE_V_INT(KIND_UPLOAD), STORE_V_TEXT(entering->stem),
                                 STORE_V_STRING(entering->seller)),
                      NULL, err);
}

static int enter(struct store_tx *tx, void *arg, struct err *err)
{
    struct entering *entering = arg;
    const char *forms;
    int rc = find_row(tx, entering, err);

    if (rc)
        return rc;
    forms = join_forms(entering);
    if (strlen(forms) > LEDGER_FORMS_SIZE_MAX)
        return err_set(err, ERR_LIMIT, "a photo with more than %d bytes of names",
                       LEDGER_FORMS_SIZE_MAX);
    rc = store_exec(tx,
                    "INSERT INTO photo (photo, made_ms, free_us, forms) VALUES ($1, $2, $3, $4) "
                    "ON CONFLICT (photo) DO UPDATE SET forms = $4, free_us = "
                    "CASE WHEN photo.free_us = 0 THEN 0 ELSE CAST($3 AS BIGINT) END",
                    STORE_WITH(STORE_V_TEXT(entering->stem), STORE_V_INT(entering->made_ms),
                               STORE_V_INT(entering->now_us), STORE_V_STRING(forms)),
                    NULL, err);
    return rc ? rc : note_seller(tx, entering, err);
}

int ledger_enter(struct ledger *ledger, struct bytes stem, const char *forms, const char *seller,
                 struct arena *arena, int64_t *made_ms, struct err *err)
{
    struct entering entering = {.stem = stem,
                                .forms = forms,
                                .seller = seller,
                                .now_us = clock_wall_us(ledger->clock),
                                .arena = arena};
    int rc;

    assert(stem.size == PHOTO_STEM_DIGITS);
    rc = store_write(ledger->store, enter, &entering, err);
    *made_ms = entering.made_ms;
    return rc;
}

const char *ledger_blob_name(struct bytes stem, int64_t made_ms, struct bytes form,
                             struct arena *arena)
{
    struct bytes upload = BYTES_LITERAL(UPLOAD_FORM);

    if (bytes_begin(form, upload)) {
        form = bytes_skip(form, upload.size);
        return arena_printf(arena, UPLOAD_BLOB_PREFIX "%.*s%.*s-%" PRIx64, BYTES_ARG(stem),
                            BYTES_ARG(form), (uint64_t)made_ms);
    }
    return arena_printf(arena, PHOTO_BLOB_PREFIX "%.*s-%" PRIx64 "-%.*s", BYTES_ARG(stem),
                        (uint64_t)made_ms, BYTES_ARG(form));
}

int ledger_find(const struct ledger *ledger, struct bytes stem, int64_t *made_ms, struct err *err)
{
    int rc;

    *made_ms = 0;
    rc = store_read_integer(ledger->store, "SELECT made_ms FROM photo WHERE photo = $1",
                            STORE_WITH(STORE_V_TEXT(stem)), made_ms, err);
    return rc || *made_ms ? rc : err_set(err, ERR_NOT_FOUND, "there is no such photo");
}

static int look_for_row(struct store_tx *tx, void *arg, struct err *err)
{
    return find_row(tx, arg, err);
}

/* "240.jpg": 240 */
static unsigned long width_of(struct bytes form, struct arena *arena)
{
    return strtoul(arena_text(arena, form), NULL, 10);
}

int ledger_smallest(const struct ledger *ledger, struct bytes stem, struct arena *arena,
                    const char **key, struct err *err)
{
    struct entering row = {.stem = stem, .arena = arena, .known = ""};
    int rc = store_read(ledger->store, look_for_row, &row, err);
    struct bytes smallest = BYTES_EMPTY;
    struct bytes forms;
    struct bytes form;

    if (rc)
        return rc;
    forms = bytes_of(row.known);
    while (next_form(&forms, &form)) {
        if (!bytes_begin(form, (struct bytes)BYTES_LITERAL(UPLOAD_FORM)) &&
            (!smallest.size || width_of(form, arena) < width_of(smallest, arena)))
            smallest = form;
    }
    if (!smallest.size)
        return err_set(err, ERR_NOT_FOUND, "there is no such photo");
    *key = ledger_blob_name(stem, row.made_ms, smallest, arena) + strlen(PHOTO_BLOB_PREFIX);
    return 0;
}

int ledger_renew(const struct ledger *ledger, const char *key, bool *is_there, struct err *err)
{
    int64_t changed = 0;
    int rc = store_write_one(ledger->store,
                             "UPDATE photo SET free_us = CASE WHEN free_us = 0 THEN 0 ELSE "
                             "CAST($3 AS BIGINT) END WHERE photo = $1 AND made_ms = $2",
                             STORE_WITH(STORE_V_TEXT(photo_key_stem(key)),
                                        STORE_V_INT(photo_key_made_ms(key)),
                                        STORE_V_INT(clock_wall_us(ledger->clock))),
                             &changed, err);

    *is_there = !rc && changed;
    return rc;
}

/* --- who may see it --- */

/* Once true it stays so. */
static int is_listed(struct ledger *ledger, bool *listed, struct err *err)
{
    int64_t last = -1;
    int rc = 0;

    *listed = atomic_load(&ledger->is_listed);
    if (*listed)
        return 0;
    rc =
        store_read_integer(ledger->store, "SELECT last_id FROM photo_listing WHERE name = 'offers'",
                           NULL, 0, &last, err);
    *listed = !rc && last < 0;
    atomic_store(&ledger->is_listed, *listed);
    return rc;
}

int ledger_may_see(struct ledger *ledger, const char *key, const char *seller, bool *may,
                   struct err *err)
{
    int64_t found = 0;
    bool listed;
    int rc = is_listed(ledger, &listed, err);

    *may = !rc && (!listed || (seller && !*seller));
    if (rc || *may)
        return rc;
    rc = store_read_integer(
        ledger->store,
        "SELECT 1 FROM photo_use WHERE photo = $1 AND (shown = 1 OR seller_id = $2) LIMIT 1",
        STORE_WITH(STORE_V_TEXT(photo_key_stem(key)), STORE_V_STRING(seller ? seller : " ")),
        &found, err);
    *may = !rc && found;
    return rc;
}

/* --- sweeping --- */

struct free_photo {
    struct bytes photo;
    int64_t made_ms;
    struct bytes forms;
};

struct sweeping {
    int64_t until_us;
    size_t max;
    struct arena *arena;
    struct free_photo *list; /* [max] */
    size_t count;            /* of the current run */
    size_t new_count;        /* likewise: those that were no trash before */
};

static int read_list(struct store_rows rows, struct sweeping *sweeping, struct err *err)
{
    for (sweeping->count = 0; store_next(&rows); sweeping->count++) {
        assert(sweeping->count < sweeping->max);
        sweeping->list[sweeping->count] = (struct free_photo){
            arena_copy(sweeping->arena, rows.columns[0].bytes), rows.columns[1].integer,
            arena_copy(sweeping->arena, rows.columns[2].bytes)};
    }
    return store_rows_end(&rows, err);
}

static int find_free(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweeping *sweeping = arg;

    return read_list(store_select(tx,
                                  "SELECT photo, made_ms, forms FROM photo WHERE free_us > 0 AND "
                                  "free_us < $1 ORDER BY free_us LIMIT $2",
                                  STORE_WITH(STORE_V_INT(sweeping->until_us),
                                             STORE_V_INT((int64_t)sweeping->max))),
                     sweeping, err);
}

static int throw_away(struct store_tx *tx, const struct free_photo *one, struct err *err)
{
    const struct store_value params[] = {STORE_V_TEXT(one->photo), STORE_V_INT(one->made_ms),
                                         STORE_V_TEXT(one->forms)};
    int rc = store_exec(tx,
                        "INSERT INTO photo_trash (photo, made_ms, forms) VALUES ($1, $2, $3) "
                        "ON CONFLICT (photo, made_ms) DO UPDATE SET forms = $3",
                        params, 3, NULL, err);

    if (!rc)
        rc = store_exec(tx, "DELETE FROM photo_use WHERE photo = $1", params, 1, NULL, err);
    if (!rc)
        rc = store_exec(tx, "DELETE FROM photo_look WHERE photo = $1", params, 1, NULL, err);
    if (!rc)
        rc = store_exec(tx, "DELETE FROM photo_source WHERE photo = $1", params, 1, NULL, err);
    return rc ? rc : store_exec(tx, "DELETE FROM photo WHERE photo = $1", params, 1, NULL, err);
}

/* Found and thrown away in one transaction: who refers to one at this moment is before or after. */
static int throw_all(struct store_tx *tx, void *arg, struct err *err)
{
    struct sweeping *sweeping = arg;
    int rc = find_free(tx, sweeping, err);

    for (size_t i = 0; i < sweeping->count && !rc; i++)
        rc = throw_away(tx, &sweeping->list[i], err);
    sweeping->new_count = sweeping->count;
    return rc;
}

/* Its row is deleted after the last blob: who is killed in between begins with this one. */
static int delete_blobs(struct ledger *ledger, const struct free_photo *one, struct arena *arena,
                        size_t *count, struct err *err)
{
    struct bytes rest = one->forms;
    struct bytes form;
    int rc = 0;

    while (!rc && next_form(&rest, &form)) {
        rc =
            blob_delete(ledger->blob, ledger_blob_name(one->photo, one->made_ms, form, arena), err);
        *count += !rc;
    }
    return rc ? rc
              : store_write_one(
                    ledger->store, "DELETE FROM photo_trash WHERE photo = $1 AND made_ms = $2",
                    STORE_WITH(STORE_V_TEXT(one->photo), STORE_V_INT(one->made_ms)), NULL, err);
}

/* The next of the trash behind the last one. */
static int find_trash(struct ledger *ledger, struct sweeping *sweeping, struct err *err)
{
    struct free_photo last = {.photo = bytes_of("")};

    if (sweeping->count)
        last = sweeping->list[sweeping->count - 1];
    return read_list(
        store_read_rows(ledger->store,
                        "SELECT photo, made_ms, forms FROM photo_trash WHERE "
                        "(photo, made_ms) > ($2, $3) ORDER BY photo, made_ms LIMIT $1",
                        STORE_WITH(STORE_V_INT((int64_t)sweeping->max), STORE_V_TEXT(last.photo),
                                   STORE_V_INT(last.made_ms))),
        sweeping, err);
}

/* All of it: a photo that cannot be deleted is told, and keeps none behind it; where none can be,
 * as the blobs are away, the next sweep goes on. */
static int empty_trash(struct ledger *ledger, struct sweeping *sweeping, struct ledger_swept *swept,
                       struct err *err)
{
    int first_rc = 0;
    int rc;

    sweeping->count = 0;
    do {
        rc = find_trash(ledger, sweeping, first_rc ? NULL : err);
        for (size_t i = 0; i < sweeping->count && !rc; i++) {
            int deleted = delete_blobs(ledger, &sweeping->list[i], sweeping->arena,
                                       &swept->blob_count, first_rc ? NULL : err);

            swept->photo_count += !deleted;
            first_rc = first_rc ? first_rc : deleted;
            rc = deleted && err_is_passing(deleted) ? deleted : 0;
        }
    } while (!rc && sweeping->count == sweeping->max);
    return first_rc ? first_rc : rc;
}

int ledger_sweep(struct ledger *ledger, int64_t keep_us, size_t max, struct ledger_swept *swept,
                 bool *more, struct err *err)
{
    struct sweeping sweeping = {
        .until_us = clock_wall_us(ledger->clock) - keep_us, .max = max, .arena = arena_new()};
    bool listed;
    int rc = is_listed(ledger, &listed, err);

    *swept = (struct ledger_swept){0};
    sweeping.list = arena_array(sweeping.arena, max, sizeof(*sweeping.list));
    if (!rc && listed && keep_us)
        rc = store_read(ledger->store, find_free, &sweeping, err); /* mostly there is none */
    if (!rc && sweeping.count)
        rc = store_write(ledger->store, throw_all, &sweeping, err);
    if (!rc)
        rc = empty_trash(ledger, &sweeping, swept, err);
    *more = !rc && sweeping.new_count == max;
    arena_free(sweeping.arena);
    return rc;
}
