/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_content.c - the check CONTENT: a shard rebuilt from the registry has the searcher's
 * content.
 *
 * Both sides have to be of one moment. So it begins when the searcher has all that the queue has,
 * and counts when the queue has got nothing new by the end; otherwise it begins again, while there
 * is time. Documents that end by themselves do so in the searcher and here, each by its clock, and
 * in the registry a little later: what differs then is compared once more after that.
 *
 * cursor: the rebuild's number | how often it began | the newest elements of the lanes, as a key
 */
#include <inttypes.h>
#include <string.h>

#include "inspect/verify/rebuild.h"
#include "inspect/verify/verify_parts.h"
#include "numerator/numerator.h"
#include "registry/bounds.h"
#include "registry/indexing/queue.h"

enum { ATTEMPT_COUNT_MAX = 5, QUIET_MS = 20 /* between two looks for a quiet moment */ };

static void tell(struct verifying *verifying, const char *text)
{
    struct suspect *suspect = suspect_add(verifying, BYTES_EMPTY, NUMBER_NONE);

    suspect->is_stable = true;
    suspect_tell(suspect, "%s", text);
}

/* True in *is_quiet: the searcher has everything, and nothing waits. */
static int look_for_quiet(struct verifying *verifying, struct lane_ends *ends, bool *is_quiet,
                          struct err *err)
{
    bool is_empty = false;
    int rc = lanes_read(verifying, ends, &is_empty, err);

    *is_quiet = false;
    return rc || !is_empty ? rc : lanes_reached(verifying, ends, is_quiet, err);
}

static int begin(struct verifying *verifying, int64_t attempt, struct err *err)
{
    struct lane_ends ends;
    bool is_quiet = false;
    uint64_t id;
    int rc = look_for_quiet(verifying, &ends, &is_quiet, err);

    while (!rc && !is_quiet && clock_mono_us(verifying->inspect->clock) < verifying->deadline_us) {
        rc = verify_pause(verifying, QUIET_MS * MS_US, err);
        if (!rc)
            rc = look_for_quiet(verifying, &ends, &is_quiet, err);
    }
    if (rc)
        return rc;
    if (!is_quiet || attempt > ATTEMPT_COUNT_MAX) {
        tell(verifying, "not compared: documents change all the time, or wait to be indexed; stop "
                        "the writers and try again");
        return 0;
    }
    rc = rebuild_begin(verifying->inspect, verifying->client->name, verifying->check->epoch,
                       verifying->check->shard, &id, err);
    if (!rc)
        cursor_next(verifying, (int64_t)id, attempt, bytes_make(&ends, sizeof(ends)));
    return rc;
}

static int compare(struct verifying *verifying, struct rebuild *rebuild,
                   const struct lane_ends *ends, bool is_last, bool *is_moved, struct err *err)
{
    Torg__V1__CheckShardResponse *response;
    struct lane_ends now;
    bool is_empty;
    uint64_t content = 0;
    uint64_t doc_count = 0;
    int rc = rebuild_content(verifying->inspect, rebuild, &content, &doc_count, err);

    if (!rc)
        rc = verify_check_shard(verifying, true, &response, err);
    if (!rc)
        rc = lanes_read(verifying, &now, &is_empty, err);
    if (rc)
        return rc;
    *is_moved = memcmp(&now, ends, sizeof(*ends)) != 0;
    if (*is_moved || (response->content == content && response->doc_count == doc_count))
        return 0;
    if (!is_last && rebuild_has_ended(verifying->inspect, rebuild)) {
        clock_sleep(verifying->inspect->clock, SWEEP_PERIOD_MS * MS_US);
        *is_moved = true;
    } else {
        tell(verifying, arena_printf(verifying->arena,
                                     "the index has %" PRIu64 " documents, content %016" PRIx64
                                     "; built from the registry %" PRIu64 ", %016" PRIx64,
                                     response->doc_count, response->content, doc_count, content));
    }
    return 0;
}

static int content_page(struct verifying *verifying, struct err *err)
{
    struct rebuild *rebuild;
    struct cursor cursor;
    struct lane_ends ends;
    bool is_moved = false;
    size_t count = 0;
    int rc = cursor_parse(verifying, &cursor, err);

    if (!rc && cursor.is_begin)
        return begin(verifying, 1, err);
    if (!rc && cursor.pk.size != sizeof(ends))
        rc = err_set(err, ERR_INVALID, "cursor: expected that of the step before");
    if (!rc)
        rc = rebuild_take(verifying->inspect, (uint64_t)cursor.a, &rebuild, err);
    if (rc)
        return rc;
    memcpy(&ends, cursor.pk.data, sizeof(ends));
    rc = rebuild_go_on(verifying->inspect, rebuild, verifying->arena, &count, err);
    if (!rc && !count)
        rc = compare(verifying, rebuild, &ends, cursor.b >= ATTEMPT_COUNT_MAX, &is_moved, err);
    rebuild_put(verifying->inspect, rebuild, rc || !count);
    if (rc)
        return rc;
    verifying->checked_count = count;
    if (count)
        cursor_next(verifying, cursor.a, cursor.b, cursor.pk);
    else if (is_moved)
        return begin(verifying, cursor.b + 1, err);
    return 0;
}

static int content_look(struct verifying *verifying, struct err *err)
{
    (void)verifying; /* told by the page */
    (void)err;
    return 0;
}

const struct verify_kind verify_content = {.page = content_page, .look = content_look};
