/* SPDX-License-Identifier: Apache-2.0 */
/*
 * web_files.h - the files of web/, built into the program: its pages need nothing else.
 *
 * The table is written by tools/embed-web from the list in web/meson.build.
 */
#ifndef TORG_ROLES_PROCESSES_WEB_FILES_H
#define TORG_ROLES_PROCESSES_WEB_FILES_H

#include <stddef.h>
#include <stdint.h>

struct web_file {
    const char *path; /* "/", "/cabinet", "/common.js" */
    const char *content_type;
    const uint8_t *data;
    size_t size;
};

extern const struct web_file web_files[];
extern const size_t web_file_count;

#endif
