/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_faults.c - what happens to the machines and the servers of the cluster; see cluster.h. */
#include <stdio.h>

#include "sim/cluster.h"
#include "sim/sim.h"

enum { PAUSE_MS_MAX = 2500, SPELL_MS_MAX = 9000, JUMP_S_MAX = 300 };

static const char *const service_names[] = {"store", "topics", "coordination"};

/* What ends by itself, and when. */
struct spell {
    int64_t until_us; /* 0: there is none */
};

struct weather {
    struct cluster *cluster;
    struct spell away[SIM_SERVICE_COUNT];
    struct spell frozen[MACHINE_COUNT];
    struct spell off[MACHINE_COUNT];
    struct spell cut[MACHINE_COUNT];
    enum sim_service cut_from[MACHINE_COUNT];
};

static unsigned draw(struct weather *weather, unsigned bound)
{
    return (unsigned)rng_below(&weather->cluster->rng, bound);
}

static void begin(struct weather *weather, struct spell *spell)
{
    spell->until_us =
        cluster_now_us(weather->cluster) + (int64_t)draw(weather, SPELL_MS_MAX) * MS_US;
}

static bool ends(const struct weather *weather, struct spell *spell, bool is_all)
{
    bool is_end =
        spell->until_us && (is_all || cluster_now_us(weather->cluster) >= spell->until_us);

    if (is_end)
        spell->until_us = 0;
    return is_end;
}

static void end_spells(struct weather *weather, bool is_all)
{
    for (int i = 0; i < SIM_SERVICE_COUNT; i++) {
        if (ends(weather, &weather->away[i], is_all)) {
            cluster_note("fault: %s is back", service_names[i]);
            sim_net_set_away(weather->cluster->net, (enum sim_service)i, false);
        }
    }
    for (int i = 0; i < MACHINE_COUNT; i++) {
        struct machine *machine = &weather->cluster->machines[i];

        if (ends(weather, &weather->frozen[i], is_all)) {
            cluster_note("fault: %s is thawed", machine->name);
            sim_node_thaw(machine_node(machine));
        }
        if (ends(weather, &weather->cut[i], is_all)) {
            cluster_note("fault: %s reaches %s again", machine->name,
                         service_names[weather->cut_from[i]]);
            sim_node_cut(machine_node(machine), weather->cut_from[i], false);
        }
        if (ends(weather, &weather->off[i], is_all)) {
            cluster_note("fault: %s is booted", machine->name);
            machine_boot(machine);
        }
    }
}

static void strike_machine(struct weather *weather)
{
    unsigned number = draw(weather, MACHINE_COUNT);
    struct machine *machine = &weather->cluster->machines[number];
    bool loses_disk;

    if (weather->frozen[number].until_us || weather->off[number].until_us)
        return;
    switch (draw(weather, 6)) {
    case 0:
    case 1:
        cluster_note("fault: %s is frozen", machine->name);
        sim_node_freeze(machine_node(machine));
        begin(weather, &weather->frozen[number]);
        return;
    case 2:
        loses_disk = draw(weather, 3) == 0;
        loses_disk = (loses_disk || cluster_drips(weather->cluster)) && sim_has("shard-loss");
        cluster_note("fault: %s is killed%s", machine->name, loses_disk ? ", with its disk" : "");
        machine_kill(machine, loses_disk);
        weather->cut[number].until_us = 0;
        begin(weather, &weather->off[number]);
        return;
    case 3:
        if (weather->cut[number].until_us)
            return;
        cluster_note("fault: %s is stopped", machine->name);
        machine_stop(machine);
        begin(weather, &weather->off[number]);
        return;
    case 4:
        if (weather->cut[number].until_us)
            return;
        weather->cut_from[number] = (enum sim_service)draw(weather, SIM_SERVICE_COUNT);
        cluster_note("fault: %s is cut off from %s", machine->name,
                     service_names[weather->cut_from[number]]);
        sim_node_cut(machine_node(machine), weather->cut_from[number], true);
        begin(weather, &weather->cut[number]);
        return;
    default:
        cluster_note("fault: the clock of %s jumps", machine->name);
        sim_node_jump(machine_node(machine),
                      ((int64_t)draw(weather, 2 * JUMP_S_MAX) - JUMP_S_MAX) * SECOND_US);
    }
}

static void strike_server(struct weather *weather)
{
    enum sim_service service = (enum sim_service)draw(weather, SIM_SERVICE_COUNT);
    unsigned worst = draw(weather, 3) ? 30 : 150;
    const struct sim_rates rates = {.lose_call = draw(weather, worst),
                                    .lose_answer = draw(weather, worst),
                                    .slow = draw(weather, worst),
                                    .slow_ms = 1 + draw(weather, 1500),
                                    .strike = draw(weather, worst)};

    if (draw(weather, 4) == 0 && !weather->away[service].until_us) {
        cluster_note("fault: %s is away", service_names[service]);
        sim_net_set_away(weather->cluster->net, service, true);
        begin(weather, &weather->away[service]);
        return;
    }
    cluster_note("fault: %s: %u calls and %u answers of 1000 are lost, %u slow by %u ms, %u strike",
                 service_names[service], rates.lose_call, rates.lose_answer, rates.slow,
                 rates.slow_ms, rates.strike);
    sim_net_set_rates(weather->cluster->net, service, &rates);
}

void faults_run(struct cluster *cluster, int64_t duration_us)
{
    struct weather weather = {.cluster = cluster};
    int64_t end_us = cluster_now_us(cluster) + duration_us;

    while (cluster_now_us(cluster) < end_us) {
        clock_sleep(sim_net_clock(cluster->net), (int64_t)draw(&weather, PAUSE_MS_MAX) * MS_US);
        end_spells(&weather, false);
        if (draw(&weather, 2))
            strike_machine(&weather);
        else
            strike_server(&weather);
    }
    cluster_note("fault: all of them end");
    sim_net_calm(cluster->net);
    end_spells(&weather, true);
}
