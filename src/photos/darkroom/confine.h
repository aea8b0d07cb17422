/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.h - shuts this process in: from then on it computes, reads and writes what is open, takes
 * memory up to a bound, and can do nothing else. It opens no file, has no network, starts no
 * program, makes no memory executable. For good: no way leads back.
 */
#ifndef TORG_PHOTOS_DARKROOM_CONFINE_H
#define TORG_PHOTOS_DARKROOM_CONFINE_H

/* 0, or the name of the step that the system refused. */
const char *confine_process(void);

#endif
