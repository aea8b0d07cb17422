/* SPDX-License-Identifier: Apache-2.0 */
/* row_fits.c - see row_fits.h. */
#include "inspect/verify/row_fits.h"

#include <assert.h>

#include "registry/clients/convert.h"

/* Written by name for an epoch that was given up. It may fit none that is left, and nobody has
 * consented to that: it is sent once more, and stands in the lane failed then. */
static bool is_stranded(const struct client_view *client, int64_t epoch, const struct row *row)
{
    return epoch == client->serving_epoch && row->order.epoch > client->writing_epoch &&
           !client_epoch(client, row->order.epoch);
}

int row_fits(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
             struct bytes pk, struct arena *arena, bool *fits, struct err *err)
{
    const struct epoch_view *view = client_epoch(client, epoch);
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
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
    rc = row_unpack(inspect->dictionaries, client->id, &row, arena, &document, err);
    if (!rc)
        *fits = convert_document(document, view, arena, &converted, &misfit) == 0;
    return rc;
}
