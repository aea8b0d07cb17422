/* SPDX-License-Identifier: Apache-2.0 */
/* testd_seen.h - testd's resources, which tell as JSON what they saw, and its folder. */
#ifndef TORG_TESTS_TESTD_SEEN_H
#define TORG_TESTS_TESTD_SEEN_H

#include "net/rest.h"
#include "net/server/calls/folder.h"

extern const struct rest_service seen_service;
extern const struct folder seen_folder;

#endif
