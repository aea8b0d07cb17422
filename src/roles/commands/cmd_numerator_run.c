/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_numerator_run.c - torg numerator run: a batch over tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "numerator/batch.h"
#include "numerator/bounds.h"
#include "roles/commands/command.h"
#include "roles/commands/numerator_files.h"
#include "roles/commands/progress.h"
#include "roles/processes/backends.h"

int open_blob_of(const struct invocation *invocation, const char *const *names, size_t count,
                 struct blob **blob, struct err *err)
{
    object_check(invocation, INVOCATION_MAGIC);
    *blob = NULL;
    for (size_t i = 0; i < count; i++)
        if (names[i] && strncmp(names[i], "blob:", 5) == 0)
            return backends_open_blob(&invocation->config, invocation->arena, blob, err);
    return 0;
}

/* false after a complaint. */
static bool read_number(const struct invocation *invocation, const char *name, uint64_t max,
                        int64_t *number)
{
    const char *text = invocation_option(invocation, name);
    uint64_t value;

    if (!text)
        return true;
    if (!text_to_u64(bytes_of(text), &value) || value > max) {
        complain("--%s=%.64s: expected a number up to %" PRIu64, name, text, max);
        return false;
    }
    *number = (int64_t)value;
    return true;
}

static bool read_share(const struct invocation *invocation, double *share)
{
    const char *text = invocation_option(invocation, "rebuild-hole-share");
    char *end = NULL;

    if (!text)
        return true;
    *share = strtod(text, &end);
    if (end == text || *end || !(*share >= 0 && *share <= 1)) {
        complain("--rebuild-hole-share=%.64s: expected 0 to 1", text);
        return false;
    }
    return true;
}

bool read_batch_options(const struct invocation *invocation, struct number_batch *batch)
{
    int64_t kind = 0, scheme = 0;

    *batch = (struct number_batch){
        .input_offers = invocation_option(invocation, "input-offers-table"),
        .input_shops = invocation_option(invocation, "input-shops-dat-file-path"),
        .new_docs = invocation_option(invocation, "intermediate-new-docs-table"),
        .expired_docs = invocation_option(invocation, "intermediate-expired-docs-table"),
        .key_columns = invocation_option(invocation, "key-columns"),
        .shop_column = invocation_option(invocation, "shop-column"),
        .class_column = invocation_option(invocation, "class-column"),
        .rank_column = invocation_option(invocation, "rank-column"),
        .is_rebuild_forced = invocation_option(invocation, "rebuild-state-force") != NULL,
        .ttl = -1,
        .hold = -1,
    };
    if (!batch->input_offers) {
        complain("it needs --input-offers-table");
        return false;
    }
    if (!read_number(invocation, "ttl", UINT32_MAX / 2, &batch->ttl) ||
        !read_number(invocation, "hold", UINT32_MAX / 2, &batch->hold) ||
        !read_number(invocation, "type", UINT32_MAX / 2, &kind) ||
        !read_number(invocation, "output-sharding-scheme",
                     NUMBER_SCHEME_BY_SHOP + NUMBER_SHARD_COUNT_MAX, &scheme) ||
        !read_share(invocation, &batch->hole_share_max))
        return false;
    batch->kind = (uint32_t)kind;
    batch->scheme = (uint32_t)scheme;
    return true;
}

static void put_version(struct buf *out, const struct number_version *version)
{
    buf_printf(out, "%" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32, version->kind, version->scheme,
               version->rebuild, version->generation);
}

static void put_counts_json(struct buf *out, const struct number_run *run)
{
    buf_printf(
        out, "\"kept\":%" PRIu64 ",\"new\":%" PRIu64 ",\"reused\":%" PRIu64 ",\"expired\":%" PRIu64,
        run->kept_count, run->new_count, run->reused_count, run->expired_count);
}

static void put_json(struct buf *out, const struct number_batch_result *result)
{
    buf_put_text(out, "{\"before\":\"");
    put_version(out, &result->before);
    buf_put_text(out, "\",\"version\":\"");
    put_version(out, &result->after);
    buf_printf(out, "\",\"rebuilt\":%s,\"rows\":%" PRIu64 ",\"keys\":%" PRIu64 ",",
               result->run.is_rebuilt ? "true" : "false", result->row_count,
               number_state_key_count(result->state));
    put_counts_json(out, &result->run);
    buf_put_text(out, ",\"shards\":[");
    for (uint32_t i = 0; i < number_state_shard_count(result->state); i++) {
        struct number_run run = number_run_shard(result->runner, i);

        buf_printf(out, "%s{\"shard\":%" PRIu32 ",", i > 0 ? "," : "", i);
        put_counts_json(out, &run);
        buf_printf(out, ",\"size\":%" PRIu32 "}", number_state_shard_size(result->state, i));
    }
    buf_put_text(out, "]}\n");
}

static void put_text(struct buf *out, const struct number_batch_result *result)
{
    buf_put_text(out, "state    ");
    if (result->before.generation > 0) {
        put_version(out, &result->before);
        buf_put_text(out, " -> ");
    }
    put_version(out, &result->after);
    buf_printf(out, "%s, %" PRIu64 " keys\n", result->run.is_rebuilt ? ", renumbered" : "",
               number_state_key_count(result->state));
    buf_printf(out, "offers   %" PRIu64 " rows\n\n", result->row_count);
    buf_printf(out, "%-8s %10s %10s %10s %10s %10s\n", "SHARD", "KEPT", "NEW", "REUSED", "EXPIRED",
               "SIZE");
    for (uint32_t i = 0; i < number_state_shard_count(result->state); i++) {
        struct number_run run = number_run_shard(result->runner, i);

        buf_printf(out,
                   "%-8" PRIu32 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
                   " %10" PRIu32 "\n",
                   i, run.kept_count, run.new_count, run.reused_count, run.expired_count,
                   number_state_shard_size(result->state, i));
    }
    buf_printf(out, "%-8s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", "all",
               result->run.kept_count, result->run.new_count, result->run.reused_count,
               result->run.expired_count);
}

static void show_progress(void *arg, uint64_t read_size, uint64_t total_size, uint64_t row_count)
{
    progress_update(arg, read_size, total_size, row_count);
}

void show_batch_progress(struct number_batch *batch, struct progress *progress)
{
    progress_begin(progress, stderr, clock_system(), !isatty(STDERR_FILENO), batch->input_offers);
    batch->progress = show_progress;
    batch->arg = progress;
}

void print_batch(const struct invocation *invocation, const struct number_batch_result *result)
{
    struct buf told = BUF_INIT(SIZE_MAX);

    if (invocation->json)
        put_json(&told, result);
    else
        put_text(&told, result);
    fwrite(told.data, 1, told.size, stdout);
    buf_release(&told);
}

enum exit_code cmd_numerator_run(const struct invocation *invocation)
{
    struct number_batch_result result = {0};
    struct number_batch batch;
    struct progress progress;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_batch_options(invocation, &batch))
        return EXIT_USAGE;
    batch.input_state = invocation_option(invocation, "input-state-table");
    batch.output_state = invocation_option(invocation, "output-state-table");
    if (!batch.output_state) {
        complain("it needs --output-state-table");
        return EXIT_USAGE;
    }
    show_batch_progress(&batch, &progress);
    rc =
        open_blob_of(invocation,
                     (const char *const[]){batch.input_state, batch.input_offers, batch.input_shops,
                                           batch.new_docs, batch.expired_docs, batch.output_state},
                     6, &batch.blob, &err);
    if (rc == 0)
        rc = number_batch_run(&batch, &result, &err);
    progress_end(&progress);
    if (rc == 0)
        print_batch(invocation, &result);
    number_batch_release(&result);
    blob_close(batch.blob);
    return rc ? fail(&err) : EXIT_OK;
}
