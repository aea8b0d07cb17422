/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formula.c - see formula.h. Recursive descent into steps of a stack machine; each step works on up
 * to FORMULA_BATCH documents at once, so that the cost of deciding what to do is shared.
 */
#include "query/order/formula.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "query/bounds.h"
#include "query/order/formula_steps.h"

enum {
    FORMULA_BATCH = 64,
    NUMBER_SIZE_MAX = 40,
    /* A level of brackets keeps the left of a sum, that of a product and two arguments. */
    STACK_HEIGHT_MAX = 4 * (QUERY_FORMULA_DEPTH_MAX + 1),
};

struct formula {
    struct step *steps;
    uint32_t count;
    int64_t now;
    bool uses_score;
    double factor_max;
};

static const struct {
    const char *name;
    uint8_t kind, argument_count;
} functions[] = {
    {"log", STEP_LOG, 1}, {"exp", STEP_EXP, 1}, {"sqrt", STEP_SQRT, 1},
    {"abs", STEP_ABS, 1}, {"min", STEP_MIN, 2}, {"max", STEP_MAX, 2},
    {"pow", STEP_POW, 2}, {"if", STEP_IF, 3},   {"default", STEP_DEFAULT, 2},
};

/* ---- compiling ---- */

struct reader {
    const struct schema *schema;
    const struct columns *columns; /* NULL: nothing will be computed */
    const char *where;
    struct arena *arena;
    struct bytes text;
    size_t at;
    struct formula *formula;
    uint32_t depth; /* of brackets; bounds the machine's stack, too */
    bool unknown_is_empty;
    struct bytes *unknown; /* where the first name with a point goes that is no field; or NULL */
    struct err *err;
};

static int refuse_formula(struct reader *reader, const char *what)
{
    return err_set(reader->err, ERR_INVALID, "%s: byte %zu: %s", reader->where, reader->at + 1,
                   what);
}

static uint8_t peek(struct reader *reader)
{
    while (reader->at < reader->text.size && strchr(" \t\n", reader->text.data[reader->at]) &&
           reader->text.data[reader->at])
        reader->at++;
    return reader->at < reader->text.size ? reader->text.data[reader->at] : 0;
}

static bool accept(struct reader *reader, char sign)
{
    if (peek(reader) != (uint8_t)sign)
        return false;
    reader->at++;
    return true;
}

static int add_step(struct reader *reader, struct step step)
{
    if (reader->formula->count == QUERY_FORMULA_STEP_COUNT_MAX)
        return err_set(reader->err, ERR_LIMIT, "%s: a formula has at most %d operations",
                       reader->where, QUERY_FORMULA_STEP_COUNT_MAX);
    reader->formula->steps[reader->formula->count++] = step;
    return 0;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(uint8_t c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static int read_number(struct reader *reader, double *number)
{
    char digits[NUMBER_SIZE_MAX + 1];
    bool negative = accept(reader, '-');
    size_t size = 0;
    char *end;

    peek(reader);
    while (reader->at + size < reader->text.size && size < NUMBER_SIZE_MAX) {
        uint8_t c = reader->text.data[reader->at + size];
        bool exponent = size && (reader->text.data[reader->at + size - 1] | 32) == 'e';

        if (!is_digit(c) && c != '.' && (c | 32) != 'e' && !(exponent && strchr("+-", c)))
            break;
        digits[size++] = (char)c;
    }
    digits[size] = '\0';
    *number = strtod(digits, &end);
    if (end == digits || *end || !isfinite(*number))
        return refuse_formula(reader, "a number is expected");
    if (negative)
        *number = -*number;
    reader->at += size;
    return 0;
}

/* "a.frame-size": the longest such name that is a field's; the minus behind a shorter one is
 * one. */
static struct bytes read_pointed(struct reader *reader, size_t begin)
{
    const uint8_t *data = reader->text.data;
    size_t end = reader->at, cut;

    while (end < reader->text.size && (is_name(data[end]) || data[end] == '.' || data[end] == '-'))
        end++;
    for (cut = end; cut > reader->at; cut--) {
        if (schema_find(reader->schema, bytes_make(data + begin, cut - begin)))
            break;
    }
    reader->at = cut > reader->at ? cut : end;
    return bytes_make(data + begin, reader->at - begin);
}

static struct bytes read_name(struct reader *reader)
{
    size_t begin = reader->at;

    while (reader->at < reader->text.size && is_name(reader->text.data[reader->at]))
        reader->at++;
    if (reader->at < reader->text.size && reader->text.data[reader->at] == '.')
        return read_pointed(reader, begin);
    return bytes_make(reader->text.data + begin, reader->at - begin);
}

static const struct column *column_of(const struct reader *reader, const struct field *field)
{
    return reader->columns && field ? columns_column(reader->columns, field->id) : NULL;
}

/* *field NULL: nobody has a value of it. */
static int read_field(struct reader *reader, struct bytes name, const struct field **field)
{
    *field = schema_find(reader->schema, name);
    if (!*field && reader->unknown && name.size && memchr(name.data, '.', name.size)) {
        if (!reader->unknown->size)
            *reader->unknown = name;
        return 0;
    }
    if (!*field && !(reader->unknown_is_empty && name.size))
        return err_set(reader->err, ERR_INVALID,
                       "%s: byte %zu: \"%.*s\" is neither a field nor a function", reader->where,
                       reader->at - name.size + 1, BYTES_ARG(name));
    return 0;
}

static int expect(struct reader *reader, char sign)
{
    const char text[] = {sign, ' ', 'i', 's', ' ', 'e', 'x', 'p', 'e', 'c', 't', 'e', 'd', 0};

    return accept(reader, sign) ? 0 : refuse_formula(reader, text);
}

static int read_sum(struct reader *reader);

static int add_nothing(struct reader *reader)
{
    return add_step(reader, (struct step){.kind = STEP_NUMBER, .number = NAN});
}

/* age(FIELD), distance(FIELD, LAT, LON): behind the bracket. */
static int read_of_field(struct reader *reader, uint8_t kind)
{
    const struct field *field = NULL;
    struct step step = {.kind = kind};
    double lat;
    double lon;
    int rc;

    peek(reader);
    rc = read_field(reader, read_name(reader), &field);
    if (rc)
        return rc;
    if (field && field->type != (kind == STEP_AGE ? FIELD_DATE : FIELD_GEO))
        return refuse_formula(reader, kind == STEP_AGE ? "age() needs a date field"
                                                       : "distance() needs a geo field");
    if (kind == STEP_DISTANCE) {
        rc = expect(reader, ',');
        rc = rc ? rc : read_number(reader, &lat);
        rc = rc ? rc : expect(reader, ',');
        rc = rc ? rc : read_number(reader, &lon);
        if (rc)
            return rc;
        if (!(fabs(lat) <= 90 && fabs(lon) <= 180))
            return refuse_formula(reader, "a point is -90 to 90 and -180 to 180 degrees");
        step.lat = (int32_t)lround(lat * 1e7);
        step.lon = (int32_t)lround(lon * 1e7);
    }
    rc = expect(reader, ')');
    if (rc || !field)
        return rc ? rc : add_nothing(reader);
    step.column = column_of(reader, field);
    return add_step(reader, step);
}

/* has(FIELD, "value"): behind the bracket. */
static int read_has(struct reader *reader)
{
    const struct field *field = NULL;
    struct step step = {.kind = STEP_HAS};
    const uint8_t *close;
    struct bytes value;
    int rc;

    peek(reader);
    rc = read_field(reader, read_name(reader), &field);
    rc = rc ? rc : expect(reader, ',');
    if (rc || peek(reader) != '"')
        return rc ? rc : refuse_formula(reader, "a value in quotes is expected");
    value = bytes_skip(reader->text, ++reader->at);
    close = memchr(value.data, '"', value.size);
    if (!close)
        return refuse_formula(reader, "a value in quotes is expected");
    value.size = (size_t)(close - value.data);
    reader->at += value.size + 1;
    rc = expect(reader, ')');
    if (rc)
        return rc;
    if (field && (!field_has_dictionary(field) || field->multiple))
        return refuse_formula(reader, "has() needs a keyword or a category with one value");
    step.column = column_of(reader, field);
    if (step.column) {
        const struct dictionary *dictionary = column_dictionary(step.column);
        uint64_t *bits;
        uint32_t ordinal;

        step.bit_count = dictionary_count(dictionary);
        step.bits = bits = arena_array(reader->arena, step.bit_count / 64 + 1, sizeof(*bits));
        ordinal = dictionary_find(dictionary, value);
        if (field->type == FIELD_CATEGORY)
            dictionary_subtree(dictionary, value, bits, step.bit_count);
        else if (ordinal < step.bit_count)
            bits[ordinal / 64] |= UINT64_C(1) << (ordinal % 64);
    }
    return add_step(reader, step);
}

static int read_call(struct reader *reader, struct bytes name)
{
    uint32_t k;
    size_t i;
    int rc = 0;

    if (bytes_equal_text(name, "age"))
        return read_of_field(reader, STEP_AGE);
    if (bytes_equal_text(name, "distance"))
        return read_of_field(reader, STEP_DISTANCE);
    if (bytes_equal_text(name, "has"))
        return read_has(reader);
    for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (bytes_equal_text(name, functions[i].name))
            break;
    if (i == sizeof(functions) / sizeof(functions[0]))
        return err_set(reader->err, ERR_INVALID, "%s: there is no function \"%.*s\"", reader->where,
                       BYTES_ARG(name));
    for (k = 0; k < functions[i].argument_count && !rc; k++) {
        rc = k ? expect(reader, ',') : 0;
        rc = rc ? rc : read_sum(reader);
    }
    rc = rc ? rc : expect(reader, ')');
    return rc ? rc : add_step(reader, (struct step){.kind = functions[i].kind});
}

static int read_value(struct reader *reader)
{
    const struct field *field = NULL;
    struct bytes name = read_name(reader);
    struct step step = {.kind = STEP_FIELD, .number = 1};
    int rc;
    int i;

    if (accept(reader, '('))
        return read_call(reader, name);
    if (bytes_equal_text(name, "score")) {
        reader->formula->uses_score = true;
        return add_step(reader, (struct step){.kind = STEP_SCORE});
    }
    rc = read_field(reader, name, &field);
    if (rc || !field)
        return rc ? rc : add_nothing(reader);
    if (field->type < FIELD_INTEGER || field->type > FIELD_BOOLEAN)
        return refuse_formula(reader, "only numbers, dates and booleans have a value here");
    for (i = 0; field->type == FIELD_DECIMAL && i < field->scale; i++)
        step.number *= 10;
    step.is_flag = field->type == FIELD_BOOLEAN;
    step.column = column_of(reader, field);
    return add_step(reader, step);
}

static int read_factor(struct reader *reader)
{
    struct step step = {.kind = STEP_NUMBER};
    uint8_t next = peek(reader);
    int rc;

    if (reader->depth == QUERY_FORMULA_DEPTH_MAX)
        return err_set(reader->err, ERR_LIMIT, "%s: brackets are deeper than %d", reader->where,
                       QUERY_FORMULA_DEPTH_MAX);
    reader->depth++;
    if (accept(reader, '-')) {
        rc = read_factor(reader);
        rc = rc ? rc : add_step(reader, (struct step){.kind = STEP_NEGATE});
    } else if (accept(reader, '(')) {
        rc = read_sum(reader);
        rc = rc ? rc : expect(reader, ')');
    } else if (is_digit(next) || next == '.') {
        rc = read_number(reader, &step.number);
        rc = rc ? rc : add_step(reader, step);
    } else if (is_name(next)) {
        rc = read_value(reader);
    } else {
        rc = refuse_formula(reader, "a number, a field, a function or a bracket is expected");
    }
    reader->depth--;
    return rc;
}

static int read_product(struct reader *reader)
{
    int rc = read_factor(reader);

    while (!rc) {
        bool times = accept(reader, '*');

        if (!times && !accept(reader, '/'))
            return 0;
        rc = read_factor(reader);
        rc = rc ? rc : add_step(reader, (struct step){.kind = times ? STEP_MULTIPLY : STEP_DIVIDE});
    }
    return rc;
}

static int read_sum(struct reader *reader)
{
    int rc = read_product(reader);

    while (!rc) {
        bool plus = accept(reader, '+');

        if (!plus && !accept(reader, '-'))
            return 0;
        rc = read_product(reader);
        rc = rc ? rc : add_step(reader, (struct step){.kind = plus ? STEP_ADD : STEP_SUBTRACT});
    }
    return rc;
}

/* All of the text. */
static int read_formula(struct reader *reader)
{
    struct formula *made = arena_zero(reader->arena, sizeof(*made));
    int rc;

    if (reader->text.size > QUERY_FORMULA_SIZE_MAX)
        return err_set(reader->err, ERR_LIMIT, "%s: %zu bytes, a formula has at most %d",
                       reader->where, reader->text.size, QUERY_FORMULA_SIZE_MAX);
    made->steps = arena_array(reader->arena, QUERY_FORMULA_STEP_COUNT_MAX, sizeof(*made->steps));
    reader->formula = made;
    rc = read_sum(reader);
    peek(reader);
    if (!rc && reader->at < reader->text.size)
        rc = refuse_formula(reader, "the formula should end here");
    if (!rc)
        made->factor_max = formula_find_factor(made->steps, made->count);
    return rc;
}

int formula_compile(const struct snapshot *snapshot, struct bytes text,
                    const struct query_stage *stage, const char *where, struct arena *arena,
                    struct formula **formula, struct err *err)
{
    struct reader reader = {.schema = snapshot->schema,
                            .columns = snapshot->columns,
                            .where = where,
                            .arena = arena,
                            .text = text,
                            .unknown_is_empty = stage->unknown_is_empty,
                            .err = err};
    int rc = read_formula(&reader);

    *formula = rc ? NULL : reader.formula;
    if (!rc)
        reader.formula->now = stage->now;
    return rc;
}

int formula_check(const struct schema *schema, struct bytes text, const char *where,
                  struct bytes *unknown, double *factor_max, struct err *err)
{
    struct arena *arena = arena_new();
    struct reader reader = {.schema = schema,
                            .where = where,
                            .arena = arena,
                            .text = text,
                            .unknown = unknown,
                            .err = err};
    int rc;

    *unknown = BYTES_EMPTY;
    rc = read_formula(&reader);
    *factor_max = rc ? NAN : reader.formula->factor_max;
    arena_free(arena);
    return rc;
}

double formula_factor_max(const struct formula *formula)
{
    return formula->factor_max;
}

bool formula_uses_score(const struct formula *formula)
{
    return formula->uses_score;
}

void formula_set_now(struct formula *formula, int64_t now)
{
    formula->now = now;
}

/* ---- computing ---- */

struct batch {
    const struct formula *formula;
    uint32_t window;
    const uint16_t *offsets;
    const float *scores;
    uint32_t count;
};

static void push_column(const struct batch *batch, const struct step *step, double *out)
{
    struct column_view view;
    uint32_t i;

    column_view(step->column, batch->window, &view);
    for (i = 0; i < batch->count; i++) {
        int64_t value = view_get(&view, batch->offsets[i]);
        int32_t lat;
        int32_t lon;

        if (value == COLUMN_NULL) {
            out[i] = NAN;
        } else if (step->kind == STEP_FIELD) {
            out[i] = (double)value / step->number;
        } else if (step->kind == STEP_AGE) {
            out[i] = (double)batch->formula->now - (double)value;
        } else {
            geo_unpack(value, &lat, &lon);
            out[i] = geo_distance_m(lat, lon, step->lat, step->lon);
        }
    }
}

static void push_has(const struct batch *batch, const struct step *step, double *out)
{
    struct column_view view;
    uint32_t i;

    if (step->column)
        column_view(step->column, batch->window, &view);
    for (i = 0; i < batch->count; i++) {
        int64_t value = step->column ? view_get(&view, batch->offsets[i]) : COLUMN_NULL;

        out[i] = value != COLUMN_NULL && (uint64_t)value < step->bit_count &&
                 (step->bits[value / 64] >> (value % 64) & 1);
    }
}

static void push(const struct batch *batch, const struct step *step, double *out)
{
    uint32_t i;

    if (step->kind == STEP_NUMBER)
        for (i = 0; i < batch->count; i++)
            out[i] = step->number;
    else if (step->kind == STEP_SCORE)
        for (i = 0; i < batch->count; i++)
            out[i] = batch->scores ? (double)batch->scores[i] : 0;
    else if (step->kind == STEP_HAS)
        push_has(batch, step, out);
    else
        push_column(batch, step, out);
}

static double one(uint8_t kind, double x)
{
    switch (kind) {
    case STEP_NEGATE:
        return -x;
    case STEP_LOG:
        return log(x);
    case STEP_EXP:
        return exp(x);
    case STEP_SQRT:
        return sqrt(x);
    default:
        return fabs(x);
    }
}

static double two(uint8_t kind, double x, double y)
{
    switch (kind) {
    case STEP_ADD:
        return x + y;
    case STEP_SUBTRACT:
        return x - y;
    case STEP_MULTIPLY:
        return x * y;
    case STEP_DIVIDE:
        return x / y;
    case STEP_POW: /* the library's pow of nothing by 0, and of 1 by nothing, is 1 */
        return isnan(x) || isnan(y) ? NAN : pow(x, y);
    case STEP_DEFAULT:
        return isnan(x) ? y : x;
    default:
        if (isnan(x) || isnan(y))
            return NAN;
        return (kind == STEP_MIN) == (x < y) ? x : y;
    }
}

/* Takes the step's arguments off the stack and puts its result on; returns the new height. */
static uint32_t run_step(const struct batch *batch, const struct step *step,
                         double (*stack)[FORMULA_BATCH], uint32_t height)
{
    uint32_t i;

    if (step->kind <= STEP_HAS) {
        assert(height < STACK_HEIGHT_MAX);
        push(batch, step, stack[height]);
        return height + 1;
    }
    if (step->kind >= STEP_NEGATE && step->kind <= STEP_ABS) {
        for (i = 0; i < batch->count; i++)
            stack[height - 1][i] = one(step->kind, stack[height - 1][i]);
        return height;
    }
    if (step->kind == STEP_IF) {
        double(*a)[FORMULA_BATCH] = &stack[height - 3];

        for (i = 0; i < batch->count; i++)
            a[0][i] = isnan(a[0][i]) ? NAN : a[0][i] > 0 ? a[1][i] : a[2][i];
        return height - 2;
    }
    for (i = 0; i < batch->count; i++)
        stack[height - 2][i] = two(step->kind, stack[height - 2][i], stack[height - 1][i]);
    return height - 1;
}

void formula_compute(const struct formula *formula, uint32_t window, const uint16_t *offsets,
                     uint32_t count, const float *scores, double *values)
{
    double stack[STACK_HEIGHT_MAX][FORMULA_BATCH];
    uint32_t done;
    uint32_t i;

    for (done = 0; done < count; done += FORMULA_BATCH) {
        struct batch batch = {formula, window, offsets + done, scores ? scores + done : NULL,
                              count - done < FORMULA_BATCH ? count - done : FORMULA_BATCH};
        uint32_t height = 0;

        for (i = 0; i < formula->count; i++)
            height = run_step(&batch, &formula->steps[i], stack, height);
        assert(height == 1);
        memcpy(values + done, stack[0], batch.count * sizeof(*values));
    }
}
