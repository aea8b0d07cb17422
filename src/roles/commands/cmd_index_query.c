/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_index_query.c - torg index query: asks a shard's directory, without a server.
 *
 * JSON is read into the message that a searcher takes too, run on the last checkpoint, and the
 * answer printed for a person, or as it is with --json.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/object.h"
#include "base/text.h"
#include "codec/json.h"
#include "net/bounds.h"
#include "query/request/response.h"
#include "roles/commands/command.h"

enum { CELL_WIDTH_MAX = 40, CURSOR_TEXT_SIZE_MAX = 128 << 10, COLUMN_GAP = 2 };

/* A shard that is looked at. */
struct look {
    struct shard *shard;
    struct shard_reader *reader;
    struct query_engine *engine;
    const struct schema *schema; /* the shard's: as long as it is open */
};

/* --- a table: cells are padded by characters, control signs become blanks --- */

struct table {
    struct arena *arena;
    const char **cells; /* by row, the heads first */
    size_t column_count;
    size_t row_count;
};

static struct table table_make(struct arena *arena, size_t column_count, size_t row_count)
{
    struct table table = {.arena = arena, .column_count = column_count, .row_count = row_count};

    table.cells = arena_array(arena, column_count * row_count + 1, sizeof(table.cells[0]));
    return table;
}

static const char *table_cell(const struct table *table, size_t row, size_t column)
{
    const char *cell = table->cells[row * table->column_count + column];

    return cell ? cell : "";
}

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* One line of at most CELL_WIDTH_MAX characters. */
static char *cell_text(struct arena *arena, const char *text)
{
    size_t width = 0;
    size_t size = 0;
    char *copy;
    size_t i;

    while (text[size]) {
        width += begins_character(text[size]);
        if (width > CELL_WIDTH_MAX)
            break;
        size++;
    }
    copy = arena_printf(arena, "%.*s%s", (int)size, text, text[size] ? "…" : "");
    for (i = 0; copy[i]; i++)
        if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
            copy[i] = ' ';
    return copy;
}

static int cell_width(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += begins_character(*text);
    return width;
}

static void print_row(const struct table *table, const int *widths, size_t row)
{
    size_t i;

    for (i = 0; i < table->column_count; i++) {
        const char *text = table_cell(table, row, i);
        bool is_last = i + 1 == table->column_count;

        printf("%*s%s%*s", i ? COLUMN_GAP : 0, "", text, is_last ? 0 : widths[i] - cell_width(text),
               "");
    }
    putchar('\n');
}

/* --- hits --- */

/* Values of a field, or "" when the hit has none. */
static const char *find_field(const Torg__V1__Hit *hit, const char *name, struct arena *arena)
{
    const char *text = "";
    size_t i;
    size_t k;

    for (i = 0; i < hit->n_fields; i++) {
        const Torg__V1__ShownField *field = hit->fields[i];

        for (k = 0; k < field->n_values && bytes_equal_text(bytes_of(name), field->name); k++)
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", field->values[k]);
    }
    return cell_text(arena, text);
}

static void print_highlights(const Torg__V1__Hit *hit, struct arena *arena)
{
    size_t i;

    for (i = 0; i < hit->n_highlights; i++) {
        char *text = arena_strdup(arena, hit->highlights[i]->values[0]);
        size_t k;

        for (k = 0; text[k]; k++)
            if ((unsigned char)text[k] < ' ' || text[k] == 0x7f)
                text[k] = ' ';
        printf("    %s: %s\n", hit->highlights[i]->name, text);
    }
}

/* Of the fields that were asked for; of "*", of those that any hit has. */
static const char **list_names(const Torg__V1__StageAnswer *answer, const struct query_show *show,
                               const struct schema *schema, struct arena *arena, size_t *count)
{
    uint32_t field_count = show->is_all ? schema_count(schema) : show->count;
    const char **names = arena_array(arena, field_count + 1, sizeof(names[0]));

    *count = 0;
    for (size_t i = 0; i < answer->n_hits && show->is_all; i++)
        for (size_t k = 0; k < answer->hits[i]->n_fields; k++) {
            const char *name = answer->hits[i]->fields[k]->name;

            names[schema_find(schema, bytes_of(name))->id] = name;
        }
    for (uint32_t i = 0; i < field_count; i++) {
        const char *name = show->is_all ? names[i] : show->fields[i]->name;

        if (name)
            names[(*count)++] = name;
    }
    return names;
}

static void print_hits(const Torg__V1__StageAnswer *answer, const struct query_stage *stage,
                       const struct query_show *show, const struct schema *schema,
                       struct arena *arena)
{
    bool has_score = stage->text.count > 0;
    size_t first = has_score ? 2 : 1;
    size_t name_count;
    const char **names = list_names(answer, show, schema, arena, &name_count);
    struct table table = table_make(arena, first + name_count, answer->n_hits + 1);
    int *widths = arena_array(arena, table.column_count, sizeof(*widths));
    size_t i;
    size_t k;

    table.cells[0] = "id";
    if (has_score)
        table.cells[1] = "score";
    for (k = 0; k < name_count; k++)
        table.cells[first + k] = names[k];
    for (i = 0; i < answer->n_hits; i++) {
        const char **row = table.cells + (i + 1) * table.column_count;

        row[0] = arena_printf(arena, "%" PRIu32, answer->hits[i]->id);
        if (has_score)
            row[1] = arena_printf(arena, "%.3f", (double)answer->hits[i]->score);
        for (k = 0; k < name_count; k++)
            row[first + k] = find_field(answer->hits[i], names[k], arena);
    }
    for (i = 0; i < table.row_count * table.column_count; i++) {
        int width = cell_width(table_cell(&table, 0, i));

        if (width > widths[i % table.column_count])
            widths[i % table.column_count] = width;
    }
    for (i = 0; i < table.row_count && answer->n_hits; i++) {
        print_row(&table, widths, i);
        if (i)
            print_highlights(answer->hits[i - 1], arena);
    }
}

/* --- the rest of an answer --- */

static void print_facet(const Torg__V1__FacetAnswer *facet, struct arena *arena)
{
    size_t i;

    printf("\nfacet %s", facet->name);
    if (facet->_min_case)
        printf(": from %s to %s", facet->min, facet->max);
    else if (!facet->n_values)
        printf(": no hit has a value");
    putchar('\n');
    for (i = 0; i < facet->n_values; i++) {
        const Torg__V1__FacetValue *value = facet->values[i];
        const char *name = *value->below
                               ? arena_printf(arena, "%s to %s", value->value, value->below)
                               : value->value;

        printf("%10" PRIu64 "  %s\n", value->count, cell_text(arena, name));
    }
    if (facet->other_count)
        printf("%10s  (%" PRIu64 " more values)\n", "", facet->other_count);
}

static void print_cursor(const ProtobufCBinaryData *cursor)
{
    struct buf text = BUF_INIT(CURSOR_TEXT_SIZE_MAX);

    if (!cursor->len)
        return;
    text_put_base64(&text, bytes_make(cursor->data, cursor->len));
    printf("\nnext page: \"cursor\": \"%s\"\n", buf_text(&text));
    buf_release(&text);
}

static void print_stage(const Torg__V1__StageAnswer *answer, const struct query_stage *stage,
                        const struct query_show *show, const struct schema *schema,
                        struct arena *arena)
{
    size_t i;

    if (*answer->name)
        printf("%s: ", answer->name);
    if (answer->_total_case)
        printf("%" PRIu64 " %s, ", answer->total, answer->total == 1 ? "hit" : "hits");
    printf("%zu shown%s\n", answer->n_hits, answer->n_hits ? ":\n" : "");
    print_hits(answer, stage, show, schema, arena);
    for (i = 0; i < answer->n_facets; i++)
        print_facet(answer->facets[i], arena);
    print_cursor(&answer->cursor);
    putchar('\n');
}

/* Recursion is as deep as the filter: QUERY_FILTER_DEPTH_MAX and a few. */
static void print_explanation(const Torg__V1__Explanation *explanation, int depth)
{
    size_t i;

    printf("%*s%s %s\n", depth * 2, "", explanation->holds ? "+" : "-", explanation->text);
    for (i = 0; i < explanation->n_parts; i++)
        print_explanation(explanation->parts[i], depth + 1);
}

/* --- running --- */

/* Thousands of hits with their texts may be more than can be written. */
static int put_json(const ProtobufCMessage *message, struct err *err)
{
    struct buf out = BUF_INIT(NET_REPLY_SIZE_MAX);
    int rc = 0;

    json_encode(message, &out);
    if (buf_failed(&out))
        rc = err_set(err, ERR_LIMIT, "the answer has more than %d bytes: show less of fewer hits",
                     NET_REPLY_SIZE_MAX);
    else
        puts(buf_text(&out));
    buf_release(&out);
    return rc;
}

static int look_open(struct look *look, const char *dir, struct err *err)
{
    const struct shard_options options = {.dir = dir, .is_read_only = true};
    const struct snapshot *snapshot = NULL;
    int rc = shard_open(&options, &look->shard, err);

    if (rc == ERR_EXISTS) {
        err->code = rc = ERR_UNAVAILABLE;
        err_wrap(err, "a server has it open");
    }
    if (!rc)
        rc = shard_reader_new(look->shard, &look->reader, err);
    if (!rc)
        rc = shard_enter(look->reader, &snapshot, err);
    if (rc)
        return rc;
    look->schema = snapshot->schema;
    shard_exit(look->reader);
    look->engine = query_engine_new(look->shard, look->reader);
    return 0;
}

static void look_close(struct look *look)
{
    query_engine_free(look->engine);
    shard_reader_free(look->reader);
    shard_close(look->shard);
}

static int explain(const struct invocation *invocation, const struct look *look,
                   const struct query_request *request, uint32_t id, struct err *err)
{
    uint32_t i;
    int rc = 0;

    for (i = 0; i < request->plan.stage_count && !rc; i++) {
        Torg__V1__Explanation *explanation;

        rc = response_explain(look->engine, request, i, id, invocation->arena, &explanation, err);
        if (!rc && invocation->json)
            rc = put_json(&explanation->base, err);
        else if (!rc)
            print_explanation(explanation, 0);
    }
    return rc;
}

static int answer(const struct invocation *invocation, const struct look *look,
                  const struct query_request *request, struct err *err)
{
    int64_t begun_us = clock_mono_us(clock_system());
    Torg__V1__QueryAnswer *made;
    size_t i;
    int rc = response_make(look->engine, request, 0, invocation->arena, &made, err);

    if (rc)
        return rc;
    made->microseconds = (uint64_t)(clock_mono_us(clock_system()) - begun_us);
    if (invocation->json)
        return put_json(&made->base, err);
    for (i = 0; i < made->n_stages; i++)
        print_stage(made->stages[i], &request->plan.stages[i], &request->shows[i], look->schema,
                    invocation->arena);
    printf("%.3f ms\n", (double)made->microseconds / MS_US);
    return 0;
}

enum exit_code cmd_index_query(const struct invocation *invocation)
{
    const char *wanted = invocation_option(invocation, "explain");
    struct violations violations = violations_in(invocation->arena);
    int64_t now = clock_wall_us(clock_system()) / SECOND_US;
    struct query_request request;
    ProtobufCMessage *message;
    struct look look = {0};
    struct err err = {0};
    uint64_t id = 0;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    if (wanted && (!text_to_u64(bytes_of(wanted), &id) || id > UINT32_MAX)) {
        complain("--explain: \"%s\" is not the number of a document", wanted);
        return EXIT_USAGE;
    }
    rc = json_decode(bytes_of(invocation->arguments[1]), &torg__v1__query__descriptor,
                     invocation->arena, &message, &violations, &err);
    if (!rc)
        rc = look_open(&look, invocation->arguments[0], &err);
    if (!rc)
        rc = request_read((const Torg__V1__Query *)message, look.schema, now, invocation->arena,
                          &request, &err);
    if (!rc && wanted)
        rc = explain(invocation, &look, &request, (uint32_t)id, &err);
    else if (!rc)
        rc = answer(invocation, &look, &request, &err);
    look_close(&look);
    return rc ? fail(&err) : EXIT_OK;
}
