/* SPDX-License-Identifier: Apache-2.0 */
/* feed_print.c - see feed_print.h. */
#include "roles/commands/feed_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "catalog/words.h"
#include "feeds/mapping/mapping.h"
#include "feeds/report/reasons.h"
#include "feeds/report/report.h"
#include "feeds/report/russian.h"
#include "roles/commands/print.h"

#define STATE(name) TORG__V1__FEED_TASK__STATE__##name
#define HOLD(name) TORG__V1__FEED_TASK__HOLD__##name

enum {
    REASONS_SIZE_MAX = 4 << 20, /* of 200 groups: they are some hundred bytes each */
    UNKNOWN_SHOWN_MAX = 8,
};

const char *feed_task_state_text(const Torg__V1__FeedTask *task, bool is_russian)
{
    static const char *const names[][2] = {
        [STATE(RUNNING)] = {"running", "читается"},
        [STATE(HELD)] = {"held", "ждёт решения"},
        [STATE(ENDING)] = {"deleting", "удаляет"},
        [STATE(DONE)] = {"done", "готово"},
        [STATE(CANCELLED)] = {"cancelled", "оставлено"},
        [STATE(UNDOING)] = {"being undone", "отменяется"},
        [STATE(UNDONE)] = {"undone", "отменено"},
    };

    if ((size_t)task->state >= ARRAY_COUNT(names) || !names[task->state][0])
        return is_russian ? "неизвестно" : "unknown";
    return names[task->state][is_russian];
}

const char *feed_padded(const char *text, size_t width, struct arena *arena)
{
    size_t length = text_length(bytes_of(text));

    return arena_printf(arena, "%s%*s", text, (int)(length < width ? width - length : 0), "");
}

void feed_print_counts(const Torg__V1__FeedTask *task, bool is_russian)
{
    static const Torg__V1__FeedCounts none = TORG__V1__FEED_COUNTS__INIT;
    const Torg__V1__FeedCounts *counts = task->counts ? task->counts : &none;
    const struct {
        int64_t count;
        const char *names[2];
        const char *more[2];
    } lines[] = {
        {counts->created, {"created", "создано"}, {"", ""}},
        {counts->updated, {"updated", "изменено"}, {"", ""}},
        {counts->unchanged, {"unchanged", "без перемен"}, {"", ""}},
        {counts->revived,
         {"revived", "возвращено"},
         {": deleted not long ago, back with their ids",
          ": были удалены недавно, вернулись со своими номерами"}},
        {counts->banned,
         {"banned", "отклонено"},
         {", and stay so", " модератором, и таким остаётся"}},
        {counts->left,
         {"left", "оставлено"},
         {": a later task has touched them", ": их касалась более поздняя загрузка"}},
        {counts->refused, {"refused", "не принято"}, {"", ""}},
        {counts->deleted, {"deleted", "удалено"}, {"", ""}},
        {counts->withdrawn,
         {"withdrawn", "снято"},
         {" of these: the feed calls them not available", " из них: в фиде их нет в наличии"}},
        {counts->undone, {"given back", "вернули"}, {"", ""}},
        {counts->undo_left,
         {"not given back", "не вернули"},
         {": touched since", ": их меняли с тех пор"}},
    };
    struct arena *arena = arena_new();

    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        if (lines[i].count)
            printf("  %s %8" PRId64 "%s\n", feed_padded(lines[i].names[is_russian], 14, arena),
                   lines[i].count, lines[i].more[is_russian]);
    }
    if (!counts->rows && !counts->deleted)
        puts(is_russian ? "  ничего" : "  nothing");
    arena_free(arena);
}

static const char *hold_in_russian(const Torg__V1__FeedTask *task, struct arena *arena)
{
    switch (task->hold) {
    case HOLD(MASS_DELETION):
        return arena_printf(arena, "она удалила бы %" PRId64 " из %" PRId64 " объявлений фида",
                            task->to_delete, task->had);
    case HOLD(MASS_WITHDRAWAL):
        return arena_printf(arena,
                            "в ней столько не в наличии, что она сняла бы %" PRId64 " из %" PRId64
                            " объявлений фида",
                            task->to_withdraw, task->had);
    case HOLD(EMPTY):
        return arena_printf(arena, "в ней нет записей, и она удалила бы все объявления: %" PRId64,
                            task->to_delete);
    case HOLD(CUT_SHORT):
        if (!task->to_delete)
            return "файл оборван";
        return arena_printf(arena,
                            "файл оборван, и удалились бы объявления, которые могли быть в "
                            "недостающей части: %" PRId64,
                            task->to_delete);
    case HOLD(COUNT_DIFFERS):
        return "пришло не столько записей, сколько было отправлено";
    default:
        return "на неё нужно взглянуть";
    }
}

static const char *hold_text(const Torg__V1__FeedTask *task, struct arena *arena)
{
    switch (task->hold) {
    case HOLD(MASS_DELETION):
        return arena_printf(
            arena, "it would delete %" PRId64 " of the %" PRId64 " offers that the feed had",
            task->to_delete, task->had);
    case HOLD(MASS_WITHDRAWAL):
        return arena_printf(arena,
                            "it calls so much not available that it would withdraw %" PRId64
                            " of the %" PRId64 " offers that the feed had",
                            task->to_withdraw, task->had);
    case HOLD(EMPTY):
        return arena_printf(arena, "it has no rows, and would delete all %" PRId64 " offers",
                            task->to_delete);
    case HOLD(CUT_SHORT):
        if (!task->to_delete)
            return "it was cut short";
        return arena_printf(arena,
                            "it was cut short, and would delete %" PRId64
                            " offers that may be in the missing part",
                            task->to_delete);
    case HOLD(COUNT_DIFFERS):
        return "fewer or more rows came than were sent";
    default:
        return "it needs to be looked at";
    }
}

/* "--seller s-17", with the feed's name where it has one. */
static const char *flags_of(const Torg__V1__FeedTask *task, struct arena *arena)
{
    if (strcmp(task->feed, "main") == 0 || !*task->feed)
        return arena_printf(arena, "--seller %s", task->seller);
    return arena_printf(arena, "--seller %s --feed %s", task->seller, task->feed);
}

/* Which a held task would delete, or withdraw. */
static void print_items(const char *title, Torg__V1__FeedItem *const *items, size_t count,
                        int64_t all, bool is_russian)
{
    if (count)
        puts(title);
    for (size_t i = 0; i < count; i++)
        printf("  %-20s %s\n", items[i]->external_id, items[i]->title);
    if (count && (int64_t)count < all)
        printf(is_russian ? "  и ещё %" PRId64 "\n" : "  and %" PRId64 " more\n",
               all - (int64_t)count);
}

static void print_held_in_russian(const Torg__V1__FeedTask *task, const char *flags,
                                  const char *name, struct arena *arena)
{
    bool has_rows = task->counts && task->counts->rows;
    bool has_losses = task->to_delete || task->to_withdraw;
    const char *yes = "завершить её как есть";

    if (task->to_delete && task->to_withdraw)
        yes = "удалить и снять их";
    else if (has_losses)
        yes = task->to_delete ? "удалить их" : "снять их";
    printf("загрузка %" PRId64 " фида %s ждёт решения: %s.\n", task->task_id, name,
           hold_in_russian(task, arena));
    print_items("Она удалила бы", task->first_to_delete, task->n_first_to_delete, task->to_delete,
                true);
    print_items("Она сняла бы то, чего по фиду нет в наличии:", task->first_to_withdraw,
                task->n_first_to_withdraw, task->to_withdraw, true);
    printf("%s. Теперь одно из двух:\n"
           "  torg feed confirm %s %" PRId64 "   %s\n"
           "  torg feed cancel %s %" PRId64 "    %s\n",
           has_rows ? "Её записи применены; ничего не удалено и не снято"
                    : "Ничего не удалено и не снято",
           flags, task->task_id, yes, flags, task->task_id,
           has_losses ? "оставить их" : "отказаться от неё; что сделали её записи, остаётся");
}

static void print_held(const Torg__V1__FeedTask *task, const char *flags, const char *name,
                       struct arena *arena)
{
    bool has_rows = task->counts && task->counts->rows;
    const char *yes = "end it as it is";
    const char *no = "drop it; what its rows did stays";

    if (task->to_delete && task->to_withdraw)
        yes = "delete and withdraw them";
    else if (task->to_delete)
        yes = "delete them";
    else if (task->to_withdraw)
        yes = "withdraw them";
    if (task->to_delete || task->to_withdraw)
        no = "keep them";
    printf("task %" PRId64 " of feed %s is held: %s.\n", task->task_id, name,
           hold_text(task, arena));
    print_items("It would delete", task->first_to_delete, task->n_first_to_delete, task->to_delete,
                false);
    print_items("It would withdraw, since the feed calls them not available",
                task->first_to_withdraw, task->n_first_to_withdraw, task->to_withdraw, false);
    printf("%s. Now do one of\n"
           "  torg feed confirm %s %" PRId64 "   %s\n"
           "  torg feed cancel %s %" PRId64 "    %s\n",
           has_rows ? "Its rows are applied; nothing was deleted or withdrawn"
                    : "Nothing was deleted or withdrawn",
           flags, task->task_id, yes, flags, task->task_id, no);
}

/* One that deletes most of a small feed is not held, and that is told. Of one that was held
 * somebody has decided. */
static void print_unheld(const Torg__V1__FeedTask *task, bool is_russian)
{
    if (task->hold || task->state != STATE(DONE) || task->to_delete * 2 <= task->had)
        return;
    printf(is_russian ? "удалено %" PRId64 " из %" PRId64 " объявлений фида; столько не "
                        "останавливают настройки feeds.guard_min и feeds.guard_share\n"
                      : "deleted %" PRId64 " of the %" PRId64 " offers that the feed had; "
                        "feeds.guard_min and feeds.guard_share hold nothing for so many\n",
           task->to_delete, task->had);
}

void feed_print_state(const Torg__V1__FeedTask *task, bool is_russian, struct arena *arena)
{
    const char *flags = flags_of(task, arena);
    const char *name = *task->feed ? task->feed : "main";
    const char *dry =
        is_russian ? ", проверка: ничего не изменено" : ": a dry run, which changed nothing";

    if (task->state == STATE(HELD)) {
        if (is_russian)
            print_held_in_russian(task, flags, name, arena);
        else
            print_held(task, flags, name, arena);
        return;
    }
    printf(is_russian ? "загрузка %" PRId64 " фида %s: %s%s\n"
                      : "task %" PRId64 " of feed %s is %s%s\n",
           task->task_id, name, feed_task_state_text(task, is_russian), task->dry_run ? dry : "");
    if (!task->dry_run)
        print_unheld(task, is_russian);
    if (task->undo_until)
        printf(is_russian ? "до %s её можно отменить: torg feed undo %s %" PRId64 "\n"
                          : "until %s it can be undone: torg feed undo %s %" PRId64 "\n",
               time_text(task->undo_until, arena), flags, task->task_id);
}

/* --- the report --- */

static int take_reasons(void *arg, const Torg__V1__FeedReportRow *row, struct err *err)
{
    const struct feed_groups *groups = arg;
    const struct feed_reason_example example = {
        .row = (uint64_t)row->row, .line = (uint64_t)row->line, .external_id = row->external_id};

    (void)err;
    for (size_t i = 0; i < row->n_problems; i++)
        feed_reasons_add(groups->refused, row->problems[i]->field, row->problems[i]->reason,
                         &example);
    for (size_t i = 0; groups->noted && i < row->n_notes; i++)
        feed_reasons_add(groups->noted, row->notes[i]->field, row->notes[i]->reason, &example);
    return 0;
}

int feed_groups_read(struct feed_desk *desk, const Torg__V1__FeedTask *task,
                     const struct feed_groups *groups, struct err *err)
{
    Torg__V1__GetFeedReportRequest request = TORG__V1__GET_FEED_REPORT_REQUEST__INIT;

    if (!groups->noted && (!task->counts || !task->counts->refused))
        return 0;
    request.seller = task->seller;
    request.feed = task->feed;
    request.task_id = task->task_id;
    if (!groups->noted)
        request.outcome = TORG__V1__FEED_REPORT_ROW__OUTCOME__REFUSED;
    return feed_desk_report(desk, &request, take_reasons, (void *)groups, err);
}

static void print_list(const char *title, struct feed_reasons *reasons, bool is_russian, FILE *to)
{
    struct buf out = BUF_INIT(REASONS_SIZE_MAX);

    feed_reasons_print(reasons, is_russian, &out);
    if (out.size)
        fprintf(to, "%s\n%s", title, buf_text(&out));
    buf_release(&out);
}

void feed_groups_print(const struct feed_groups *groups, FILE *to)
{
    bool is_russian = groups->is_russian;

    print_list(is_russian ? "отклонено, по причинам:" : "refused, by reason:", groups->refused,
               is_russian, to);
    if (groups->noted)
        print_list(is_russian ? "взято, но что-то пропущено или изменено:"
                              : "taken, with something left out or changed:",
                   groups->noted, is_russian, to);
}

/* The names of feeds/report/report.h for what the service says. */
static bool outcome_of(Torg__V1__FeedReportRow__Outcome outcome, enum feed_outcome *found)
{
    static const enum feed_outcome outcomes[] = {
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__CREATED] = FEED_CREATED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__UPDATED] = FEED_UPDATED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__UNCHANGED] = FEED_UNCHANGED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__BANNED] = FEED_BANNED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__REFUSED] = FEED_REFUSED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__LEFT] = FEED_LEFT,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__DELETED] = FEED_DELETED,
        [TORG__V1__FEED_REPORT_ROW__OUTCOME__REVIVED] = FEED_REVIVED,
    };

    if (outcome < 1 || (size_t)outcome >= ARRAY_COUNT(outcomes))
        return false;
    *found = outcomes[outcome];
    return true;
}

static void take_problems(Torg__V1__FeedProblem *const *list, size_t count,
                          struct violations *violations)
{
    for (size_t i = 0; i < count; i++)
        violations_add(violations, list[i]->field, "%s", list[i]->reason);
}

struct writing {
    struct feed_report *report;
    struct arena *arena; /* of a row */
};

static int write_row(void *arg, const Torg__V1__FeedReportRow *row, struct err *err)
{
    struct writing *writing = arg;
    struct violations reasons;
    struct violations notes;
    struct bytes *photos;
    struct feed_result result = {.row = (uint64_t)row->row, .line = (uint64_t)row->line};

    arena_reset(writing->arena);
    reasons = violations_in(writing->arena);
    notes = violations_in(writing->arena);
    photos = arena_array(writing->arena, row->n_photos_failed + 1, sizeof(*photos));
    if (!outcome_of(row->outcome, &result.outcome))
        return err_set(err, ERR_INTERNAL, "row %" PRId64 " has an outcome unknown here", row->row);
    take_problems(row->problems, row->n_problems, &reasons);
    take_problems(row->notes, row->n_notes, &notes);
    for (size_t i = 0; i < row->n_photos_failed; i++)
        photos[i] = bytes_of(row->photos_failed[i]->field);
    result.external_id = bytes_of(row->external_id);
    result.offer_id = bytes_of(row->offer_id);
    result.reasons = &reasons;
    result.notes = &notes;
    result.photos_failed = photos;
    result.photo_failed_count = row->n_photos_failed;
    return feed_report_add(writing->report, &result, err);
}

/* The row is the caller's for this call: its reasons are put back. */
static void print_said(const Torg__V1__FeedReportRow *row, struct arena *arena)
{
    Torg__V1__FeedReportRow told = *row;
    Torg__V1__FeedProblem **const lists[] = {told.problems, told.notes, told.photos_failed};
    const size_t counts[] = {told.n_problems, told.n_notes, told.n_photos_failed};

    for (size_t k = 0; k < ARRAY_COUNT(lists); k++)
        for (size_t i = 0; i < counts[k]; i++)
            lists[k][i]->reason = (char *)feed_reason_said(lists[k][i]->reason, true, arena);
    told.undo_reason = (char *)feed_reason_said(told.undo_reason, true, arena);
    print_json(&told.base);
}

static int print_row(void *arg, const Torg__V1__FeedReportRow *row, struct err *err)
{
    const bool *is_russian = arg;
    struct arena *arena = arena_new();

    (void)err;
    if (*is_russian)
        print_said(row, arena);
    else
        print_json(&row->base);
    arena_free(arena);
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t end_size = strlen(end);

    return size > end_size && strcmp(text + size - end_size, end) == 0;
}

int feed_check_report_path(const char *path, struct err *err)
{
    if (ends_with(path, ".json") || ends_with(path, ".csv") || ends_with(path, ".xml"))
        return 0;
    return err_set(err, ERR_INVALID, "--report=%.200s: end the name in .json, .csv or .xml", path);
}

int feed_write_report(struct feed_desk *desk, const Torg__V1__FeedTask *task,
                      Torg__V1__FeedReportRow__Outcome outcome, bool is_russian, const char *path,
                      struct err *err)
{
    Torg__V1__GetFeedReportRequest request = TORG__V1__GET_FEED_REPORT_REQUEST__INIT;
    struct feed_report_paths paths = {.is_russian = is_russian};
    struct writing writing = {0};
    int rc;

    request.seller = task->seller;
    request.feed = task->feed;
    request.task_id = task->task_id;
    request.outcome = outcome;
    if (strcmp(path, "-") == 0)
        return feed_desk_report(desk, &request, print_row, &is_russian, err);
    if (ends_with(path, ".json"))
        paths.json = path;
    else if (ends_with(path, ".xml"))
        paths.xml = path;
    else
        paths.csv = path;
    rc = feed_report_open(&paths, &writing.report, err);
    if (rc)
        return rc;
    writing.arena = arena_new();
    rc = feed_desk_report(desk, &request, write_row, &writing, err);
    if (rc)
        feed_report_abandon(writing.report);
    else
        rc = feed_report_close(writing.report, err);
    arena_free(writing.arena);
    return rc;
}

int feed_wait(struct feed_desk *desk, Torg__V1__FeedTask **task, struct err *err)
{
    Torg__V1__FeedTaskRequest request = TORG__V1__FEED_TASK_REQUEST__INIT;
    int rc = 0;

    request.seller = (*task)->seller;
    request.feed = (*task)->feed;
    request.task_id = (*task)->task_id;
    /* Asked again, both go on for a while; a worker may be at it too. */
    while (!rc && ((*task)->state == STATE(ENDING) || (*task)->state == STATE(UNDOING)))
        rc = feed_desk_do(desk, (*task)->state == STATE(ENDING) ? "ConfirmTask" : "UndoTask",
                          &request, task, err);
    if (!rc && (*task)->state == STATE(HELD)) /* with what it would delete */
        rc = feed_desk_do(desk, "GetTask", &request, task, err);
    return rc;
}

/* --- what no attribute is for --- */

static void print_unknown_names(const char *title, const struct feed_unknown *unknown, size_t count,
                                bool left_out, bool is_russian)
{
    size_t told = 0;
    size_t more = 0;

    for (size_t i = 0; i < count; i++) {
        if (unknown[i].is_left_out != left_out)
            continue;
        if (told == UNKNOWN_SHOWN_MAX) {
            more++;
            continue;
        }
        printf("%s %s (", told ? "," : title, unknown[i].name);
        if (is_russian)
            printf("строк: %" PRIu64 ")", unknown[i].count);
        else
            printf("%" PRIu64 " %s)", unknown[i].count, unknown[i].count == 1 ? "row" : "rows");
        told++;
    }
    if (more)
        printf(is_russian ? " и ещё %zu" : " and %zu more", more);
    if (told)
        putchar('\n');
}

void feed_print_unknown(struct feed_mapping *mapping, bool is_russian)
{
    size_t count;
    const struct feed_unknown *unknown = feed_mapping_unknown(mapping, &count);

    print_unknown_names(is_russian ? "сохранено как дополнительные свойства, таких в категории нет:"
                                   : "kept as extra properties, since their categories have no "
                                     "such attribute:",
                        unknown, count, false, is_russian);
    print_unknown_names(is_russian ? "пропущено, судя по названию это не для покупателей:"
                                   : "left out, since by their names they are not for buyers:",
                        unknown, count, true, is_russian);
}

void feed_put_unknown(struct feed_mapping *mapping, struct buf *out)
{
    static const char *const lists[] = {"extra", "leftOut"};
    size_t count;
    const struct feed_unknown *unknown = feed_mapping_unknown(mapping, &count);

    for (size_t k = 0; k < ARRAY_COUNT(lists); k++) {
        const char *before = "";

        buf_printf(out, ",\"%s\":[", lists[k]);
        for (size_t i = 0; i < count; i++) {
            if (unknown[i].is_left_out != (k == 1))
                continue;
            buf_printf(out, "%s{\"name\":", before);
            text_put_json(out, bytes_of(unknown[i].name));
            buf_printf(out, ",\"rows\":%" PRIu64 "}", unknown[i].count);
            before = ",";
        }
        buf_put_text(out, "]");
    }
}

/* --- the command line --- */

int feed_language(const struct invocation *invocation, bool *is_russian, struct err *err)
{
    const char *given = invocation_option(invocation, "language");

    object_check(invocation, INVOCATION_MAGIC);
    *is_russian = given && strcmp(given, "ru") == 0;
    if (!given || *is_russian || strcmp(given, "en") == 0)
        return 0;
    return err_set(err, ERR_INVALID, "--language=%.64s: expected en or ru", given);
}

int feed_names(const struct invocation *invocation, char **seller, char **feed, struct err *err)
{
    const char *given = invocation_option(invocation, "seller");
    const char *name = invocation_option(invocation, "feed");

    object_check(invocation, INVOCATION_MAGIC);
    if (!given || !*given)
        return err_set(err, ERR_INVALID, "torg %s needs --seller SELLER: whose feed it is",
                       invocation->command->name);
    /* protobuf-c's strings are not const; nothing writes to them. */
    *seller = (char *)given;
    *feed = (char *)(name ? name : "main");
    return 0;
}

int feed_task_number(const char *what, const char *text, int64_t *number, struct err *err)
{
    if (text_to_i64(bytes_of(text), number) && *number > 0)
        return 0;
    return err_set(err, ERR_INVALID, "%s %.64s: expected a task's number", what, text);
}
