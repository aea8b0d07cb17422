/* SPDX-License-Identifier: Apache-2.0 */
/* photographer.c - see photographer.h. */
#include "demo/photographer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"
#include "demo/bounds.h"
#include "demo/drawing.h"
#include "demo/generator.h"
#include "photos/darkroom.h"

enum { PHOTOGRAPHER_MAGIC = OBJECT_MAGIC('e', 'a', 's', 'l') };

struct photographer {
    uint32_t magic;
    struct darkroom *easel; /* owned: children that draw, by the means of those that decode */
};

/* What an address asks for. */
struct subject {
    struct bytes picture;
    struct bytes color;
    uint64_t number;
};

static struct bytes take_part(struct bytes *rest)
{
    const uint8_t *slash = rest->size ? memchr(rest->data, '/', rest->size) : NULL;
    struct bytes part = slash ? bytes_make(rest->data, (size_t)(slash - rest->data)) : *rest;

    *rest = bytes_skip(*rest, part.size + (slash ? 1 : 0));
    return part;
}

static bool read_address(const char *url, struct subject *subject)
{
    struct bytes prefix = bytes_of(DEMO_PHOTO_PREFIX);
    struct bytes rest = bytes_of(url);

    if (!bytes_begin(rest, prefix))
        return false;
    rest = bytes_skip(rest, prefix.size);
    subject->picture = take_part(&rest);
    subject->color = take_part(&rest);
    return drawing_is_known(subject->picture) && text_to_u64(rest, &subject->number);
}

static bool has(void *arg, const char *url)
{
    struct subject subject;

    (void)arg;
    return read_address(url, &subject);
}

static int make(void *arg, const char *url, struct arena *arena, struct buf *file, struct err *err)
{
    struct photographer *photographer = arg;
    struct buf drawing = BUF_INIT(DEMO_PICTURE_SIZE_MAX);
    struct darkroom_photo photo;
    struct subject subject;
    int rc;

    object_check(photographer, PHOTOGRAPHER_MAGIC);
    if (!read_address(url, &subject))
        return err_set(err, ERR_NOT_FOUND, "%.200s is not a photo of the demo", url);
    drawing_put(subject.picture, subject.color, subject.number, &drawing);
    assert(!buf_failed(&drawing));
    rc = darkroom_develop(photographer->easel, buf_bytes(&drawing), arena, &photo, err);
    if (rc == ERR_TIMEOUT) /* a drawing of ours that kills its child is no chance */
        rc = err->code = ERR_INVALID;
    if (!rc)
        buf_put(file, photo.pictures[0].content);
    buf_release(&drawing);
    return rc;
}

int photographer_open(const char *program, const struct clock *clock,
                      struct photographer **photographer, struct err *err)
{
    const struct darkroom_options options = {
        .program = program, .name = "torg-easel", .clock = clock, .child_count = 1};
    struct photographer *made = mem_zero(sizeof(*made));
    int rc = darkroom_open(&options, &made->easel, err);

    *photographer = NULL;
    if (rc) {
        free(made);
        return rc;
    }
    object_begin(made, PHOTOGRAPHER_MAGIC);
    *photographer = made;
    return 0;
}

void photographer_close(struct photographer *photographer)
{
    if (!photographer)
        return;
    object_check(photographer, PHOTOGRAPHER_MAGIC);
    darkroom_close(photographer->easel);
    object_end(photographer, PHOTOGRAPHER_MAGIC);
    free(photographer);
}

struct photo_maker photographer_maker(struct photographer *photographer)
{
    return (struct photo_maker){.has = has, .make = make, .arg = photographer};
}
