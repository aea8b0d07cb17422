/* SPDX-License-Identifier: Apache-2.0 */
/* uri.h - references of schemas: a URI resolved against another (RFC 3986, 5.2). */
#ifndef TORG_SCHEMA_URI_H
#define TORG_SCHEMA_URI_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"

/* The absolute form of ref, in the arena, with its fragment; as it is if there is no base. */
struct bytes uri_resolve(struct bytes base, struct bytes ref, struct arena *arena);
/* Takes the fragment off, without its #; an empty one is none. */
struct bytes uri_cut_fragment(struct bytes *uri);
/* %2F and its kind taken back; false: it is broken. */
bool uri_decode(struct bytes text, struct arena *arena, struct bytes *decoded);

#endif
