/* SPDX-License-Identifier: Apache-2.0 */
/* random_message.h - messages of any type with random fields, for round trips. */
#ifndef TORG_TESTS_UNIT_NET_RANDOM_MESSAGE_H
#define TORG_TESTS_UNIT_NET_RANDOM_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/random.h"

/* Extremes are as likely as small values. Map keys are unique, times within their range. */
ProtobufCMessage *random_message(struct rng *rng, const ProtobufCMessageDescriptor *type,
                                 struct arena *arena, unsigned depth_max);

#endif
