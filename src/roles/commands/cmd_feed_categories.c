/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_feed_categories.c - torg feed categories: what a feed's own categories are, kept for all its
 * imports. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/object.h"
#include "feeds/bounds.h"
#include "roles/commands/feed_print.h"
#include "roles/commands/print.h"

struct asking {
    const struct invocation *invocation;
    struct feed_desk *desk;
    char *seller;
    char *feed;
    bool is_russian;
};

static int ask(const struct asking *asking, const char *method, ProtobufCMessage **response,
               struct err *err)
{
    Torg__V1__FeedRequest request = TORG__V1__FEED_REQUEST__INIT;

    request.seller = asking->seller;
    request.feed = asking->feed;
    return feed_desk_call(asking->desk, method, &request.base, response, err);
}

static int set(const struct asking *asking, ProtobufCMessage **response, struct err *err)
{
    Torg__V1__SetFeedCategoriesRequest request = TORG__V1__SET_FEED_CATEGORIES_REQUEST__INIT;
    const char *path = asking->invocation->arguments[1];
    struct buf content = BUF_INIT(FEED_MAP_KEPT_SIZE_MAX);
    int rc = file_read(path, &content, err);

    if (!rc) {
        request.seller = asking->seller;
        request.feed = asking->feed;
        request.content.data = content.data;
        request.content.len = content.size;
        rc = feed_desk_call(asking->desk, "SetCategories", &request.base, response, err);
        if (rc == ERR_INVALID)
            err_wrap(err, "%s", path);
    }
    buf_release(&content);
    return rc;
}

static int act(const struct asking *asking, struct err *err)
{
    const struct invocation *invocation = asking->invocation;
    const char *action = invocation->arguments[0];
    bool is_show = strcmp(action, "show") == 0;
    bool is_set = strcmp(action, "set") == 0;
    const Torg__V1__FeedCategories *told;
    ProtobufCMessage *response = NULL;
    int rc = is_set ? set(asking, &response, err)
                    : ask(asking, is_show ? "GetCategories" : "RemoveCategories", &response, err);

    if (rc)
        return rc;
    told = (const Torg__V1__FeedCategories *)response;
    if (invocation->json)
        print_json(response);
    else if (is_show)
        fwrite(told->content.data, 1, told->content.len, stdout);
    else if (asking->is_russian)
        printf("таблица категорий фида %s продавца %s %s\n", told->feed, told->seller,
               is_set ? "сохранена: по ней пойдут следующие загрузки" : "забыта");
    else
        printf("the categories of feed %s of seller %s are %s\n", told->feed, told->seller,
               is_set ? "set: its next imports use them" : "forgotten");
    return 0;
}

static int check_words(const struct invocation *invocation, struct err *err)
{
    const char *action = invocation->arguments[0];
    bool is_set = strcmp(action, "set") == 0;

    if (!is_set && strcmp(action, "show") != 0 && strcmp(action, "remove") != 0)
        return err_set(err, ERR_INVALID,
                       "torg feed categories %.64s: expected one of show, set, remove", action);
    if (is_set && invocation->argument_count < 2)
        return err_set(err, ERR_INVALID, "torg feed categories set needs a FILE");
    if (!is_set && invocation->argument_count > 1)
        return err_set(err, ERR_INVALID, "torg feed categories %s takes no \"%.200s\"", action,
                       invocation->arguments[1]);
    return 0;
}

enum exit_code cmd_feed_categories(const struct invocation *invocation)
{
    struct asking asking = {.invocation = invocation};
    struct err err;
    int rc;

    object_check(invocation, INVOCATION_MAGIC);
    rc = check_words(invocation, &err);
    if (!rc)
        rc = feed_names(invocation, &asking.seller, &asking.feed, &err);
    if (!rc)
        rc = feed_language(invocation, &asking.is_russian, &err);
    if (!rc)
        rc = feed_desk_open(invocation, &asking.desk, &err);
    if (!rc)
        rc = act(&asking, &err);
    feed_desk_close(asking.desk);
    return rc ? fail(&err) : EXIT_OK;
}
