/* SPDX-License-Identifier: Apache-2.0 */
/* document_size.c - see document_size.h. */
#include "model/document_size.h"

Torg__V1__RawDocument document_body(const Torg__V1__RawDocument *document)
{
    Torg__V1__RawDocument body = TORG__V1__RAW_DOCUMENT__INIT;

    body.event = document->event;
    body.n_fields = document->n_fields;
    body.fields = document->fields;
    body.placement_class = document->placement_class;
    return body;
}

size_t document_size(const Torg__V1__RawDocument *document)
{
    const Torg__V1__RawDocument body = document_body(document);

    return torg__v1__raw_document__get_packed_size(&body);
}
