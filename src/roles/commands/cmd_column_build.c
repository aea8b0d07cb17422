/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_column_build.c - torg column build: values by key become values by number, one file per
 * shard.
 *
 *   values.csv (key, value) ── looked up in the exported numbers ──> OUTPUT.SHARD.column
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "base/endian.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/json_value.h"
#include "index/bounds.h"
#include "index/columns/column_page.h"
#include "index/columns/outside_file.h"
#include "index/schema.h"
#include "numerator/bounds.h"
#include "numerator/key_columns.h"
#include "numerator/state.h"
#include "numerator/table.h"
#include "roles/commands/numerator_files.h"

enum { PIECE_COUNT = 8192, PROGRESS_COUNT = 4096 };

struct building {
    struct blob *blob; /* NULL: nothing is there */
    struct number_state *states[ARGUMENT_COUNT_MAX];
    uint32_t state_count;
    struct number_version version; /* of the first */
    uint32_t shard_count;
    uint32_t digits;
    double scale;     /* 10^digits */
    int64_t **values; /* by shard and number; COLUMN_NULL: none */
    uint64_t found, unknown, empty;
};

/* --- numbers --- */

/* Live numbers are exported a shard at a time, and a batch has all in one. */
static struct number_state *state_of(const struct building *building, uint32_t shard)
{
    for (uint32_t i = 0; i < building->state_count; i++)
        if (number_state_shard_size(building->states[i], shard) > 0)
            return building->states[i];
    return NULL;
}

static int load_state(struct building *building, const char *name, struct err *err)
{
    struct number_state **state = &building->states[building->state_count];
    struct number_version version;
    int rc = number_state_load(name, building->blob, state, err);

    if (rc)
        return rc;
    version = number_state_version(*state);
    if (!building->state_count++) {
        building->version = version;
        building->shard_count = number_state_shard_count(*state);
        return 0;
    }
    if (version.kind != building->version.kind || version.scheme != building->version.scheme ||
        version.rebuild != building->version.rebuild)
        return err_set(err, ERR_INVALID, "%s belongs to another numbering than the first", name);
    return 0;
}

/* Each shard is of one of them: two exports of the same would leave another out. */
static int check_twice(const struct invocation *invocation, const struct building *building,
                       struct err *err)
{
    for (uint32_t shard = 0; shard < building->shard_count; shard++) {
        const char *first = NULL;

        for (uint32_t i = 0; i < building->state_count; i++) {
            if (number_state_shard_size(building->states[i], shard) == 0)
                continue;
            if (first)
                return err_set(err, ERR_INVALID,
                               "%s and %s are both of shard %" PRIu32
                               ": give the export of each shard, once",
                               first, invocation->arguments[i], shard);
            first = invocation->arguments[i];
        }
    }
    return 0;
}

static int load_states(const struct invocation *invocation, struct building *building,
                       struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < invocation->argument_count && !rc; i++)
        rc = load_state(building, invocation->arguments[i], err);
    if (!rc)
        rc = check_twice(invocation, building, err);
    if (!rc && building->state_count > 1 && building->state_count != building->shard_count)
        return err_set(err, ERR_INVALID,
                       "%" PRIu32 " states of numbers with %" PRIu32
                       " shards: give the export of each shard, once",
                       building->state_count, building->shard_count);
    for (uint32_t i = 0; !rc && building->state_count == 1 && i < building->shard_count; i++)
        if (!state_of(building, i) && building->shard_count > 1)
            rc = err_set(err, ERR_INVALID,
                         "there are no numbers of shard %" PRIu32
                         ": give the export of each shard (torg numerator export --shard %" PRIu32
                         ")",
                         i, i);
    if (rc)
        return rc;
    building->values = mem_array(building->shard_count, sizeof(building->values[0]));
    for (uint32_t i = 0; i < building->shard_count; i++) {
        const struct number_state *state = state_of(building, i);
        uint32_t size = state ? number_state_shard_size(state, i) : 0;

        building->values[i] = mem_array((size_t)size + 1, sizeof(int64_t));
        for (uint32_t k = 0; k < size; k++)
            building->values[i][k] = COLUMN_NULL;
    }
    return 0;
}

static bool find_key(const struct building *building, struct bytes key, struct number_entry *entry)
{
    uint32_t shard;
    struct number_state *state;

    if (building->state_count == 1)
        return number_state_find(building->states[0], key, entry);
    shard = number_key_shard(number_key_hash(key), building->shard_count);
    state = state_of(building, shard);
    return state && number_state_find(state, key, entry);
}

/* --- values --- */

static int read_value(const struct building *building, struct bytes cell, int64_t *value,
                      struct err *err)
{
    double number;

    if (!json_double(cell, &number) || !isfinite(number))
        return err_set(err, ERR_INVALID, "value \"%.*s\": expected a number, or nothing",
                       cell.size < 64 ? (int)cell.size : 64, (const char *)cell.data);
    number = round(number * building->scale);
    if (fabs(number) >= 9e18)
        return err_set(err, ERR_LIMIT,
                       "value \"%.*s\": too great for a number of 64 bits with %" PRIu32
                       " digits after the point",
                       cell.size < 64 ? (int)cell.size : 64, (const char *)cell.data,
                       building->digits);
    *value = (int64_t)number;
    return 0;
}

static int take_row(struct building *building, const struct bytes *cells, uint32_t key_count,
                    struct buf *key, struct err *err)
{
    struct number_entry entry;
    int64_t value = COLUMN_NULL;
    int rc;

    buf_reset(key);
    rc = number_key_put(cells, key_count, key, err);
    if (!rc && cells[key_count].size)
        rc = read_value(building, cells[key_count], &value, err);
    if (rc)
        return rc;
    if (!find_key(building, buf_bytes(key), &entry)) {
        building->unknown++;
        return 0;
    }
    building->found += value != COLUMN_NULL;
    building->empty += value == COLUMN_NULL;
    building->values[entry.shard][entry.doc_id] = value;
    return 0;
}

static int read_values(const struct invocation *invocation, struct building *building,
                       struct err *err)
{
    const char *value_column = invocation_option(invocation, "value-column");
    const char *columns[NUMBER_KEY_PART_MAX + 1];
    struct bytes cells[NUMBER_KEY_PART_MAX + 1];
    struct buf key = BUF_INIT(NUMBER_KEY_SIZE_MAX);
    struct table_reader *table = NULL;
    struct key_columns keys = {0};
    bool found = true;
    int rc =
        table_reader_open(invocation_option(invocation, "values"), building->blob, &table, err);

    if (!rc)
        rc = key_columns_find(&keys, invocation_option(invocation, "key-columns"), table, err);
    if (!rc) {
        memcpy(columns, keys.names, keys.count * sizeof(columns[0]));
        columns[keys.count] = value_column ? value_column : "value";
        rc = table_pick(table, columns, keys.count + 1, err);
    }
    while (!rc && found) {
        rc = table_next(table, cells, &found, err);
        if (rc || !found)
            break;
        rc = take_row(building, cells, keys.count, &key, err);
        if (rc)
            table_wrap(table, err);
    }
    key_columns_release(&keys);
    table_reader_close(table);
    buf_release(&key);
    return rc;
}

/* --- files --- */

/* The narrowest codes that hold them all. */
static void choose_codes(const int64_t *values, uint32_t count, struct outside_head *head)
{
    int64_t min = 0, max = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (values[i] == COLUMN_NULL)
            continue;
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    head->is_signed = min < 0;
    for (head->width = 1; head->width < 8; head->width *= 2) {
        int64_t base = outside_base(head);

        if (min >= base && (uint64_t)max - (uint64_t)base < code_null(head->width))
            return;
    }
}

static void put_codes(const struct outside_head *head, const int64_t *values, uint32_t count,
                      struct buf *out)
{
    uint64_t base = (uint64_t)outside_base(head);
    uint8_t code[8];

    for (uint32_t i = 0; i < count; i++) {
        put_le64(code, values[i] == COLUMN_NULL ? UINT64_MAX : (uint64_t)values[i] - base);
        buf_put_raw(out, code, head->width);
    }
}

/* Gone through twice: the head, which comes first, has the sum of the codes. */
static void put_all(const int64_t *values, struct outside_head *head, struct outlet *out)
{
    struct buf piece = BUF_INIT(PIECE_COUNT * 8);
    uint8_t start[OUTSIDE_HEAD_SIZE];

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t at = 0; at < head->count; at += PIECE_COUNT) {
            uint32_t left = head->count - at;

            buf_reset(&piece);
            put_codes(head, values + at, left < PIECE_COUNT ? left : PIECE_COUNT, &piece);
            if (pass == 0)
                head->sum = crc32_plain(head->sum, buf_bytes(&piece));
            else
                outlet_put(out, buf_bytes(&piece));
        }
        if (pass == 0) {
            outside_head_encode(head, start);
            outlet_put(out, bytes_make(start, sizeof(start)));
        }
    }
    buf_release(&piece);
}

static int write_shard(const struct invocation *invocation, const struct building *building,
                       uint32_t shard, struct err *err)
{
    const struct number_state *state = state_of(building, shard);
    struct number_version version = building->version;
    struct outside_head head = {.shard = shard, .digits = (uint8_t)building->digits};
    const char *name = arena_printf(invocation->arena, "%s.%" PRIu32 ".column",
                                    invocation_option(invocation, "output"), shard);
    struct outlet *out;
    int rc;

    version.generation = state ? number_state_version(state).generation : 0;
    head.lineage = state ? number_state_lineage(state) : 0;
    head.count = state ? number_state_shard_size(state, shard) : 0;
    memcpy(head.numbers,
           (uint32_t[]){version.kind, version.scheme, version.rebuild, version.generation},
           sizeof(head.numbers));
    choose_codes(building->values[shard], head.count, &head);
    if (outside_file_size(&head) > OUTSIDE_FILE_SIZE_MAX)
        return err_set(err, ERR_LIMIT,
                       "shard %" PRIu32 " has %" PRIu32
                       " numbers: a column has at most %d bytes a shard",
                       shard, head.count, OUTSIDE_FILE_SIZE_MAX);
    rc = outlet_open(name, building->blob, &out, err);
    if (rc)
        return rc;
    put_all(building->values[shard], &head, out);
    rc = outlet_commit(out, err);
    if (!rc)
        printf("%s: %" PRIu32 " numbers of %d bytes, made from %" PRIu32 ".%" PRIu32 ".%" PRIu32
               ".%" PRIu32 "\n",
               name, head.count, head.width, head.numbers[0], head.numbers[1], head.numbers[2],
               head.numbers[3]);
    return rc;
}

/* --- the command --- */

/* false after a complaint. */
static bool read_options(const struct invocation *invocation, struct building *building)
{
    const char *digits = invocation_option(invocation, "digits");
    uint64_t count = 0;

    if (!invocation_option(invocation, "values") || !invocation_option(invocation, "output")) {
        complain("--values TABLE and --output NAME are needed");
        return false;
    }
    if (digits && (!text_to_u64(bytes_of(digits), &count) || count > FIELD_SCALE_MAX)) {
        complain("--digits=%.64s: expected a number up to %d", digits, FIELD_SCALE_MAX);
        return false;
    }
    building->digits = (uint32_t)count;
    building->scale = pow(10, (double)count);
    return true;
}

static void release(struct building *building)
{
    for (uint32_t i = 0; building->values && i < building->shard_count; i++)
        free(building->values[i]);
    free(building->values);
    for (uint32_t i = 0; i < building->state_count; i++)
        number_state_free(building->states[i]);
    blob_close(building->blob);
}

enum exit_code cmd_column_build(const struct invocation *invocation)
{
    const char *names[ARGUMENT_COUNT_MAX + 2];
    struct building building = {0};
    size_t count = 0;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (!read_options(invocation, &building))
        return EXIT_USAGE;
    for (; count < invocation->argument_count; count++)
        names[count] = invocation->arguments[count];
    names[count++] = invocation_option(invocation, "values");
    names[count++] = invocation_option(invocation, "output");
    rc = open_blob_of(invocation, names, count, &building.blob, &err);
    rc = rc ? rc : load_states(invocation, &building, &err);
    rc = rc ? rc : read_values(invocation, &building, &err);
    for (uint32_t i = 0; i < building.shard_count && !rc; i++)
        rc = write_shard(invocation, &building, i, &err);
    if (!rc)
        printf("%" PRIu64 " values, %" PRIu64 " empty, %" PRIu64 " of keys without a number\n",
               building.found, building.empty, building.unknown);
    release(&building);
    return rc ? fail(&err) : EXIT_OK;
}
