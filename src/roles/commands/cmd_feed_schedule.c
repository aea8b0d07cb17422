/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_feed_schedule.c - torg feed schedule: feeds that are fetched by their addresses. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "feeds/report/russian.h"
#include "roles/commands/feed_file_options.h"
#include "roles/commands/feed_print.h"
#include "roles/commands/print.h"

enum { PERIOD_S_DEFAULT = 3600, LOOK_MS = 200 };

#define STATE(name) TORG__V1__FEED_SCHEDULE__STATE__##name
#define OUTCOME(name) TORG__V1__FEED_RUN__OUTCOME__##name

/* --- what is told --- */

static const char *state_text(const Torg__V1__FeedSchedule *schedule, bool is_russian)
{
    if (schedule->state == STATE(PAUSED))
        return is_russian ? "приостановлен" : "paused";
    if (schedule->state == STATE(STOPPED))
        return is_russian ? "остановлен" : "stopped";
    if (schedule->failure_count)
        return is_russian ? "не получается" : "failing";
    return is_russian ? "работает" : "active";
}

static const char *outcome_text(const Torg__V1__FeedRun *run, bool is_russian)
{
    static const char *const names[][2] = {
        [OUTCOME(OUTCOME_UNSPECIFIED)] = {"unknown", "неизвестно"},
        [OUTCOME(UNCHANGED)] = {"unchanged", "не менялся"},
        [OUTCOME(APPLIED)] = {"applied", "загружен"},
        [OUTCOME(HELD)] = {"held", "ждёт решения"},
        [OUTCOME(FAILED)] = {"failed", "не получилось"},
    };

    return names[(size_t)run->outcome < ARRAY_COUNT(names) ? run->outcome : 0][is_russian];
}

/* "1h", "90m", "45s": as --every takes it. */
static const char *period_text(int64_t seconds, struct arena *arena)
{
    if (seconds % 3600 == 0)
        return arena_printf(arena, "%" PRId64 "h", seconds / 3600);
    if (seconds % 60 == 0)
        return arena_printf(arena, "%" PRId64 "m", seconds / 60);
    return arena_printf(arena, "%" PRId64 "s", seconds);
}

static void print_run(const Torg__V1__FeedRun *run, bool is_russian, struct arena *arena)
{
    printf("  %s  %s", time_text(run->time, arena),
           feed_padded(outcome_text(run, is_russian), is_russian ? 13 : 9, arena));
    if (run->task_id)
        printf(is_russian ? "  загрузка %" PRId64 : "  task %" PRId64, run->task_id);
    if (run->counts)
        printf(is_russian ? ": записей %" PRId64 ", создано %" PRId64 ", изменено %" PRId64
                            ", не принято %" PRId64 ", удалено %" PRId64
                          : ": %" PRId64 " rows, %" PRId64 " created, %" PRId64 " updated, %" PRId64
                            " refused, %" PRId64 " deleted",
               run->counts->rows, run->counts->created + run->counts->revived, run->counts->updated,
               run->counts->refused, run->counts->deleted);
    if (*run->reason)
        printf("  %s", feed_reason_said(run->reason, is_russian, arena));
    putchar('\n');
}

static void print_reading_in_russian(const Torg__V1__FeedReading *reading)
{
    if (*reading->format)
        printf("формат файла: %s\n", reading->format);
    if (*reading->encoding)
        printf("кодировка: %s\n", reading->encoding);
    if (*reading->delimiter)
        printf("значения разделены знаком «%s»\n", reading->delimiter);
    if (*reading->currency)
        printf("цены без валюты: %s\n", reading->currency);
    if (*reading->decimal)
        printf("перед дробной частью: %s\n",
               strcmp(reading->decimal, "comma") == 0 ? "запятая" : "точка");
    if (reading->shorten)
        puts("слишком длинные названия и описания сокращаются");
    if (*reading->category)
        printf("записи, категория которых не из наших, идут в %s\n", reading->category);
}

static void print_reading(const Torg__V1__FeedReading *reading)
{
    if (!reading)
        return;
    if (*reading->format)
        printf("its format is %s\n", reading->format);
    if (*reading->encoding)
        printf("its encoding is %s\n", reading->encoding);
    if (*reading->delimiter)
        printf("its values are separated by \"%s\"\n", reading->delimiter);
    if (*reading->currency)
        printf("prices without a currency are in %s\n", reading->currency);
    if (*reading->decimal)
        printf("its decimal sign is a %s\n", reading->decimal);
    if (reading->shorten)
        puts("titles and descriptions that are too long are shortened");
    if (*reading->category)
        printf("rows whose category is none of ours get %s\n", reading->category);
}

static void print_schedule_in_russian(const Torg__V1__FeedSchedule *schedule, struct arena *arena)
{
    printf("фид %s продавца %s: %s раз в %s, %s\n", schedule->feed, schedule->seller,
           schedule->address, period_text(schedule->period_seconds, arena),
           state_text(schedule, true));
    if (schedule->reading)
        print_reading_in_russian(schedule->reading);
    if (schedule->next_time)
        printf("следующий раз: %s\n", time_text(schedule->next_time, arena));
    if (schedule->failure_count)
        printf("неудач подряд: %d; последняя: %s\n", schedule->failure_count,
               feed_reason_said(schedule->reason, true, arena));
    if (schedule->state == STATE(STOPPED))
        printf("его больше не забирают; когда причина устранена: torg feed schedule resume "
               "--seller %s --feed %s\n",
               schedule->seller, schedule->feed);
    if (schedule->n_runs)
        puts("запуски, новые сверху:");
    for (size_t i = 0; i < schedule->n_runs; i++)
        print_run(schedule->runs[i], true, arena);
}

static void print_schedule(const Torg__V1__FeedSchedule *schedule, struct arena *arena)
{
    printf("feed %s of seller %s: %s every %s, %s\n", schedule->feed, schedule->seller,
           schedule->address, period_text(schedule->period_seconds, arena),
           state_text(schedule, false));
    print_reading(schedule->reading);
    if (schedule->next_time)
        printf("next run: %s\n", time_text(schedule->next_time, arena));
    if (schedule->failure_count)
        printf("%d runs in a row have failed: %s\n", schedule->failure_count, schedule->reason);
    if (schedule->state == STATE(STOPPED))
        printf("it is no longer fetched; once the cause is fixed: torg feed schedule resume "
               "--seller %s "
               "--feed %s\n",
               schedule->seller, schedule->feed);
    if (schedule->n_runs)
        puts("runs, the newest first:");
    for (size_t i = 0; i < schedule->n_runs; i++)
        print_run(schedule->runs[i], false, arena);
}

static void tell(const struct invocation *invocation, const Torg__V1__FeedSchedule *schedule,
                 bool is_russian)
{
    if (invocation->json)
        print_json(&schedule->base);
    else if (is_russian)
        print_schedule_in_russian(schedule, invocation->arena);
    else
        print_schedule(schedule, invocation->arena);
}

/* --- what is done --- */

struct asking {
    const struct invocation *invocation;
    struct feed_desk *desk;
    char *seller;
    char *feed;
    bool is_russian;
};

static char *option_text(const struct invocation *invocation, const char *name)
{
    const char *text = invocation_option(invocation, name);

    return (char *)(text ? text : "");
}

static void fill_reading(const struct invocation *invocation, char decimal,
                         Torg__V1__FeedReading *reading)
{
    reading->category = option_text(invocation, "category");
    reading->format = option_text(invocation, "format");
    reading->encoding = option_text(invocation, "encoding");
    reading->delimiter = option_text(invocation, "delimiter");
    reading->currency = option_text(invocation, "currency");
    reading->shorten = invocation_option(invocation, "shorten") != NULL;
    if (decimal)
        reading->decimal = (char *)(decimal == ',' ? "comma" : "point");
}

static int add(const struct asking *asking, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    const struct invocation *invocation = asking->invocation;
    const char *every = invocation_option(invocation, "every");
    Torg__V1__SetFeedScheduleRequest request = TORG__V1__SET_FEED_SCHEDULE_REQUEST__INIT;
    Torg__V1__FeedReading reading = TORG__V1__FEED_READING__INIT;
    int64_t period_us = (int64_t)PERIOD_S_DEFAULT * SECOND_US;
    char decimal;
    int rc = feed_file_decimal(invocation, &decimal, err);

    if (rc)
        return rc;
    if (every && (!text_to_duration(bytes_of(every), &period_us) || period_us % SECOND_US))
        return err_set(err, ERR_INVALID, "--every=%.64s: expected whole seconds, as 30m or 6h",
                       every);
    request.seller = asking->seller;
    request.feed = asking->feed;
    request.address = (char *)invocation->arguments[1];
    request.period_seconds = period_us / SECOND_US;
    fill_reading(invocation, decimal, &reading);
    request.reading = &reading;
    return feed_desk_call(asking->desk, "SetSchedule", &request.base, (ProtobufCMessage **)schedule,
                          err);
}

static int ask(const struct asking *asking, const char *method, Torg__V1__FeedSchedule **schedule,
               struct err *err)
{
    Torg__V1__FeedRequest request = TORG__V1__FEED_REQUEST__INIT;

    request.seller = asking->seller;
    request.feed = asking->feed;
    return feed_desk_call(asking->desk, method, &request.base, (ProtobufCMessage **)schedule, err);
}

/* Until it has been fetched, by whichever process does that. */
static int run(const struct asking *asking, Torg__V1__FeedSchedule **schedule, struct err *err)
{
    Torg__V1__RunFeedScheduleRequest request = TORG__V1__RUN_FEED_SCHEDULE_REQUEST__INIT;
    int64_t before;
    int rc;

    request.seller = asking->seller;
    request.feed = asking->feed;
    request.again = invocation_option(asking->invocation, "again") != NULL;
    rc = feed_desk_call(asking->desk, "RunSchedule", &request.base, (ProtobufCMessage **)schedule,
                        err);
    if (rc || !feed_desk_is_served(asking->desk))
        return rc;
    for (before = (*schedule)->run_count; !rc && (*schedule)->run_count == before;) {
        clock_sleep(clock_system(), LOOK_MS * MS_US);
        rc = ask(asking, "GetSchedule", schedule, err);
        if (!rc && (*schedule)->state != STATE(ACTIVE))
            break;
    }
    return rc;
}

static void print_line(const Torg__V1__FeedSchedule *one, bool is_russian, struct arena *arena)
{
    printf("%-16s %s %6s  %s  %s\n", one->feed,
           feed_padded(state_text(one, is_russian), is_russian ? 13 : 8, arena),
           period_text(one->period_seconds, arena),
           feed_padded(one->n_runs ? outcome_text(one->runs[0], is_russian) : "-",
                       is_russian ? 13 : 9, arena),
           one->address);
}

static int list(const struct asking *asking, struct err *err)
{
    const struct invocation *invocation = asking->invocation;
    Torg__V1__ListFeedSchedulesRequest request = TORG__V1__LIST_FEED_SCHEDULES_REQUEST__INIT;
    const Torg__V1__ListFeedSchedulesResponse *found;
    ProtobufCMessage *response = NULL;
    int rc;

    request.seller = asking->seller;
    rc = feed_desk_call(asking->desk, "ListSchedules", &request.base, &response, err);
    if (rc)
        return rc;
    found = (const Torg__V1__ListFeedSchedulesResponse *)response;
    for (size_t i = 0; i < found->n_schedules; i++) {
        const Torg__V1__FeedSchedule *one = found->schedules[i];

        if (invocation->json)
            print_json(&one->base);
        else
            print_line(one, asking->is_russian, invocation->arena);
    }
    if (!found->n_schedules && !invocation->json)
        printf(asking->is_russian ? "ни у одного фида продавца %s нет адреса\n"
                                  : "no feed of seller %s is fetched by address\n",
               asking->seller);
    return 0;
}

/* --- the command --- */

static const struct {
    const char *name;
    const char *method; /* of one that has a feed and no more */
} actions[] = {{"add", NULL},
               {"list", NULL},
               {"show", "GetSchedule"},
               {"pause", "PauseSchedule"},
               {"resume", "ResumeSchedule"},
               {"run", NULL},
               {"remove", "RemoveSchedule"}};

static int check_words(const struct invocation *invocation, const char **method, struct err *err)
{
    const char *action = invocation->arguments[0];
    bool is_add = strcmp(action, "add") == 0;

    for (size_t i = 0; i < ARRAY_COUNT(actions); i++) {
        if (strcmp(actions[i].name, action) != 0)
            continue;
        *method = actions[i].method;
        if (is_add && invocation->argument_count < 2)
            return err_set(err, ERR_INVALID, "torg feed schedule add needs an ADDRESS");
        if (!is_add && invocation->argument_count > 1)
            return err_set(err, ERR_INVALID, "torg feed schedule %s takes no \"%.200s\"", action,
                           invocation->arguments[1]);
        return 0;
    }
    return err_set(err, ERR_INVALID,
                   "torg feed schedule %.64s: expected one of add, list, show, pause, resume, run, "
                   "remove",
                   action);
}

static int act(const struct asking *asking, const char *method, struct err *err)
{
    const struct invocation *invocation = asking->invocation;
    const char *action = invocation->arguments[0];
    Torg__V1__FeedSchedule *schedule = NULL;
    int rc;

    if (strcmp(action, "list") == 0)
        return list(asking, err);
    if (strcmp(action, "add") == 0)
        rc = add(asking, &schedule, err);
    else if (strcmp(action, "run") == 0)
        rc = run(asking, &schedule, err);
    else
        rc = ask(asking, method, &schedule, err);
    if (rc)
        return rc;
    if (strcmp(action, "remove") == 0 && !invocation->json)
        printf(asking->is_russian ? "фид %s продавца %s больше не забирают с %s\n"
                                  : "feed %s of seller %s is no longer fetched from %s\n",
               schedule->feed, schedule->seller, schedule->address);
    else
        tell(invocation, schedule, asking->is_russian);
    if (schedule->state == STATE(ACTIVE) && !feed_desk_is_served(asking->desk))
        fputs(asking->is_russian ? "сервер здесь не работает: файл заберут, когда он заработает\n"
                                 : "no server runs here: it is fetched when one does\n",
              stderr);
    return 0;
}

enum exit_code cmd_feed_schedule(const struct invocation *invocation)
{
    struct asking asking = {.invocation = invocation};
    const char *method = NULL;
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    rc = check_words(invocation, &method, &err);
    if (!rc)
        rc = feed_names(invocation, &asking.seller, &asking.feed, &err);
    if (!rc)
        rc = feed_language(invocation, &asking.is_russian, &err);
    if (!rc)
        rc = feed_desk_open(invocation, &asking.desk, &err);
    if (!rc)
        rc = act(&asking, method, &err);
    feed_desk_close(asking.desk);
    return rc ? fail(&err) : EXIT_OK;
}
