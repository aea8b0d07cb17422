/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - the plain text of a description that may hold HTML.
 *
 * Not a browser: tags go, those that break a line leave a line break, scripts and styles go with
 * their content, character references become characters, blanks are gathered. What has no such
 * tag keeps its own line breaks. The result is never taken for HTML again. One pass, any input.
 */
#ifndef TORG_FEEDS_FORMATS_HTML_H
#define TORG_FEEDS_FORMATS_HTML_H

#include "base/buf.h"
#include "base/bytes.h"

/* Appends the text of valid UTF-8 html. out remembers when it did not fit. */
void feed_html_to_text(struct bytes html, struct buf *out);

#endif
