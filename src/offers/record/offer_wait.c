/* SPDX-License-Identifier: Apache-2.0 */
/* offer_wait.c - see offer_wait.h. */
#include "offers/record/offer_wait.h"

#include "base/clock.h"
#include "codec/moment.h"
#include "offers/record/offer_record.h"

#define REASON                                                                                     \
    "none of the photos could be used, and offers of this category are shown with one: "           \
    "replace the photos that failed"

struct wait_rules wait_rules_of(const struct policy *policy)
{
    bool with_limit = policy->publish == TORG__V1__POLICY__PUBLISH__WITH_PHOTO_OR_LATER;

    return (struct wait_rules){
        .waits = policy->publish != TORG__V1__POLICY__PUBLISH__AT_ONCE,
        .max_us = with_limit ? (int64_t)policy->photo_wait_s * SECOND_US : 0,
        .needs_one = !with_limit || policy->photos_min > 0,
    };
}

static size_t count_photos(const Torg__V1__OfferContent *content, Torg__V1__Photo__State state)
{
    size_t count = 0;

    for (size_t i = 0; i < content->n_photos; i++)
        count += content->photos[i]->state == state;
    return count;
}

/* For the first time: one that is tried again prolongs nothing. */
static bool asks_for_photo(const Torg__V1__Offer *offer)
{
    for (size_t i = 0; i < offer->content->n_photos; i++) {
        const Torg__V1__Photo *photo = offer->content->photos[i];

        if (photo->request_revision == offer->revision && photo->ask_count <= 1)
            return true;
    }
    return false;
}

/* Until when; 0: however long. */
static int64_t limit_of(const Torg__V1__Offer *after, const Torg__V1__Offer *before,
                        const struct wait_rules *rules)
{
    bool goes_on = before && before->status == TORG__V1__OFFER__STATUS__WAITING &&
                   before->wait_until && !asks_for_photo(after);

    if (!rules->max_us)
        return 0;
    return goes_on ? moment_own_us(before->wait_until)
                   : moment_own_us(after->update_time) + rules->max_us;
}

bool offer_waits(Torg__V1__Offer *after, const Torg__V1__Offer *before,
                 const struct wait_rules *rules, struct arena *arena)
{
    const Torg__V1__OfferContent *content = after->content;
    int64_t limit_us = limit_of(after, before, rules);
    bool is_over = limit_us && moment_own_us(after->update_time) >= limit_us;
    bool is_hopeless = !count_photos(content, TORG__V1__PHOTO__STATE__WAITING);

    after->wait_until = NULL;
    after->wait_reason = (char *)protobuf_c_empty_string;
    /* One without photos, where that is allowed, has nothing to wait for. */
    if (!rules->waits || !content->n_photos || count_photos(content, TORG__V1__PHOTO__STATE__READY))
        return false;
    if (is_over && !(is_hopeless && rules->needs_one))
        return false;
    after->wait_until = moment_or_none(limit_us, arena);
    /* Before the limit a photo that failed may still be answered better. */
    if (is_hopeless && (is_over || !limit_us))
        after->wait_reason = arena_strdup(arena, REASON);
    return true;
}
