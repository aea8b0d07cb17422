/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir_list.h - a page of the blobs in a tree of files, in order of their names.
 *
 * The tree is walked and the smallest names after `after` are kept, so memory is bounded by
 * the page. Folders that cannot hold such a name are not entered: a page costs the names of
 * the folders it touches. Keep folders to some thousand names.
 */
#ifndef TORG_BLOB_DIR_LIST_H
#define TORG_BLOB_DIR_LIST_H

#include "blob/blob.h"

int dir_list_page(const char *root, const char *prefix, const char *after, size_t limit,
                  struct arena *arena, struct blob_page *page, struct err *err);

#endif
