/* SPDX-License-Identifier: Apache-2.0 */
/* service_categories.c - see service_categories.h. */
#include "feeds/service_categories.h"

#include "feeds/service_schedule.h"
#include "feeds/tasks/kept_map.h"

static int key_of(struct call *call, bool acts, const char *seller, const char *feed,
                  struct feed_key *key, struct err *err)
{
    int rc = feed_call_key(call, acts, seller, feed, 1, key, err);

    key->actor = call_actor(call);
    return rc;
}

int feed_call_set_categories(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__SetFeedCategoriesRequest *sent =
        (const Torg__V1__SetFeedCategoriesRequest *)request;
    struct bytes content = bytes_make(sent->content.data, sent->content.len);
    Torg__V1__FeedCategories *now = NULL;
    struct feed_key key;
    int rc = key_of(call, true, sent->seller, sent->feed, &key, err);

    if (!rc && !content.size)
        return call_invalid(call, err, "content",
                            "expected a file; RemoveCategories forgets what was set");
    if (!rc)
        rc = kept_map_check(call_context(call), content, err);
    if (rc == ERR_INVALID)
        call_violation(call, "content", "%s", err->text);
    if (!rc)
        rc = kept_map_set(call_context(call), &key, content, call_arena(call), &now, err);
    if (!rc)
        *(Torg__V1__FeedCategories *)response = *now;
    return rc;
}

int feed_call_get_categories(struct call *call, const ProtobufCMessage *request,
                             ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FeedRequest *wanted = (const Torg__V1__FeedRequest *)request;
    Torg__V1__FeedCategories *kept = NULL;
    struct feed_key key;
    int rc = key_of(call, false, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = kept_map_find(call_context(call), &key, call_arena(call), &kept, err);
    if (!rc && !kept)
        rc = err_set(err, ERR_NOT_FOUND, "no categories are set for the feed \"%s\"", key.feed);
    if (!rc)
        *(Torg__V1__FeedCategories *)response = *kept;
    return rc;
}

int feed_call_remove_categories(struct call *call, const ProtobufCMessage *request,
                                ProtobufCMessage *response, struct err *err)
{
    const Torg__V1__FeedRequest *wanted = (const Torg__V1__FeedRequest *)request;
    Torg__V1__FeedCategories *kept = NULL;
    struct feed_key key;
    int rc = key_of(call, true, wanted->seller, wanted->feed, &key, err);

    if (!rc)
        rc = kept_map_remove(call_context(call), &key, call_arena(call), &kept, err);
    if (!rc)
        *(Torg__V1__FeedCategories *)response = *kept;
    return rc;
}
