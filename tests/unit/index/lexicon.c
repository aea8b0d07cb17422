/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexicon against plain arrays: random words, reopening, torn and damaged files, readers beside
 * the writer, prefixes and misspelt words by brute force. TORG_SEED repeats a run.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/crc.h"
#include "base/endian.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bounds.h"
#include "index/text/lexicon.h"
#include "test_dir.h"
#include "threads_only.h"

enum { NAIVE_MAX = 20000, WORD_SIZE = TOKEN_SIZE_MAX + 1, PATH_SIZE = TEST_DIR_SIZE + 20 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            fail_msg("%s: %s", #call, err.text);                                                   \
    } while (0)

/* A lexicon as it should be: looked through from the first to the last. */
struct naive {
    char (*forms)[WORD_SIZE];
    struct lexicon_entry *entries;
    char (*stems)[WORD_SIZE];
    uint16_t *form_counts;
    uint32_t count, term_count;
};

struct world {
    struct rng rng;
    struct naive naive;
    struct analysis *analysis;
    struct lexicon *lexicon;
    uint32_t *doc_counts; /* by term, if is_weighed */
    bool is_weighed;
    char dir[TEST_DIR_SIZE];
    char path[PATH_SIZE];
};

static void open_world(struct world *world)
{
    const char *given = getenv("TORG_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : random_u64();

    printf("# TORG_SEED=%ju\n", (uintmax_t)seed);
    *world = (struct world){.rng = rng_seeded(seed), .analysis = analysis_new()};
    world->doc_counts = mem_array(NAIVE_MAX, sizeof(*world->doc_counts));
    world->naive.forms = mem_array(NAIVE_MAX, WORD_SIZE);
    world->naive.stems = mem_array(NAIVE_MAX, WORD_SIZE);
    world->naive.entries = mem_array(NAIVE_MAX, sizeof(*world->naive.entries));
    world->naive.form_counts = mem_array(NAIVE_MAX, sizeof(*world->naive.form_counts));
    assert_true(test_dir_make(world->dir));
    snprintf(world->path, sizeof(world->path), "%s/lexicon.log", world->dir);
}

static void close_world(struct world *world)
{
    struct err err;

    lexicon_close(world->lexicon);
    analysis_free(world->analysis);
    free(world->naive.forms);
    free(world->naive.stems);
    free(world->naive.entries);
    free(world->naive.form_counts);
    free(world->doc_counts);
    OK(dir_remove(world->dir, &err));
}

/* Few letters and many endings, so that words share stems and lie near each other. */
static enum script random_word(struct rng *rng, char word[WORD_SIZE])
{
    static const char *const russian[] = {"а", "б", "к", "о", "т", "ст", "ров", "й"};
    static const char *const russian_ends[] = {"", "а", "ы", "ами", "ого", "ить", "ение", "ный"};
    static const char *const english[] = {"a", "b", "e", "n", "t", "st"};
    static const char *const english_ends[] = {"", "s", "ing", "ed", "ly", "ation", "ies"};
    bool cyrillic = rng_below(rng, 2);
    size_t size = 0;

    if (rng_below(rng, 10) == 0) {
        snprintf(word, WORD_SIZE, "%u", (unsigned)rng_below(rng, 1000));
        return SCRIPT_NONE;
    }
    for (uint64_t left = 1 + rng_below(rng, 5); left > 0; left--)
        size += (size_t)snprintf(word + size, WORD_SIZE - size, "%s",
                                 cyrillic ? russian[rng_below(rng, ARRAY_COUNT(russian))]
                                          : english[rng_below(rng, ARRAY_COUNT(english))]);
    snprintf(word + size, WORD_SIZE - size, "%s",
             cyrillic ? russian_ends[rng_below(rng, ARRAY_COUNT(russian_ends))]
                      : english_ends[rng_below(rng, ARRAY_COUNT(english_ends))]);
    return cyrillic ? SCRIPT_CYRILLIC : SCRIPT_LATIN;
}

static struct lexicon_entry naive_add(struct world *world, const char *word, enum script script)
{
    struct naive *naive = &world->naive;
    struct bytes stem;
    uint32_t term;

    for (uint32_t i = 0; i < naive->count; i++) {
        if (strcmp(naive->forms[i], word) == 0)
            return naive->entries[i];
    }
    stem = analysis_stem(world->analysis, bytes_of(word), script);
    for (term = 0; term < naive->term_count; term++) {
        if (bytes_equal_text(stem, naive->stems[term]))
            break;
    }
    if (term == naive->term_count) {
        memcpy(naive->stems[term], stem.data, stem.size);
        naive->term_count++;
    }
    assert_true(naive->count < NAIVE_MAX);
    snprintf(naive->forms[naive->count], WORD_SIZE, "%s", word);
    naive->entries[naive->count] = (struct lexicon_entry){term, naive->form_counts[term]++};
    return naive->entries[naive->count++];
}

static void add_words(struct world *world, int count)
{
    struct err err;

    for (int i = 0; i < count; i++) {
        char word[WORD_SIZE];
        enum script script = random_word(&world->rng, word);
        struct lexicon_entry entry;
        struct lexicon_entry wanted = naive_add(world, word, script);

        OK(lexicon_add(world->lexicon, world->analysis, bytes_of(word), script, &entry, &err));
        assert_int_equal(entry.term, wanted.term);
        assert_int_equal(entry.form, wanted.form);
    }
}

static void check_whole(struct world *world)
{
    struct naive *naive = &world->naive;
    struct lexicon_sizes sizes = lexicon_sizes(world->lexicon);
    struct lexicon_entry entry;

    assert_int_equal(sizes.form_count, naive->count);
    assert_int_equal(sizes.term_count, naive->term_count);
    for (uint32_t i = 0; i < naive->count; i++) {
        assert_true(lexicon_find(world->lexicon, bytes_of(naive->forms[i]), &entry));
        assert_int_equal(entry.term, naive->entries[i].term);
        assert_int_equal(entry.form, naive->entries[i].form);
        assert_true(bytes_equal_text(lexicon_form(world->lexicon, entry), naive->forms[i]));
    }
    for (termid term = 0; term < naive->term_count; term++) {
        termid found;

        assert_true(bytes_equal_text(lexicon_term(world->lexicon, term), naive->stems[term]));
        assert_true(lexicon_find_term(world->lexicon, bytes_of(naive->stems[term]), &found));
        assert_int_equal(found, term);
        assert_int_equal(lexicon_term_form_count(world->lexicon, term), naive->form_counts[term]);
    }
    assert_false(lexicon_find(world->lexicon, bytes_of("нетакогослова"), &entry));
}

static void equals_an_array_and_reopens(void **state)
{
    struct world world;
    uint64_t durable = 0;
    struct err err;

    open_world(&world);
    for (int round = 0; round < 5; round++) {
        OK(lexicon_open(world.path, durable, &world.lexicon, &err));
        check_whole(&world);
        for (int i = 0; i < 3; i++) {
            add_words(&world, 600);
            OK(lexicon_sync(world.lexicon, &durable, &err));
        }
        check_whole(&world);
        lexicon_close(world.lexicon);
    }
    world.lexicon = NULL;
    close_world(&world);
}

static void resolves_by_the_stem(void **state)
{
    struct analysis *analysis = analysis_new();
    struct lexicon *lexicon;
    struct lexicon_entry entry, found;
    struct err err;

    OK(lexicon_open(NULL, 0, &lexicon, &err));
    OK(lexicon_add(lexicon, analysis, bytes_of("машина"), SCRIPT_CYRILLIC, &entry, &err));
    assert_true(lexicon_resolve(lexicon, analysis, bytes_of("машина"), SCRIPT_CYRILLIC, &found));
    assert_int_equal(found.form, entry.form);
    assert_true(lexicon_resolve(lexicon, analysis, bytes_of("машинами"), SCRIPT_CYRILLIC, &found));
    assert_int_equal(found.term, entry.term);
    assert_int_equal(found.form, FORM_NONE);
    assert_false(lexicon_resolve(lexicon, analysis, bytes_of("лодка"), SCRIPT_CYRILLIC, &found));
    assert_int_equal(lexicon_add(lexicon, analysis, BYTES_EMPTY, SCRIPT_NONE, &entry, &err),
                     ERR_INVALID);
    lexicon_close(lexicon);
    analysis_free(analysis);
}

/* Many at once is as one by one. */
static void adds_tokens_in_their_order(void **state)
{
    struct analysis *analysis = analysis_new();
    struct lexicon *lexicon, *other;
    struct lexicon_entry *entries = mem_array(TOKEN_COUNT_MAX, sizeof(*entries));
    struct buf text = BUF_INIT(1 << 20);
    struct rng rng = rng_seeded(random_u64());
    struct token_list list;
    struct err err;

    OK(lexicon_open(NULL, 0, &lexicon, &err));
    OK(lexicon_open(NULL, 0, &other, &err));
    for (int i = 0; i < 5000; i++) {
        char word[WORD_SIZE];

        random_word(&rng, word);
        buf_printf(&text, "%s ", word);
    }
    list = analysis_run(analysis, buf_bytes(&text));
    OK(lexicon_add_tokens(lexicon, analysis, list.tokens, list.count, entries, &err));
    for (size_t i = 0; i < list.count; i++) {
        struct lexicon_entry entry;

        OK(lexicon_add(other, analysis, list.tokens[i].form, list.tokens[i].script, &entry, &err));
        assert_int_equal(entry.term, entries[i].term);
        assert_int_equal(entry.form, entries[i].form);
    }
    lexicon_close(lexicon);
    lexicon_close(other);
    analysis_free(analysis);
    buf_release(&text);
    free(entries);
}

/* ---- Files ---- */

static size_t file_size(const char *path)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return (size_t)info.st_size;
}

/* Cut anywhere behind what was synced, the file opens with a whole beginning of its words. */
static void torn_tail_is_cut(void **state)
{
    struct world world;
    struct buf whole = BUF_INIT(16 << 20);
    uint64_t durable, later;
    uint32_t count;
    struct err err;

    open_world(&world);
    OK(lexicon_open(world.path, 0, &world.lexicon, &err));
    add_words(&world, 500);
    OK(lexicon_sync(world.lexicon, &durable, &err));
    count = world.naive.count;
    add_words(&world, 200);
    assert_true(world.naive.count > count);
    OK(lexicon_sync(world.lexicon, &later, &err));
    lexicon_close(world.lexicon);
    OK(file_read(world.path, &whole, &err));
    assert_int_equal(whole.size, later);
    for (size_t size = durable; size < later; size += 1 + (later - durable) / 12) {
        struct lexicon_sizes sizes;

        OK(file_write(world.path, bytes_make(whole.data, size), &err));
        OK(lexicon_open(world.path, durable, &world.lexicon, &err));
        sizes = lexicon_sizes(world.lexicon);
        assert_int_equal(sizes.form_count, count);
        assert_int_equal(file_size(world.path), durable);
        lexicon_close(world.lexicon);
        OK(file_write(world.path, bytes_make(whole.data, size), &err));
        assert_int_equal(lexicon_open(world.path, later, &world.lexicon, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.text, world.path));
    }
    world.lexicon = NULL;
    buf_release(&whole);
    close_world(&world);
}

static void every_flipped_bit_is_noticed(void **state)
{
    struct world world;
    struct buf whole = BUF_INIT(16 << 20);
    uint64_t durable;
    struct err err;

    open_world(&world);
    OK(lexicon_open(world.path, 0, &world.lexicon, &err));
    for (int i = 0; i < 3; i++) {
        add_words(&world, 6);
        OK(lexicon_sync(world.lexicon, &durable, &err));
    }
    lexicon_close(world.lexicon);
    OK(file_read(world.path, &whole, &err));
    for (size_t bit = 0; bit < whole.size * 8; bit++) {
        int fd = open(world.path, O_WRONLY | O_TRUNC);
        int rc;

        whole.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        assert_int_equal(write(fd, whole.data, whole.size), whole.size);
        close(fd);
        whole.data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        rc = lexicon_open(world.path, durable, &world.lexicon, &err);
        if (rc != ERR_CORRUPT || !strstr(err.text, world.path))
            fail_msg("bit %zu of %zu: %s", bit, whole.size * 8, rc ? err.text : "not noticed");
    }
    buf_release(&whole);
    close_world(&world);
}

/* Without a manifest, damage before a frame that was synced later is still told from a torn tail.
 */
static void damage_inside_is_no_torn_tail(void **state)
{
    struct world world;
    uint64_t first, durable;
    struct err err;
    int fd;

    open_world(&world);
    OK(lexicon_open(world.path, 0, &world.lexicon, &err));
    add_words(&world, 100);
    OK(lexicon_sync(world.lexicon, &first, &err));
    add_words(&world, 100);
    OK(lexicon_sync(world.lexicon, &durable, &err));
    assert_true(durable > first);
    lexicon_close(world.lexicon);
    fd = open(world.path, O_WRONLY);
    assert_int_equal(pwrite(fd, "?", 1, (off_t)first - 5), 1);
    close(fd);
    assert_int_equal(lexicon_open(world.path, 0, &world.lexicon, &err), ERR_CORRUPT);
    assert_null(world.lexicon);
    assert_int_equal(file_size(world.path), durable);
    close_world(&world);
}

static void other_rules_are_refused(void **state)
{
    struct world world;
    uint8_t header[32] = "TORGLEX1";
    struct err err;

    open_world(&world);
    put_le32(header + 8, 1);
    put_le32(header + 12, ANALYSIS_VERSION + 1);
    put_le32(header + 28, crc32c(0, bytes_make(header, 28)));
    assert_int_equal(lexicon_open(world.path, 100, &world.lexicon, &err), ERR_NOT_FOUND);
    OK(file_write(world.path, bytes_of("something else"), &err));
    assert_int_equal(lexicon_open(world.path, 0, &world.lexicon, &err), ERR_CORRUPT);
    OK(file_write(world.path, bytes_make(header, sizeof(header)), &err));
    assert_int_equal(lexicon_open(world.path, 0, &world.lexicon, &err), ERR_PRECONDITION);
    /* those that this program still has are gone on with */
    for (uint32_t version = ANALYSIS_VERSION_OLDEST; version <= ANALYSIS_VERSION; version++) {
        put_le32(header + 12, version);
        put_le32(header + 28, crc32c(0, bytes_make(header, 28)));
        OK(file_write(world.path, bytes_make(header, sizeof(header)), &err));
        OK(lexicon_open(world.path, 0, &world.lexicon, &err));
        assert_int_equal(lexicon_analysis_version(world.lexicon), version);
        lexicon_close(world.lexicon);
        world.lexicon = NULL;
    }
    close_world(&world);
}

/* A child adds and syncs, telling what is durable, until it is killed. */
static void run_child(struct world *world, int to)
{
    struct err err;
    uint64_t durable;

    if (lexicon_open(world->path, 0, &world->lexicon, &err))
        _exit(1);
    for (uint32_t next = lexicon_sizes(world->lexicon).form_count;; next += 50) {
        uint32_t told = next + 50;

        for (uint32_t i = next; i < told; i++) {
            struct lexicon_entry entry;
            char word[WORD_SIZE];

            snprintf(word, sizeof(word), "%u", i);
            if (lexicon_add(world->lexicon, world->analysis, bytes_of(word), SCRIPT_NONE, &entry,
                            &err) ||
                entry.term != i)
                _exit(2);
        }
        if (lexicon_sync(world->lexicon, &durable, &err))
            _exit(3);
        if (write(to, &told, sizeof(told)) != sizeof(told))
            _exit(4);
    }
}

static void survives_kills(void **state)
{
    struct world world;
    uint32_t told = 0;
    struct err err;

    open_world(&world);
    for (int round = 0; round < 8; round++) {
        int ends[2];
        pid_t child;
        int status;
        uint32_t value;

        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (child == 0)
            run_child(&world, ends[1]);
        close(ends[1]);
        for (uint64_t left = 1 + rng_below(&world.rng, 5); left > 0; left--) {
            if (read(ends[0], &value, sizeof(value)) == sizeof(value))
                told = value;
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        while (read(ends[0], &value, sizeof(value)) == sizeof(value))
            told = value;
        close(ends[0]);
        OK(lexicon_open(world.path, 0, &world.lexicon, &err));
        assert_true(lexicon_sizes(world.lexicon).form_count >= told);
        for (uint32_t i = 0; i < lexicon_sizes(world.lexicon).form_count; i++) {
            struct lexicon_entry entry;
            char word[WORD_SIZE];

            snprintf(word, sizeof(word), "%u", i);
            assert_true(lexicon_find(world.lexicon, bytes_of(word), &entry));
            assert_int_equal(entry.term, i);
        }
        lexicon_close(world.lexicon);
    }
    world.lexicon = NULL;
    assert_true(told > 0);
    close_world(&world);
}

/* ---- Expansion ---- */

/* The definition: optimal string alignment, by the whole table. */
static unsigned naive_distance(const char *left, const char *right)
{
    static unsigned rows[WORD_SIZE + 1][WORD_SIZE + 1];
    uint32_t a[WORD_SIZE], b[WORD_SIZE];
    size_t n = 0;
    size_t m = 0;

    for (const uint8_t *at = (const uint8_t *)left; *at; n++)
        at += unicode_decode(at, at + strlen((const char *)at), &a[n]);
    for (const uint8_t *at = (const uint8_t *)right; *at; m++)
        at += unicode_decode(at, at + strlen((const char *)at), &b[m]);
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            unsigned best = i == 0 ? (unsigned)j : (unsigned)i;

            if (i && j) {
                best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                best = rows[i - 1][j] + 1 < best ? rows[i - 1][j] + 1 : best;
                best = rows[i][j - 1] + 1 < best ? rows[i][j - 1] + 1 : best;
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[n][m];
}

/* Of each term the nearest form, UINT8_MAX when none is near. */
static size_t naive_expand(const struct naive *naive, const char *word, int distance,
                           const char *prefix, uint8_t *nearest)
{
    size_t count = 0;

    memset(nearest, UINT8_MAX, naive->term_count);
    for (uint32_t i = 0; i < naive->count; i++) {
        unsigned edits = distance < 0 ? 0 : naive_distance(naive->forms[i], word);
        termid term = naive->entries[i].term;

        if (strncmp(naive->forms[i], prefix, strlen(prefix)) != 0 ||
            (distance >= 0 && edits > (unsigned)distance))
            continue;
        count += nearest[term] == UINT8_MAX;
        nearest[term] = edits < nearest[term] ? (uint8_t)edits : nearest[term];
    }
    return count;
}

static void check_expansion(struct world *world, const char *word, int distance, size_t exact,
                            const char *prefix, size_t *hit_count)
{
    static uint8_t nearest[NAIVE_MAX];
    struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
    size_t wanted = naive_expand(&world->naive, word, distance, prefix, nearest);
    size_t max = rng_below(&world->rng, 4) ? LEXICON_EXPAND_COUNT_MAX : 5;
    size_t count;
    struct err err;
    int rc;

    if (distance < 0)
        rc = lexicon_prefix(world->lexicon, bytes_of(prefix), hits, max, &count, &err);
    else
        rc = lexicon_fuzzy(world->lexicon, bytes_of(word), (unsigned)distance, exact, hits, max,
                           &count, &err);
    if (wanted > max) {
        assert_int_equal(rc, ERR_LIMIT);
        assert_int_equal(count, max);
        return;
    }
    OK(rc);
    if (count != wanted)
        fail_msg("%s within %d, exact %zu: %zu terms, not %zu", word, distance, exact, count,
                 wanted);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(hits[i].distance, nearest[hits[i].term]);
        assert_true(i == 0 || hits[i - 1].term < hits[i].term);
    }
    *hit_count += count;
}

/* With all forms weighed: no term that is left out has half as many documents again as one that is
 * taken, and of those with as many the oldest are taken. */
static void check_weighed(struct world *world, const char *prefix, size_t *cut_count)
{
    static uint8_t nearest[NAIVE_MAX];
    struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
    size_t wanted = naive_expand(&world->naive, "", -1, prefix, nearest);
    size_t enough = 1 + rng_below(&world->rng, 30);
    termid newest = 0; /* of the rarest ones that are taken */
    uint32_t least = UINT32_MAX;
    size_t count;

    lexicon_prefix_some(world->lexicon, bytes_of(prefix), enough, hits, 2 * enough, &count);
    assert_int_equal(count, wanted < enough ? wanted : enough);
    for (size_t i = 0; i < count; i++) {
        uint32_t doc_count = world->doc_counts[hits[i].term];

        assert_true(nearest[hits[i].term] != UINT8_MAX);
        assert_true(i == 0 || hits[i - 1].term < hits[i].term);
        if (doc_count <= least) { /* hits come by term: the newest of them is the last */
            least = doc_count;
            newest = hits[i].term;
        }
        nearest[hits[i].term] = UINT8_MAX;
    }
    for (termid term = 0; term < world->naive.term_count; term++) {
        if (nearest[term] == UINT8_MAX)
            continue;
        assert_true(world->doc_counts[term] * 2 < least * 3 || (least == 0 && term > newest));
        assert_true(world->doc_counts[term] != least || term > newest);
    }
    *cut_count += count < wanted;
}

/* As documents would, some words much more than others. */
static void weigh_words(struct world *world)
{
    for (termid term = 0; term < world->naive.term_count; term++)
        world->doc_counts[term] =
            rng_below(&world->rng, 4)
                ? (uint32_t)rng_below(&world->rng, UINT64_C(1) << rng_below(&world->rng, 20))
                : 0;
    lexicon_weigh(world->lexicon, world->doc_counts, world->naive.term_count);
    world->is_weighed = true;
}

/* With all forms sorted: the oldest terms that begin so, half of max of them. */
static void check_some(struct world *world, const char *prefix, size_t *cut_count)
{
    static uint8_t nearest[NAIVE_MAX];
    struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
    size_t wanted = naive_expand(&world->naive, "", -1, prefix, nearest);
    bool is_sorted = lexicon_sizes(world->lexicon).tail_count == 0;
    size_t max = 2 + 2 * rng_below(&world->rng, 40);
    termid term = 0;
    size_t count;

    if (world->is_weighed) {
        check_weighed(world, prefix, cut_count);
        return;
    }
    lexicon_prefix_some(world->lexicon, bytes_of(prefix), 1, hits, max, &count);
    assert_true(count <= max && count <= wanted);
    assert_true(count == wanted || count >= max / 2);
    if (is_sorted)
        assert_int_equal(count, wanted < max / 2 ? wanted : max / 2);
    for (size_t i = 0; i < count; i++, term++) {
        assert_true(nearest[hits[i].term] != UINT8_MAX);
        assert_true(i == 0 || hits[i - 1].term < hits[i].term);
        while (is_sorted && nearest[term] == UINT8_MAX)
            term++;
        assert_true(!is_sorted || hits[i].term == term);
    }
    *cut_count += is_sorted && count < wanted;
}

static void expansion_equals_brute_force(void **state)
{
    struct world world;
    size_t hit_count = 0;
    size_t cut_count = 0;
    struct err err;

    open_world(&world);
    OK(lexicon_open(NULL, 0, &world.lexicon, &err));
    for (int i = 0; i < 400; i++) {
        char word[WORD_SIZE], prefix[WORD_SIZE] = "";
        size_t exact = rng_below(&world.rng, 3);
        size_t size = 0;

        if (i % 20 == 0) {
            add_words(&world, i < 100 ? 30 : 150);
            if (i >= 200)
                weigh_words(&world);
            else if (rng_below(&world.rng, 2))
                lexicon_sort(world.lexicon);
            if (i % 60 == 0 && rng_below(&world.rng, 2))
                lexicon_reclaim(world.lexicon, NULL);
        }
        random_word(&world.rng, word);
        for (size_t left = exact; left > 0 && word[size]; left--)
            size += (uint8_t)word[size] < 0x80 ? 1 : 2;
        memcpy(prefix, word, size);
        prefix[size] = 0;
        check_expansion(&world, word, (int)rng_below(&world.rng, 3), exact, prefix, &hit_count);
        check_expansion(&world, word, -1, 0, prefix, &hit_count);
        check_expansion(&world, word, -1, 0, word, &hit_count);
        check_some(&world, prefix, &cut_count);
        check_some(&world, "", &cut_count);
    }
    assert_true(cut_count > 0);
    lexicon_sort(world.lexicon);
    assert_int_equal(lexicon_sizes(world.lexicon).tail_count, 0);
    printf("# %zu hits, %u forms\n", hit_count, world.naive.count);
    assert_true(hit_count > 1000);
    close_world(&world);
}

/* What came behind the weighed ones is rare until the next weighing; the others keep their place.
 */
static void a_sort_keeps_what_was_weighed(void **state)
{
    enum { OLD = 300, NEW = 40, OFTEN = 250 };
    struct lexicon_hit hits[8];
    struct lexicon_entry entry;
    uint32_t doc_counts[OLD + NEW] = {0};
    struct world world;
    size_t count;
    struct err err;

    open_world(&world);
    OK(lexicon_open(NULL, 0, &world.lexicon, &err));
    for (uint32_t i = 0; i < OLD + NEW; i++) {
        char word[WORD_SIZE];

        snprintf(word, sizeof(word), "%u", 1000 + i); /* which no stemmer touches: term i */
        OK(lexicon_add(world.lexicon, world.analysis, bytes_of(word), SCRIPT_NONE, &entry, &err));
        assert_int_equal(entry.term, i);
        if (i + 1 == OLD) {
            doc_counts[OFTEN] = 100;
            lexicon_weigh(world.lexicon, doc_counts, OLD);
        }
    }
    lexicon_sort(world.lexicon);
    lexicon_prefix_some(world.lexicon, bytes_of("1"), 1, hits, 8, &count);
    assert_int_equal(count, 1);
    assert_int_equal(hits[0].term, OFTEN);
    doc_counts[OLD + 1] = 200; /* has become frequent late */
    lexicon_weigh(world.lexicon, doc_counts, OLD + NEW);
    lexicon_prefix_some(world.lexicon, bytes_of("1"), 1, hits, 8, &count);
    assert_int_equal(count, 1);
    assert_int_equal(hits[0].term, OLD + 1);
    close_world(&world);
}

static void long_words_forgive_more(void **state)
{
    assert_int_equal(lexicon_fuzzy_distance(bytes_of("кот")), 0);
    assert_int_equal(lexicon_fuzzy_distance(bytes_of("коты")), 1);
    assert_int_equal(lexicon_fuzzy_distance(bytes_of("ноутбук")), 1);
    assert_int_equal(lexicon_fuzzy_distance(bytes_of("ноутбуки")), 2);
}

/* ---- Threads ---- */

struct shared {
    struct lexicon *lexicon;
    _Atomic uint32_t added;
    _Atomic bool stop;
    _Atomic unsigned found, wrong;
};

enum { SHARED_WORDS = 20000 };

/* Word n is the number n, which no stemmer touches: it is term n. */
static void *read_words(void *given)
{
    struct shared *shared = given;
    struct rng rng = rng_seeded((uintptr_t)&rng);

    while (!atomic_load(&shared->stop)) {
        uint32_t added = atomic_load(&shared->added);
        struct lexicon_hit hits[LEXICON_EXPAND_COUNT_MAX];
        struct lexicon_entry entry;
        char word[WORD_SIZE];
        uint32_t number;
        size_t count;

        if (added == 0)
            continue;
        number = (uint32_t)rng_below(&rng, added);
        snprintf(word, sizeof(word), "%u", number);
        if (!lexicon_find(shared->lexicon, bytes_of(word), &entry) || entry.term != number ||
            !bytes_equal_text(lexicon_form(shared->lexicon, entry), word) ||
            !bytes_equal_text(lexicon_term(shared->lexicon, entry.term), word))
            atomic_fetch_add(&shared->wrong, 1);
        if (rng_below(&rng, 200) == 0) {
            lexicon_prefix(shared->lexicon, bytes_of(word), hits, ARRAY_COUNT(hits), &count, NULL);
            if (count == 0)
                atomic_fetch_add(&shared->wrong, 1);
            lexicon_fuzzy(shared->lexicon, bytes_of(word), 1, 1, hits, ARRAY_COUNT(hits), &count,
                          NULL);
            if (count == 0)
                atomic_fetch_add(&shared->wrong, 1);
            lexicon_prefix_some(shared->lexicon, bytes_of(word), 8, hits, ARRAY_COUNT(hits),
                                &count);
            if (count == 0)
                atomic_fetch_add(&shared->wrong, 1);
        }
        atomic_fetch_add(&shared->found, 1);
    }
    return NULL;
}

static void *sort_words(void *given)
{
    struct shared *shared = given;
    uint32_t *doc_counts = mem_array(SHARED_WORDS, sizeof(*doc_counts));
    uint32_t sorted = 0;

    for (uint32_t i = 0; i < SHARED_WORDS; i++)
        doc_counts[i] = i;
    while (!atomic_load(&shared->stop)) {
        struct lexicon_sizes sizes = lexicon_sizes(shared->lexicon);

        if (sizes.tail_count <= 1000)
            sched_yield();
        else if (sorted++ % 2)
            lexicon_sort(shared->lexicon);
        else
            lexicon_weigh(shared->lexicon, doc_counts, sizes.term_count);
    }
    free(doc_counts);
    return NULL;
}

static void readers_beside_the_writer(void **state)
{
    struct world world;
    struct shared shared = {0};
    pthread_t readers[2], sorter;
    uint64_t durable;
    struct err err;

    open_world(&world);
    OK(lexicon_open(world.path, 0, &world.lexicon, &err));
    shared.lexicon = world.lexicon;
    for (size_t i = 0; i < ARRAY_COUNT(readers); i++)
        pthread_create(&readers[i], NULL, read_words, &shared);
    pthread_create(&sorter, NULL, sort_words, &shared);
    for (uint32_t i = 0; i < SHARED_WORDS; i++) {
        struct lexicon_entry entry;
        char word[WORD_SIZE];

        snprintf(word, sizeof(word), "%u", i);
        OK(lexicon_add(world.lexicon, world.analysis, bytes_of(word), SCRIPT_NONE, &entry, &err));
        atomic_store(&shared.added, i + 1);
        if (i % 2000 == 0)
            OK(lexicon_sync(world.lexicon, &durable, &err));
    }
    while (atomic_load(&shared.found) < 2000)
        sched_yield();
    atomic_store(&shared.stop, true);
    for (size_t i = 0; i < ARRAY_COUNT(readers); i++)
        pthread_join(readers[i], NULL);
    pthread_join(sorter, NULL);
    assert_int_equal(atomic_load(&shared.wrong), 0);
    lexicon_reclaim(world.lexicon, NULL);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_an_array_and_reopens),
        cmocka_unit_test(resolves_by_the_stem),
        cmocka_unit_test(adds_tokens_in_their_order),
        cmocka_unit_test(torn_tail_is_cut),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(damage_inside_is_no_torn_tail),
        cmocka_unit_test(other_rules_are_refused),
        cmocka_unit_test(survives_kills),
        cmocka_unit_test(expansion_equals_brute_force),
        cmocka_unit_test(a_sort_keeps_what_was_weighed),
        cmocka_unit_test(long_words_forgive_more),
        cmocka_unit_test(readers_beside_the_writer),
    };

    threads_only("readers_beside_the_writer");
    return cmocka_run_group_tests_name("lexicon", tests, NULL, NULL);
}
