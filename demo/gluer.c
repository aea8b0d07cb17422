/* SPDX-License-Identifier: Apache-2.0 */
/* gluer.c - see gluer.h. */
#include "demo/gluer.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/random.h"
#include "base/task.h"
#include "snippets/intake/load.h"

enum { GLUER_MAGIC = OBJECT_MAGIC('g', 'l', 'u', 'e') };
enum { PAGE_COUNT = 100, NEWEST_COUNT = 20, ASK_US = 2 * 1000 * 1000, PAUSE_US = 2 * 1000 * 1000 };

static const char CONFIG[] =
    "# Snippets of torg demo: docs/snippets.md explains what can be written here.\n"
    "Body { Output: JSON\n"
    "  Sections { Name: \"rating\" Body { SpecialValidator: \"required:/stars,/count\" } }\n"
    "  Sections { Name: \"delivery\" Body { Output: TEXT Input: JSON\n"
    "    SpecialConvertor: \"template:demo-delivery.json\" OutputLanguages: [\"ru\", \"en\"] } }\n"
    "  Sections { Name: \"badge\" Body { Output: TEXT Input: JSON\n"
    "    SpecialConvertor: \"template:demo-badge.json\" OutputLanguages: [\"ru\", \"en\"]\n"
    "    TtlMinutes: 5 } } }\n";
static const char DELIVERY[] = "{\"ru\": \"Доставка от {/days} дн., {/price} ₽\",\n"
                               " \"en\": \"Delivery from {/days} days, {/price} ₽\"}\n";
static const char BADGE[] =
    "{\"ru\": \"Смотрят: {/viewers}\", \"en\": \"Watched by {/viewers}\"}\n";

struct gluer {
    uint32_t magic;
    struct snippets *snippets;
    const struct search *search;
    bool changes;
    struct rng rng;
    struct task task;
};

static int write_file(const char *dir, const char *name, const char *text, struct err *err)
{
    struct buf path = BUF_INIT(8192);
    int rc;

    buf_printf(&path, "%s/%s", dir, name);
    rc = file_write(buf_text(&path), bytes_of(text), err);
    buf_release(&path);
    return rc;
}

int gluer_prepare(const char *dir, const char *file, struct err *err)
{
    int rc = write_file(dir, "demo-delivery.json", DELIVERY, err);

    if (!rc)
        rc = write_file(dir, "demo-badge.json", BADGE, err);
    return rc ? rc : write_file(dir, file, CONFIG, err);
}

/* --- what is said of an offer --- */

static struct snippet_body body_of(const char *id, char *json)
{
    return (struct snippet_body){
        .key = bytes_of(id), .has_format = true, .format = SNIPPET_JSON, .body = bytes_of(json)};
}

static char *rating_of(uint64_t chance, struct arena *arena)
{
    return arena_printf(arena, "{\"stars\": %u.%u, \"count\": %u}", (unsigned)(3 + chance % 2),
                        (unsigned)(chance / 2 % 10), (unsigned)(1 + chance / 20 % 400));
}

static char *delivery_of(uint64_t chance, struct arena *arena)
{
    return arena_printf(arena, "{\"days\": %u, \"price\": %u}", (unsigned)(1 + chance % 7),
                        (unsigned)(chance / 7 % 10) * 50 + 150);
}

static char *badge_of(uint64_t chance, struct arena *arena)
{
    return arena_printf(arena, "{\"viewers\": %u}", (unsigned)(2 + chance % 30));
}

/* --- all offers --- */

static int ask_page(struct gluer *gluer, struct bytes cursor, int32_t limit, struct arena *arena,
                    Torg__V1__SearchOffersResponse *response, struct err *err)
{
    Torg__V1__SearchOffersRequest request = TORG__V1__SEARCH_OFFERS_REQUEST__INIT;

    request.only_offers = true;
    request.limit = limit;
    request.order = TORG__V1__SEARCH_OFFERS_REQUEST__ORDER__NEWEST;
    request.cursor = (ProtobufCBinaryData){.data = (uint8_t *)cursor.data, .len = cursor.size};
    return search_offers(gluer->search, &request, LANGUAGE_RU,
                         clock_mono_us(gluer->search->clock) + ASK_US, arena, response, err);
}

/* Every second offer has a rating, every third a delivery. */
static int add_page(struct gluer *gluer, const char *name, int64_t load,
                    const Torg__V1__SearchOffersResponse *page,
                    char *(*make)(uint64_t chance, struct arena *arena), uint64_t each,
                    struct arena *arena, struct err *err)
{
    struct snippet_load_row rows[PAGE_COUNT];
    struct snippet_load_count counts;
    size_t count = 0;

    for (size_t i = 0; i < page->n_offers && count < PAGE_COUNT; i++) {
        const char *id = page->offers[i]->id;
        uint64_t chance = hash64_seeded(bytes_of(id), each);

        if (chance % each == 0)
            rows[count++] = (struct snippet_load_row){
                .body = body_of(id, make(chance / each, arena)), .place = (int64_t)i};
    }
    return snippets_load_add(gluer->snippets, bytes_of(name), load, rows, count, arena, &counts,
                             err);
}

static int load_all(struct gluer *gluer, const char *name,
                    char *(*make)(uint64_t chance, struct arena *arena), uint64_t each,
                    struct err *err)
{
    struct snippet_difference difference;
    struct buf cursor = BUF_INIT(1 << 16);
    bool more = true;
    int64_t load;
    int rc = snippets_load_begin(gluer->snippets, bytes_of(name), &load, err);

    while (!rc && more && !task_is_stopping(&gluer->task)) {
        Torg__V1__SearchOffersResponse page = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
        struct arena *arena = arena_new();

        rc = ask_page(gluer, buf_bytes(&cursor), PAGE_COUNT, arena, &page, err);
        if (!rc)
            rc = add_page(gluer, name, load, &page, make, each, arena, err);
        more = !rc && page.cursor.len;
        buf_reset(&cursor);
        buf_put_raw(&cursor, page.cursor.data, page.cursor.len);
        arena_free(arena);
    }
    buf_release(&cursor);
    if (!rc && !more)
        rc = snippets_load_finish(gluer->snippets, bytes_of(name), load, 100, false, &difference,
                                  err);
    return rc;
}

/* --- life --- */

static int put(struct gluer *gluer, const char *name, const char *id, char *json,
               struct arena *arena, struct err *err)
{
    struct snippet_body body = body_of(id, json);

    return snippets_put(gluer->snippets, bytes_of(name), &body, arena, err);
}

/* Of some of the newest offers. */
static int change_some(struct gluer *gluer, struct err *err)
{
    Torg__V1__SearchOffersResponse page = TORG__V1__SEARCH_OFFERS_RESPONSE__INIT;
    struct arena *arena = arena_new();
    int rc = ask_page(gluer, BYTES_EMPTY, NEWEST_COUNT, arena, &page, err);

    for (size_t i = 0; i < page.n_offers && !rc; i++) {
        const char *id = page.offers[i]->id;
        uint64_t chance = rng_next(&gluer->rng);

        if (chance % 4 == 0)
            rc = put(gluer, "badge", id, badge_of(chance / 4, arena), arena, err);
        else if (chance % 4 == 1)
            rc = put(gluer, "rating", id, rating_of(chance / 4, arena), arena, err);
    }
    arena_free(arena);
    return rc;
}

static void run(struct task *task, void *arg)
{
    struct gluer *gluer = arg;
    struct err err;

    object_check(gluer, GLUER_MAGIC);
    task_says(task, "loads snippets of all offers");
    if (load_all(gluer, "rating", rating_of, 2, &err) ||
        load_all(gluer, "delivery", delivery_of, 3, &err))
        log_warn("the demo's snippets are not whole", LOG_TEXT("reason", err.text));
    while (gluer->changes && task_pause(task, PAUSE_US)) {
        task_says(task, "changes snippets");
        if (change_some(gluer, &err))
            log_warn("the demo's snippets do not change", LOG_TEXT("reason", err.text));
    }
}

int gluer_start(struct snippets *snippets, const struct search *search, bool changes,
                struct gluer **result, struct err *err)
{
    struct gluer *gluer = mem_zero(sizeof(*gluer));
    const struct task_options task = {
        .name = "demo-snippets", .run = run, .arg = gluer, .clock = search->clock};
    int rc;

    object_begin(gluer, GLUER_MAGIC);
    gluer->snippets = snippets;
    gluer->search = search;
    gluer->changes = changes;
    gluer->rng = rng_seeded(random_u64());
    rc = task_start(&gluer->task, &task, err);
    *result = rc ? NULL : gluer;
    if (rc)
        free(gluer);
    return rc;
}

void gluer_stop(struct gluer *gluer)
{
    if (!gluer)
        return;
    task_stop(&gluer->task);
    object_end(gluer, GLUER_MAGIC);
    free(gluer);
}
