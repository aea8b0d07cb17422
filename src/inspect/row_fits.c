/* SPDX-License-Identifier: Apache-2.0 */
/* row_fits.c - see row_fits.h. */
#include "inspect/row_fits.h"

#include "registry/convert.h"

struct finding {
    int64_t client_id;
    struct bytes pk;
    struct arena *arena;
    struct row row;
    bool found;
};

static int find_row(struct store_tx *tx, void *arg, struct err *err)
{
    struct finding *finding = arg;

    return row_find(tx, finding->client_id, finding->pk, true, finding->arena, &finding->row,
                    &finding->found, err);
}

int row_fits(const struct inspect *inspect, const struct client_view *client, int64_t epoch,
             struct bytes pk, struct arena *arena, bool *fits, struct err *err)
{
    const struct epoch_view *view = client_epoch(client, epoch);
    struct finding finding = {.client_id = client->id, .pk = pk, .arena = arena};
    Torg__V1__IndexDocument converted = TORG__V1__INDEX_DOCUMENT__INIT;
    Torg__V1__RawDocument *document;
    struct err misfit;
    int rc = store_read(inspect->store, find_row, &finding, err);

    *fits = false;
    if (rc || !finding.found || finding.row.status != ROW_ALIVE || !view)
        return rc;
    if (finding.row.order.epoch == epoch) {
        *fits = true;
        return 0;
    }
    rc = row_unpack(inspect->dictionaries, client->id, &finding.row, arena, &document, err);
    if (!rc)
        *fits = convert_document(document, view, arena, &converted, &misfit) == 0;
    return rc;
}
