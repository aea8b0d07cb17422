/* SPDX-License-Identifier: Apache-2.0 */
/* kept_map.c - see kept_map.h. */
#include "feeds/tasks/kept_map.h"

#include <assert.h>

#include "access/audit.h"
#include "base/pack.h"
#include "codec/message.h"
#include "codec/moment.h"
#include "feeds/bounds.h"
#include "feeds/mapping/mapping.h"

enum { PACK_SIZE_MIN = 1 << 10, PACKED_SIZE_MAX = FEED_MAP_KEPT_SIZE_MAX + (64 << 10) };

struct keeping {
    const struct offers *offers;
    const struct feed_key *key;
    struct bytes content;
    struct arena *arena;
    Torg__V1__FeedCategories *kept; /* NULL: none */
};

int kept_map_check(const struct offers *offers, struct bytes content, struct err *err)
{
    const struct feed_mapping_options options = {.categories = content};
    struct catalog *catalog = offers->catalog(offers->catalog_arg);
    struct feed_mapping *mapping = NULL;
    int rc;

    if (!catalog)
        return err_set(err, ERR_UNAVAILABLE, "there is no catalogue yet");
    rc = feed_mapping_new(catalog, &options, &mapping, err);
    feed_mapping_free(mapping);
    catalog_unref(catalog);
    return rc;
}

static Torg__V1__FeedCategories *make(const struct keeping *keeping, struct bytes content,
                                      int64_t updated_us)
{
    Torg__V1__FeedCategories *made = MESSAGE_NEW(feed_categories, keeping->arena);

    made->seller = arena_strdup(keeping->arena, keeping->key->seller);
    made->feed = arena_strdup(keeping->arena, keeping->key->feed);
    made->content.data = (uint8_t *)content.data; /* nothing writes to it */
    made->content.len = content.size;
    made->update_time = moment_message(updated_us, keeping->arena);
    return made;
}

static int find_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct keeping *keeping = arg;
    struct bytes content;
    struct store_rows rows = store_select(
        tx, "SELECT updated_us, content FROM feed_categories WHERE seller_id = $1 AND feed_id = $2",
        STORE_WITH(STORE_V_STRING(keeping->key->seller), STORE_V_STRING(keeping->key->feed)));

    keeping->kept = NULL;
    if (store_next(&rows)) {
        rows.rc = pack_open(arena_copy(keeping->arena, rows.columns[1].bytes),
                            FEED_MAP_KEPT_SIZE_MAX, keeping->arena, &content, err);
        if (!rows.rc)
            keeping->kept = make(keeping, content, rows.columns[0].integer);
    }
    return store_rows_end(&rows, err);
}

int kept_map_find(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                  Torg__V1__FeedCategories **kept, struct err *err)
{
    struct keeping keeping = {.key = key, .arena = arena};
    int rc = store_read(offers->store, find_in, &keeping, err);

    *kept = rc ? NULL : keeping.kept;
    return rc;
}

/* What was fetched means something else now; and who has said so. */
static int tell(struct store_tx *tx, const struct keeping *keeping, const char *action,
                struct err *err)
{
    const struct feed_key *key = keeping->key;
    const struct audit_entry entry = {
        .at_us = clock_wall_us(keeping->offers->clock),
        .principal = key->actor,
        .action = action,
        .target = arena_printf(keeping->arena, "%s/%s", key->seller, key->feed),
        .detail = ""};
    int rc = store_exec(tx,
                        "UPDATE feed_schedule SET etag = '', modified = '', content_hash = 0, "
                        "due_us = CASE WHEN due_us > 0 THEN CAST($3 AS BIGINT) ELSE 0 END "
                        "WHERE seller_id = $1 AND feed_id = $2",
                        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                                   STORE_V_INT(entry.at_us)),
                        NULL, err);

    return rc || !key->actor ? rc : audit_add(tx, &entry, err);
}

static int put(struct store_tx *tx, struct keeping *keeping, struct err *err)
{
    const struct feed_key *key = keeping->key;
    int64_t now_us = clock_wall_us(keeping->offers->clock);
    struct buf packed = BUF_INIT(PACKED_SIZE_MAX);
    int rc;

    keeping->kept = make(keeping, keeping->content, now_us);
    pack_put(&packed, keeping->content, PACK_SIZE_MIN);
    assert(!buf_failed(&packed));
    rc = store_exec(tx,
                    "INSERT INTO feed_categories (seller_id, feed_id, updated_us, content) "
                    "VALUES ($1, $2, $3, $4) ON CONFLICT (seller_id, feed_id) DO UPDATE "
                    "SET updated_us = excluded.updated_us, content = excluded.content",
                    STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed),
                               STORE_V_INT(now_us), STORE_V_BLOB(buf_bytes(&packed))),
                    NULL, err);
    buf_release(&packed);
    return rc;
}

static int set_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct keeping *keeping = arg;
    int rc = find_in(tx, keeping, err);

    if (rc || (keeping->kept &&
               bytes_equal(bytes_make(keeping->kept->content.data, keeping->kept->content.len),
                           keeping->content)))
        return rc;
    rc = put(tx, keeping, err);
    return rc ? rc : tell(tx, keeping, "feed.categories.set", err);
}

int kept_map_set(const struct offers *offers, const struct feed_key *key, struct bytes content,
                 struct arena *arena, Torg__V1__FeedCategories **now, struct err *err)
{
    struct keeping keeping = {.offers = offers, .key = key, .content = content, .arena = arena};
    int rc;

    if (content.size > FEED_MAP_KEPT_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "categories: %zu bytes are too many to be remembered: the limit is %d",
                       content.size, FEED_MAP_KEPT_SIZE_MAX);
    rc = store_write(offers->store, set_in, &keeping, err);
    if (now)
        *now = rc ? NULL : keeping.kept;
    return rc;
}

static int remove_in(struct store_tx *tx, void *arg, struct err *err)
{
    struct keeping *keeping = arg;
    const struct feed_key *key = keeping->key;
    int rc = find_in(tx, keeping, err);

    if (!rc && !keeping->kept)
        rc = err_set(err, ERR_NOT_FOUND, "no categories are set for the feed \"%s\"", key->feed);
    if (!rc)
        rc = store_exec(tx, "DELETE FROM feed_categories WHERE seller_id = $1 AND feed_id = $2",
                        STORE_WITH(STORE_V_STRING(key->seller), STORE_V_STRING(key->feed)), NULL,
                        err);
    return rc ? rc : tell(tx, keeping, "feed.categories.remove", err);
}

int kept_map_remove(const struct offers *offers, const struct feed_key *key, struct arena *arena,
                    Torg__V1__FeedCategories **kept, struct err *err)
{
    struct keeping keeping = {.offers = offers, .key = key, .arena = arena};
    int rc = store_write(offers->store, remove_in, &keeping, err);

    *kept = rc ? NULL : keeping.kept;
    return rc;
}
