/* SPDX-License-Identifier: Apache-2.0 */
/* document_size.h - how large a document is, as the registry counts it: the sender can ask before
 * the receiver refuses it (DOCUMENT_SIZE_MAX). */
#ifndef TORG_MODEL_DOCUMENT_SIZE_H
#define TORG_MODEL_DOCUMENT_SIZE_H

#include <stddef.h>

#include "torg/v1/document.pb-c.h"

/* What is kept of the document as its body; borrows its fields. */
Torg__V1__RawDocument document_body(const Torg__V1__RawDocument *document);
/* Of the body, encoded. */
size_t document_size(const Torg__V1__RawDocument *document);

#endif
