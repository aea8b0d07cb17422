/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_net.h - the machines of a simulated cluster: members, the servers they share, the wires.
 *
 * The servers are the embedded backends, one of each for all members. A member reaches them by the
 * URL sim:NAME, where a process would have postgres:, kafka: and zookeeper:; what its calls meet on
 * the way is decided here: a call that never arrives, an answer that is lost, a slow wire, a server
 * that is away, a member that is cut off. A server does what it is asked wholly or not at all, and
 * whoever asked may be frozen or dead by then.
 *
 * A member has a clock of its own, which is off and jumps. What a server tells of its own accord
 * (records that are durable, changes of a set) is called by a thread of the member, so that nothing
 * of a member runs while it is frozen, and never again once it is dead: its threads stop at their
 * next call of a server or look at the clock.
 *
 *     net -- store (SQLite)       <- sim_store.c   serialization failures, commits in doubt
 *         -- topics (memory:)     <- sim_topic.c   lost sessions, short reads, late reports
 *         -- coord (memory:)      <- sim_coord.c   stale reads, late events
 *
 * Chance comes from the net's seed alone, time from the clock that it was given.
 * Threads: everything is safe for all, except opening and closing a net.
 */
#ifndef TORG_TESTS_SIM_NET_H
#define TORG_TESTS_SIM_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/err.h"

struct sim_net;
struct sim_node;
struct store;
struct topics;

enum sim_service { SIM_STORE, SIM_TOPICS, SIM_COORD, SIM_SERVICE_COUNT };

/* Of a thousand calls; all 0: every call is answered at once. */
struct sim_rates {
    unsigned lose_call;   /* it does not arrive, and fails after a while */
    unsigned lose_answer; /* it was done, and fails after a while */
    unsigned slow;        /* on each of the two ways, up to slow_ms */
    unsigned slow_ms;
    unsigned strike; /* what only this server does: see the picture above */
};

/* clock: of the servers and the wires; NULL: the system's. dir: where the store's file is; NULL: in
 * memory. Adds the scheme sim: to the three interfaces. */
int sim_net_open(uint64_t seed, const struct clock *clock, const char *dir, struct sim_net **net,
                 struct err *err);
/* After its members. If some are dead it stays, with all they hold, and is found no more. */
void sim_net_close(struct sim_net *net);

void sim_net_set_rates(struct sim_net *net, enum sim_service service,
                       const struct sim_rates *rates);
void sim_net_set_away(struct sim_net *net, enum sim_service service, bool is_away);
/* From now on records of index topics come by ones and twos, with pauses: whoever replays one, or
 * is filled by it, takes seconds, and can be asked meanwhile. sim_net_calm ends it. */
void sim_net_drip(struct sim_net *net);
bool sim_net_drips(const struct sim_net *net, const char *topic);
/* All faults end; clocks stay as they are. */
void sim_net_calm(struct sim_net *net);

/* 0 ≤ result < bound. */
uint64_t sim_net_draw(struct sim_net *net, uint64_t bound);
bool sim_net_chance(struct sim_net *net, unsigned permille);

/* Called for each record that reaches the broker, with the life of the member that sent it: its
 * name and a number of its own. Before there are members. */
typedef void sim_record_fn(void *arg, const char *life, const char *topic, struct bytes value);
void sim_net_watch(struct sim_net *net, sim_record_fn *watch, void *arg);

/* The servers themselves, for a judge: no wire between. */
struct store *sim_net_store(struct sim_net *net);
struct topics *sim_net_topics(struct sim_net *net);
const struct clock *sim_net_clock(struct sim_net *net);

/* --- members --- */

enum { SIM_NODE_NAME_SIZE = 64 };

/* The name is that of its URL; one of that name may be dead. */
struct sim_node *sim_node_new(struct sim_net *net, const char *name);
/* All its handles are closed. A dead one stays, with all it holds: it may not be freed. */
void sim_node_free(struct sim_node *member);
/* What its parts are given; it differs from the net's by what was set here. */
const struct clock *sim_node_clock(const struct sim_node *member);
void sim_node_set_clock(struct sim_node *member, int64_t wall_off_us, int64_t mono_off_us);
void sim_node_jump(struct sim_node *member, int64_t by_us); /* of the wall clock */
void sim_node_cut(struct sim_node *member, enum sim_service service, bool is_cut);
void sim_node_freeze(struct sim_node *member);
void sim_node_thaw(struct sim_node *member);
void sim_node_kill(struct sim_node *member);
bool sim_kills_at_once(void); /* a runtime stops threads wherever they are */

/* --- for sim_store.c, sim_topic.c and sim_coord.c --- */

/* The living member of a URL's place. */
int sim_node_find(const char *name, struct sim_node **member, struct err *err);
struct sim_net *sim_node_net(const struct sim_node *member);
/* The board that all members meet at. */
const char *sim_net_board(const struct sim_net *net);

/* The call is on its way: ERR_UNAVAILABLE when it does not arrive. Once it has, this thread does
 * the server's work, whatever becomes of its member, until sim_answer or sim_leave. */
int sim_call(struct sim_node *member, enum sim_service service, struct err *err);
/* It was done with this result: ERR_UNAVAILABLE when nobody is told so. */
int sim_answer(struct sim_node *member, enum sim_service service, int rc, struct err *err);
/* The same without a wire between: for what a client does by itself, or is sure to tell. */
void sim_arrive(void);
/* The answer comes another way, or is lost on this one. */
void sim_leave(struct sim_node *member);
int sim_lose_answer(struct sim_node *member, enum sim_service service, struct err *err);
/* Does what only this server does strike now? */
bool sim_strikes(struct sim_node *member, enum sim_service service);
/* How long a message of the server's own accord takes. */
int64_t sim_delay_us(struct sim_node *member, enum sim_service service);

/* For sim_net_watch. */
void sim_see_record(struct sim_node *member, const char *topic, struct bytes value);

/* Between the two a server's own thread runs functions of a member's, and goes on whatever becomes
 * of that one. */
void sim_serve_begin(void);
void sim_serve_end(void);

/* Runs it as a part of the member: what it starts is the member's. It may not come back. */
void sim_node_run(struct sim_node *member, void (*run)(void *arg), void *arg);

/* Calls run on the member's wire, not before that time of the net's clock; owner names it for
 * sim_wire_forget, after which none of its calls is made or under way. */
void sim_wire_post(struct sim_node *member, const void *owner, int64_t due_us,
                   void (*run)(void *arg), void *arg);
void sim_wire_forget(struct sim_node *member, const void *owner, void (*drop)(void *arg));

#endif
