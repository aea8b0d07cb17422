/* SPDX-License-Identifier: Apache-2.0 */
/* shard_model.c - see shard_model.h. */
#include "shard_model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/bounds.h"
#include "index/postings/doc_lengths.h"
#include "index/postings/postings.h"

#define CHECK(condition)                                                                           \
    ((condition)                                                                                   \
         ? (void)0                                                                                 \
         : (fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition), abort()))

static const struct field fields[MODEL_FIELD_COUNT] = {
    [MODEL_TITLE] = {.type = FIELD_TEXT, .name = "title", .weight = 3},
    [MODEL_BODY] = {.type = FIELD_TEXT, .name = "body", .weight = 1},
    [MODEL_URL] = {.type = FIELD_STORED, .name = "url"},
    [MODEL_BRAND] = {.type = FIELD_KEYWORD, .name = "brand", .filterable = true},
    [MODEL_TAGS] = {.type = FIELD_KEYWORD, .name = "tags", .multiple = true, .filterable = true},
    [MODEL_MARKS] = {.type = FIELD_KEYWORD,
                     .name = "marks",
                     .multiple = true,
                     .value_count_max = MODEL_MARK_COUNT},
    [MODEL_PRICE] = {.type = FIELD_DECIMAL, .name = "price", .scale = 2, .filterable = true},
    [MODEL_FLAG] = {.type = FIELD_BOOLEAN, .name = "flag", .filterable = true},
    [MODEL_PLACE] = {.type = FIELD_GEO, .name = "place", .filterable = true},
    [MODEL_CATEGORY] = {.type = FIELD_CATEGORY, .name = "category", .filterable = true},
    [MODEL_DATE] = {.type = FIELD_DATE, .name = "date", .filterable = true},
};

static const char *const words[MODEL_WORD_COUNT] = {
    "велосипед", "велосипеды", "горный",   "горного", "детский", "красный",  "красная", "новый",
    "новая",     "телефон",    "телефоны", "чехол",   "кожа",    "iphone",   "samsung", "galaxy",
    "red",       "bike",       "bikes",    "running", "runner",  "shoes",    "shoe",    "128",
    "256",       "15",         "pro",      "max",     "mini",    "стол",     "столы",   "стул",
    "диван",     "угловой",    "лампа",    "дом",     "дома",    "квартира", "комната", "аренда",
    "продажа",   "купить",     "продам",   "отдам",   "даром",   "срочно",   "москва",  "казань",
    "lada",      "vesta",      "toyota",   "camry",   "wheel",   "wheels",   "camera",  "lens",
    "tripod",    "guitar",     "piano",    "книга",
};

const char *model_word(uint32_t word)
{
    return words[word];
}

docid model_id(uint32_t doc)
{
    return doc < 700 ? doc * 3 : 4096 * 3 - 200 + doc * 11;
}

/* ---- operations ---- */

static void make_texts(struct rng *rng, struct shard_doc *doc)
{
    uint32_t i;

    doc->title_count = (uint32_t)rng_below(rng, MODEL_TITLE_MAX + 1);
    doc->body_count = (uint32_t)rng_below(rng, MODEL_BODY_MAX + 1);
    for (i = 0; i < doc->title_count; i++)
        doc->title[i] = (uint8_t)rng_below(rng, MODEL_WORD_COUNT);
    for (i = 0; i < doc->body_count; i++) {
        uint64_t skewed = rng_below(rng, MODEL_WORD_COUNT);

        doc->body[i] = (uint8_t)rng_below(rng, skewed + 1);
    }
}

static void make_values(struct rng *rng, struct shard_doc *doc)
{
    doc->url = (uint32_t)rng_below(rng, 1000000);
    doc->brand = (uint32_t)rng_below(rng, 30);
    doc->category = (uint32_t)rng_below(rng, 12);
    doc->tags[0] = rng_next(rng) & rng_next(rng) & rng_next(rng) & rng_next(rng);
    doc->tags[1] = rng_next(rng) & rng_next(rng) & rng_next(rng) & 0x3ffffff;
    doc->marks = rng_next(rng) & rng_next(rng) & ((1 << MODEL_MARK_COUNT) - 1);
    doc->price = (int64_t)rng_below(rng, 10) ? (int64_t)rng_below(rng, 100000)
                                             : (int64_t)(rng_next(rng) >> 2);
    doc->flag = (int64_t)rng_below(rng, 2);
    doc->date = 1700000000 + (int64_t)rng_below(rng, 1000000);
    doc->lat = (int32_t)rng_below(rng, 1800000001) - 900000000;
    doc->lon = (int32_t)((int64_t)rng_below(rng, 3600000001) - 1800000000);
}

static bool field_is_known(uint64_t offset, unsigned field)
{
    return offset > (uint64_t)field * 16;
}

void op_make(uint64_t seed, uint64_t offset, struct op *op)
{
    struct rng rng = rng_seeded(seed ^ (offset * UINT64_C(0x9e3779b97f4a7c15)));
    uint64_t kind;
    unsigned field;

    (void)rng_next(&rng);
    kind = rng_below(&rng, 100);
    memset(op, 0, sizeof(*op));
    if (offset % 16 == 0 && offset / 16 < MODEL_FIELD_COUNT) {
        op->kind = OP_FIELD;
        op->field = (enum model_field)(offset / 16);
        return;
    }
    op->doc = (uint32_t)rng_below(&rng, rng_below(&rng, 3) ? MODEL_DOC_COUNT : 40);
    op->kind = kind < 55   ? OP_PUT
               : kind < 80 ? OP_CHANGE
               : kind < 92 ? OP_REMOVE
               : kind < 97 ? OP_SET_EXPIRY
                           : OP_EXPIRE;
    make_texts(&rng, &op->value);
    make_values(&rng, &op->value);
    for (field = 0; field < MODEL_FIELD_COUNT; field++) {
        bool chosen = rng_below(&rng, op->kind == OP_CHANGE ? 3 : 4) == 0;

        op->value.has[field] =
            field_is_known(offset, field) && chosen == (op->kind == OP_CHANGE) &&
            !(op->kind == OP_CHANGE && (field == MODEL_TITLE || field == MODEL_BODY));
        op->gone[field] = op->kind == OP_CHANGE && rng_below(&rng, 5) == 0;
    }
    op->value.alive = true;
    op->value.expires_at = rng_below(&rng, 3) ? 0 : (int64_t)(offset + 20 + rng_below(&rng, 3000));
    op->now = (int64_t)offset;
}

void model_apply(struct shard_model *model, const struct op *op)
{
    struct shard_doc *doc = &model->docs[op->doc];
    uint32_t i;

    switch (op->kind) {
    case OP_FIELD:
        model->field_count = op->field + 1U;
        break;
    case OP_PUT:
        *doc = op->value;
        break;
    case OP_CHANGE:
        if (!doc->alive)
            break;
#define TAKE(field, member)                                                                        \
    if (op->value.has[field]) {                                                                    \
        memcpy(&doc->member, &op->value.member, sizeof(doc->member));                              \
        doc->has[field] = !op->gone[field];                                                        \
    }
        TAKE(MODEL_URL, url)
        TAKE(MODEL_BRAND, brand)
        TAKE(MODEL_TAGS, tags)
        TAKE(MODEL_MARKS, marks)
        TAKE(MODEL_PRICE, price)
        TAKE(MODEL_FLAG, flag)
        TAKE(MODEL_PLACE, lat)
        TAKE(MODEL_PLACE, lon)
        TAKE(MODEL_CATEGORY, category)
        TAKE(MODEL_DATE, date)
#undef TAKE
        break;
    case OP_REMOVE:
        doc->alive = false;
        break;
    case OP_SET_EXPIRY:
        if (doc->alive)
            doc->expires_at = op->value.expires_at;
        break;
    case OP_EXPIRE:
        for (i = 0; i < MODEL_DOC_COUNT; i++) {
            if (model->docs[i].expires_at && model->docs[i].expires_at <= op->now)
                model->docs[i].alive = false;
        }
        break;
    }
}

/* ---- an operation as the shard takes it ---- */

enum { TEXT_SIZE = 64 * 32, NAME_SIZE = 24, NAME_COUNT = 64 };

struct encoded {
    struct shard_value values[MODEL_FIELD_COUNT];
    uint32_t count;
    char title[TEXT_SIZE], body[TEXT_SIZE], url[200];
    char brand[NAME_SIZE], category[NAME_SIZE];
    char tag_names[NAME_COUNT][NAME_SIZE], mark_names[NAME_COUNT][NAME_SIZE];
    struct bytes one[2], tags[NAME_COUNT], marks[NAME_COUNT];
};

static void join_words(char *to, const uint8_t *from, uint32_t count)
{
    size_t used = 0;
    uint32_t i;

    to[0] = 0;
    for (i = 0; i < count; i++)
        used +=
            (size_t)snprintf(to + used, TEXT_SIZE - used, "%s%s", i ? " , " : "", words[from[i]]);
}

static void url_of(uint32_t url, char to[200])
{
    snprintf(to, 200, "https://example.org/offers/%u/%s", url,
             url % 3 ? "" : "a-longer-tail-of-the-address-so-that-records-have-different-sizes");
}

static struct shard_value *add_value(struct encoded *encoded, unsigned field, unsigned kind)
{
    struct shard_value *value = &encoded->values[encoded->count++];

    *value = (struct shard_value){.field = (uint16_t)field, .kind = (uint8_t)kind};
    return value;
}

static uint32_t name_bits(const uint64_t *bits, uint32_t count, const char *prefix,
                          char names[NAME_COUNT][NAME_SIZE], struct bytes *out)
{
    uint32_t found = 0;
    uint32_t i;

    for (i = 0; i < count && found < NAME_COUNT; i++) {
        if (!(bits[i / 64] >> i % 64 & 1))
            continue;
        snprintf(names[found], NAME_SIZE, "%s%u", prefix, i);
        out[found] = bytes_of(names[found]);
        found++;
    }
    return found;
}

static void encode_field(struct encoded *encoded, const struct shard_doc *doc, unsigned field)
{
    struct shard_value *value;

    switch ((enum model_field)field) {
    case MODEL_TITLE:
        join_words(encoded->title, doc->title, doc->title_count);
        add_value(encoded, field, VALUE_TEXT)->text = bytes_of(encoded->title);
        break;
    case MODEL_BODY:
        join_words(encoded->body, doc->body, doc->body_count);
        add_value(encoded, field, VALUE_TEXT)->text = bytes_of(encoded->body);
        break;
    case MODEL_URL:
        url_of(doc->url, encoded->url);
        add_value(encoded, field, VALUE_TEXT)->text = bytes_of(encoded->url);
        break;
    case MODEL_BRAND:
    case MODEL_CATEGORY:
        value = add_value(encoded, field, VALUE_KEYWORDS);
        snprintf(field == MODEL_BRAND ? encoded->brand : encoded->category, NAME_SIZE, "%s%u",
                 field == MODEL_BRAND ? "brand" : "root/c",
                 field == MODEL_BRAND ? doc->brand : doc->category);
        encoded->one[field == MODEL_BRAND] =
            bytes_of(field == MODEL_BRAND ? encoded->brand : encoded->category);
        value->keywords.names = &encoded->one[field == MODEL_BRAND];
        value->keywords.count = 1;
        break;
    case MODEL_TAGS:
        value = add_value(encoded, field, VALUE_KEYWORDS);
        value->keywords.names = encoded->tags;
        value->keywords.count =
            name_bits(doc->tags, MODEL_TAG_COUNT, "tag", encoded->tag_names, encoded->tags);
        break;
    case MODEL_MARKS:
        value = add_value(encoded, field, VALUE_KEYWORDS);
        value->keywords.names = encoded->marks;
        value->keywords.count =
            name_bits(&doc->marks, MODEL_MARK_COUNT, "mark", encoded->mark_names, encoded->marks);
        break;
    case MODEL_PLACE:
        value = add_value(encoded, field, VALUE_GEO);
        value->geo.lat = doc->lat;
        value->geo.lon = doc->lon;
        break;
    default:
        add_value(encoded, field, VALUE_NUMBER)->number = field == MODEL_PRICE  ? doc->price
                                                          : field == MODEL_FLAG ? doc->flag
                                                                                : doc->date;
    }
}

static void encode(struct encoded *encoded, const struct op *op)
{
    unsigned i;

    encoded->count = 0;
    for (i = 0; i < MODEL_FIELD_COUNT; i++) {
        unsigned field = (i + op->doc) % MODEL_FIELD_COUNT; /* in any order */

        if (op->value.has[field] && op->gone[field])
            add_value(encoded, field, VALUE_NONE);
        else if (op->value.has[field])
            encode_field(encoded, &op->value, field);
    }
}

void op_apply(struct shard *shard, const struct op *op)
{
    struct encoded *encoded = mem_zero(sizeof(*encoded));
    struct shard_document document = {.id = model_id(op->doc), .expires_at = op->value.expires_at};
    struct err err = {0};
    uint16_t id;
    int rc = 0;

    switch (op->kind) {
    case OP_FIELD:
        rc = shard_add_field(shard, &fields[op->field], &id, &err);
        CHECK(rc || id == op->field);
        break;
    case OP_PUT:
        encode(encoded, op);
        document.values = encoded->values;
        document.count = encoded->count;
        rc = shard_put(shard, &document, &err);
        break;
    case OP_CHANGE:
        encode(encoded, op);
        rc = shard_change(shard, document.id, encoded->values, encoded->count, &err);
        rc = rc == ERR_NOT_FOUND ? 0 : rc;
        break;
    case OP_REMOVE:
        shard_remove(shard, document.id);
        break;
    case OP_SET_EXPIRY:
        rc = shard_set_expiry(shard, document.id, op->value.expires_at, &err);
        rc = rc == ERR_NOT_FOUND ? 0 : rc;
        break;
    case OP_EXPIRE:
        shard_expire(shard, op->now);
        break;
    }
    if (rc)
        fprintf(stderr, "operation %d on %u: %s\n", (int)op->kind, document.id, err.text);
    CHECK(!rc);
    free(encoded);
}

/* ---- comparing ---- */

/* Where the term stands in the document, as the model has it. */
static uint32_t expect(const struct shard_doc *doc, const struct lexicon_entry *entries,
                       termid term, struct occurrence *out, uint32_t *tfs)
{
    uint32_t count = 0;
    uint32_t i;

    *tfs = 0;
    for (i = 0; doc->has[MODEL_TITLE] && i < doc->title_count; i++) {
        if (entries[doc->title[i]].term == term) {
            out[count++] = (struct occurrence){i, entries[doc->title[i]].form};
            *tfs += 1;
        }
    }
    for (i = 0; doc->has[MODEL_BODY] && i < doc->body_count; i++) {
        if (entries[doc->body[i]].term == term) {
            out[count++] = (struct occurrence){i, entries[doc->body[i]].form};
            *tfs += 1 << 8;
        }
    }
    return count;
}

struct term_check {
    const struct shard_model *model;
    const struct lexicon_entry *entries;
    termid term;
    uint8_t *seen;    /* by document */
    uint32_t *doc_of; /* by id, + 1 */
};

static void check_posting(struct term_check *check, docid id, uint32_t tfs,
                          const struct occurrence *occurrences, uint32_t count)
{
    struct occurrence expected[MODEL_TITLE_MAX + MODEL_BODY_MAX];
    uint32_t doc = check->doc_of[id] - 1;
    uint32_t expected_tfs, i;

    CHECK(check->doc_of[id] && check->model->docs[doc].alive && !check->seen[doc]);
    check->seen[doc] = 1;
    CHECK(expect(&check->model->docs[doc], check->entries, check->term, expected, &expected_tfs) ==
          count);
    CHECK(count && tfs == expected_tfs);
    for (i = 0; i < count; i++)
        CHECK(occurrences[i].position == expected[i].position &&
              occurrences[i].form == expected[i].form);
}

static void check_segment(struct term_check *check, const struct snapshot_segment *part)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    struct postings postings;
    const docid *ids;
    uint32_t code, count, i;
    struct err err;

    CHECK(!postings_open(&postings, part->segment, check->term, &err));
    while (!postings_ended(&postings)) {
        CHECK(!postings_ids(&postings, &ids, &err));
        for (i = 0; i < postings.size; i++) {
            if (!live_has(part->live, ids[i]))
                continue;
            CHECK(!postings_code_at(&postings, i, &code, &err));
            CHECK(!postings_occurrences(&postings, i, occurrences, &count, &err));
            check_posting(check, ids[i], text_segment_tfs(part->segment, code), occurrences, count);
        }
        CHECK(!postings_next_block(&postings, &err));
    }
}

static void check_buffer(struct term_check *check, const struct snapshot_buffer *part)
{
    struct occurrence occurrences[POSTING_OCCURRENCE_MAX];
    struct buffer_cursor cursor;
    uint32_t count;

    buffer_cursor_init(&cursor, part->buffer, part->mark, check->term);
    while (buffer_cursor_next(&cursor)) {
        if (!live_has(part->live, cursor.id))
            continue;
        buffer_cursor_occurrences(&cursor, occurrences, &count);
        check_posting(check, cursor.id, cursor.tfs, occurrences, count);
    }
}

static void check_term(struct term_check *check, const struct snapshot *snapshot)
{
    struct occurrence expected[MODEL_TITLE_MAX + MODEL_BODY_MAX];
    uint32_t i, tfs;

    memset(check->seen, 0, MODEL_DOC_COUNT);
    for (i = 0; i < snapshot->segment_count; i++)
        check_segment(check, &snapshot->segments[i]);
    for (i = 0; i < snapshot->buffer_count; i++)
        check_buffer(check, &snapshot->buffers[i]);
    for (i = 0; i < MODEL_DOC_COUNT; i++) {
        if (check->model->docs[i].alive && !check->seen[i])
            CHECK(!expect(&check->model->docs[i], check->entries, check->term, expected, &tfs));
    }
}

static void check_existence(const struct shard_model *model, const struct snapshot *snapshot,
                            const uint32_t *doc_of)
{
    uint32_t count = 0;
    docid id;

    for (id = 0; id < snapshot->window_count << WINDOW_SHIFT; id++) {
        bool alive = doc_of[id] && model->docs[doc_of[id] - 1].alive;

        CHECK(live_has(snapshot->alive, id) == alive);
        count += alive;
    }
    CHECK(snapshot->doc_count == count);
    for (id = 0; id < MODEL_DOC_COUNT; id++)
        CHECK(!model->docs[id].alive || window_of(model_id(id)) < snapshot->window_count);
}

static bool same_names(const struct column *column, int64_t value, const struct bytes *names,
                       uint32_t count)
{
    uint64_t mask = 0;
    uint32_t list_count, i, j;
    const uint32_t *list;

    if (!column_lists(column)) {
        for (i = 0; i < count; i++)
            mask |= UINT64_C(1) << dictionary_find(column_dictionary(column), names[i]);
        return (uint64_t)value == mask;
    }
    list = value_lists_get(column_lists(column), (uint32_t)value, &list_count);
    for (i = 0; i < count; i++) {
        uint32_t ordinal = dictionary_find(column_dictionary(column), names[i]);

        for (j = 0; j < list_count && list[j] != ordinal; j++)
            ;
        if (j == list_count)
            return false;
    }
    return list_count == count;
}

static void check_column(const struct snapshot *snapshot, docid id, const struct shard_value *value,
                         unsigned field)
{
    const struct column *column = columns_column(snapshot->columns, field);
    uint16_t number = (uint16_t)field;
    int64_t found;

    columns_get(snapshot->columns, id, &number, 1, &found);
    if (!value || (value->kind == VALUE_KEYWORDS && !value->keywords.count))
        CHECK(found == COLUMN_NULL);
    else if (value->kind == VALUE_NUMBER)
        CHECK(found == value->number);
    else if (value->kind == VALUE_GEO)
        CHECK(found == geo_pack(value->geo.lat, value->geo.lon));
    else if (column_field(column)->multiple)
        CHECK(same_names(column, found, value->keywords.names, value->keywords.count));
    else
        CHECK(found == dictionary_find(column_dictionary(column), value->keywords.names[0]));
}

static void check_attributes(const struct shard_model *model, const struct shard *shard,
                             const struct snapshot *snapshot, uint32_t doc)
{
    const struct shard_doc nothing = {0};
    struct op op = {.doc = doc, .value = model->docs[doc].alive ? model->docs[doc] : nothing};
    struct encoded *encoded = mem_zero(sizeof(*encoded));
    struct stored_value stored[MODEL_FIELD_COUNT];
    struct buf buf = BUF_INIT(STORED_RECORD_SIZE_MAX);
    uint32_t count, at = 0, i;
    unsigned field;
    struct err err;

    encode(encoded, &op);
    CHECK(!shard_stored(snapshot, shard, model_id(doc), &buf, stored, MODEL_FIELD_COUNT, &count,
                        &err));
    for (field = 0; field < model->field_count; field++) {
        const struct shard_value *value = NULL;

        for (i = 0; i < encoded->count; i++)
            value = encoded->values[i].field == field ? &encoded->values[i] : value;
        if (field != MODEL_TITLE && field != MODEL_BODY && field != MODEL_URL) {
            check_column(snapshot, model_id(doc), value, field);
        } else if (value) {
            CHECK(at < count && stored[at].field == field &&
                  bytes_equal(stored[at].text, value->text));
            at++;
        }
    }
    CHECK(at == count);
    buf_release(&buf);
    free(encoded);
}

void model_check(const struct shard_model *model, const struct shard *shard,
                 const struct snapshot *snapshot, bool with_attributes)
{
    struct lexicon_entry entries[MODEL_WORD_COUNT];
    uint32_t id_count = (window_of(model_id(MODEL_DOC_COUNT - 1)) + 1) << WINDOW_SHIFT;
    struct term_check check = {.model = model, .entries = entries};
    uint32_t i;

    check.seen = mem_zero(MODEL_DOC_COUNT);
    check.doc_of = mem_array(id_count, sizeof(check.doc_of[0]));
    for (i = 0; i < MODEL_DOC_COUNT; i++)
        check.doc_of[model_id(i)] = i + 1;
    check_existence(model, snapshot, check.doc_of);
    for (i = 0; i < MODEL_WORD_COUNT; i++) {
        if (!lexicon_find(snapshot->lexicon, bytes_of(words[i]), &entries[i]))
            entries[i] = (struct lexicon_entry){TERMID_NONE, FORM_NONE};
    }
    for (i = 0; i < MODEL_WORD_COUNT; i++) {
        check.term = entries[i].term;
        if (check.term != TERMID_NONE)
            check_term(&check, snapshot);
    }
    for (i = 0; with_attributes && i < MODEL_DOC_COUNT; i++)
        check_attributes(model, shard, snapshot, i);
    free(check.seen);
    free(check.doc_of);
}
