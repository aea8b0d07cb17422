/* SPDX-License-Identifier: Apache-2.0 */
/* testd_seen.h - testd's resources: each tells, as JSON, what it saw of the request. */
#ifndef TORG_TESTS_TESTD_SEEN_H
#define TORG_TESTS_TESTD_SEEN_H

#include "net/rest.h"

extern const struct rest_service seen_service;

#endif
