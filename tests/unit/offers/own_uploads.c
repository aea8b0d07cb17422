/* SPDX-License-Identifier: Apache-2.0 */
/* What an offer's own uploads are told as is what their reader takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/violation.h"
#include "codec/message.h"
#include "offers/change/own_uploads.h"
#include "offers/change/photos.h"

#define UPLOAD(digit)                                                                              \
    "upload:" digit "000000000000000000000000000000000000000000000000000000000000000"

static Torg__V1__Photo *ready(const char *address, struct arena *arena)
{
    Torg__V1__Photo *photo = MESSAGE_NEW(photo, arena);

    photo->source_url = (char *)address;
    photo->state = TORG__V1__PHOTO__STATE__READY;
    photo->request_revision = 1;
    photo->attempt = 1;
    return photo;
}

/* A photo may stand in an offer twice: its answer names it once, or nobody could use that. */
static void an_upload_that_is_named_twice_is_told_once(void **state)
{
    struct arena *arena = arena_new();
    struct violations violations = violations_in(arena);
    Torg__V1__Photo *photos[] = {ready(UPLOAD("a"), arena), ready(UPLOAD("b"), arena),
                                 ready(UPLOAD("a"), arena)};
    Torg__V1__Offer *offer = MESSAGE_NEW(offer, arena);
    Torg__V1__PhotoResult *result;

    offer->id = (char *)"1000-0000-0000-0007";
    offer->content = MESSAGE_NEW(offer_content, arena);
    offer->content->photos = photos;
    offer->content->n_photos = 3;
    result = own_uploads_result(offer, 1, arena);
    assert_non_null(result);
    assert_int_equal(result->n_photos, 2);
    assert_string_equal(result->photos[0]->url, UPLOAD("a"));
    assert_string_equal(result->photos[1]->url, UPLOAD("b"));
    photo_result_check(result, &violations);
    for (const struct violation *one = violations.first; one; one = one->next)
        assert_null(strstr(one->reason, "same url")); /* others are: it has no sizes here */
    assert_null(own_uploads_result(offer, 2, arena));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upload_that_is_named_twice_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
