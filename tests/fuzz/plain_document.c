/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_document.c - any bytes as plain JSON and as CSV: refused with reasons, or documents that
 * the receiver's check can read, whose source is JSON that reads as the same once more.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "registry/plain/plain.h"
#include "registry/receiving/document.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth)
        abort();
}

static void check_source(const Torg__V1__RawDocument *document, struct arena *arena)
{
    struct buf again = BUF_INIT(1 << 24);
    const struct placed_json *list;
    const char *source;

    if (document->event == TORG__V1__RAW_DOCUMENT__EVENT__DELETE)
        return;
    source = document->fields[document->n_fields - 1]->stored;
    require(placed_json_read_all(bytes_of(source), arena, &list, NULL) == 0);
    require(list->count == 1);
    placed_json_put(list->first, &again);
    require(bytes_equal_text(buf_bytes(&again), source));
    buf_release(&again);
}

static void check(struct bytes body, enum plain_form form)
{
    static struct client_view client = {
        .id = 1, .shard_count = 1, .writing_epoch = 1, .epoch_count = 1};
    struct arena *arena = arena_new();
    struct plain_options options = {.form = form};
    struct plain_batch batch;
    struct err err = {0};

    client.epochs[0] = (struct epoch_view){.epoch = 1};
    epoch_set_fields(&client.epochs[0], NULL, 0, arena);
    if (plain_read(body, &options, arena, &batch, &err))
        require(err.text[0]);
    else
        require(batch.count);
    for (uint32_t i = 0; !err.code && i < batch.count; i++) {
        const struct plain_document *one = &batch.list[i];
        struct violations reasons = violations_in(arena);
        struct document_check check = {.client = &client, .reasons = &reasons, .arena = arena};
        struct row row;

        require(!one->document == !!one->reason);
        if (!one->document)
            continue;
        document_check(&check, one->document, 0, &row);
        for (const struct violation *fault = reasons.first; fault; fault = fault->next)
            require(plain_path(&batch, one, fault->field, arena)[0]);
        check_source(one->document, arena);
    }
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check(bytes_make(data, size), PLAIN_JSON);
    check(bytes_make(data, size), PLAIN_CSV);
    return 0;
}
