/* SPDX-License-Identifier: Apache-2.0 */
/* row_fits.c - see row_fits.h. */
#include "inspect/trace/row_fits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "registry/clients/convert.h"

/* Written by name for an epoch that was given up. It may fit none that is left, and nobody has
 * consented to that: it is sent once more, and stands in the lane failed then. */
static bool is_stranded(const struct client_view *client, int64_t epoch, const struct row *row)
{
    return epoch == client->serving_epoch && row->order.epoch > client->writing_epoch &&
           !client_epoch(client, row->order.epoch);
}

/* By the schema alone. misfit: why not. */
static int suits(const struct inspect *inspect, const struct client_view *client,
                 const struct epoch_view *view, const struct row *row, struct arena *arena,
                 bool *is_suited, struct err *misfit, struct err *err)
{
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    int rc = row_unpack(inspect->dictionaries, client->id, row, arena, &document, err);

    if (!rc)
        *is_suited = convert_document(document, view, arena, &converted, misfit) == 0;
    return rc;
}

int row_fits(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
             struct bytes pk, struct arena *arena, bool *fits, struct err *err)
{
    const struct epoch_view *view = client_epoch(client, epoch);
    struct err misfit;
    struct row row = {0};
    bool found;
    int rc = row_read(inspect->store, client->id, pk, true, arena, &row, &found, err);

    assert(inspect->store && inspect->clients && inspect->clock);
    *fits = false;
    if (rc || !found || row.status != ROW_ALIVE || !view)
        return rc;
    if (row.order.epoch == epoch || is_stranded(client, epoch, &row)) {
        *fits = true;
        return 0;
    }
    return suits(inspect, client, view, &row, arena, fits, &misfit, err);
}

int row_left_out(const struct inspect *inspect, const struct client_view *client,
                 const struct order *order, struct bytes pk, struct arena *arena,
                 enum left_out *left_out, char text[LEFT_OUT_TEXT_SIZE], struct err *err)
{
    const struct epoch_view *serving = client_epoch(client, client->serving_epoch);
    const struct epoch_view *own = client_epoch(client, order->epoch);
    struct err misfit, why;
    struct row row = {0};
    bool found, is_suited = true;
    int rc = 0;

    *left_out = LEFT_OUT_NOT;
    text[0] = '\0';
    if (order->epoch == client->serving_epoch || !serving)
        return 0; /* nearly all: nothing was read */
    rc = row_read(inspect->store, client->id, pk, true, arena, &row, &found, err);
    if (rc || !found || row.status != ROW_ALIVE || order_compare(&row.order, order) != 0)
        return rc;
    rc = suits(inspect, client, serving, &row, arena, &is_suited, &misfit, &why);
    if (rc && !row_is_at_fault(rc))
        return err_set(err, rc, "%s", why.text);
    if (rc) { /* no epoch comes to have it */
        *left_out = LEFT_OUT_STAYS;
        snprintf(text, LEFT_OUT_TEXT_SIZE, "what the registry has of it cannot be read: %s",
                 why.text);
        return 0;
    }
    if (is_suited)
        return 0;
    if (own && own->state == TORG__V1__INDEX_MAP__EPOCH__STATE__BUILDING)
        *left_out = LEFT_OUT_TO_COME;
    else
        *left_out = LEFT_OUT_STAYS;
    snprintf(text, LEFT_OUT_TEXT_SIZE, "%sit does not fit epoch %" PRId64 ", which serves: %s",
             *left_out == LEFT_OUT_TO_COME ? "it comes with its own epoch, which is being built; "
                                           : "",
             client->serving_epoch, misfit.text);
    return 0;
}
