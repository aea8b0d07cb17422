# SPDX-License-Identifier: Apache-2.0
"""Kills `torg up` at random moments while clients put, change and delete documents, and starts it
again.

In the end every acknowledged write is in the registry and found at its version, or was replaced by
a later one; `torg verify --rebuild` passes: the index is what the registry builds; no number was
given twice.

usage: crash_chain.py, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
"""
import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
from kit import chain  # noqa: E402
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

KILLS = tap.count(8, 100, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
CLIENTS = ("alpha", "beta")
SHARDS = 2


@tap.test
def nothing_acknowledged_is_lost_whenever_it_is_killed():
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    began = time.monotonic()
    # Checkpoints come fast, so that kills meet them; else all is replayed from the topic's begin.
    words = ("up", f"--registry.shards={SHARDS}", "--searcher.checkpoint=300ms")
    with Place() as place:
        place.start(*words)
        made = place.torg("key", "create", "writer", "--scope", "*")
        tap.equal(made.returncode, 0, made.stderr)
        key = made.stdout.strip()
        writers = [chain.Writer(number, CLIENTS[number % 2], key, SEED) for number in range(4)]
        for writer in writers:
            writer.start()
        for number in range(KILLS):
            for writer in writers:
                writer.url = place.url
            time.sleep(rng.uniform(0.02, 1.2))
            # On a slow machine a little more: else the kills meet nothing.
            tap.wait_until(lambda: any(writer.trouble for writer in writers)
                           or sum(writer.acknowledged for writer in writers) >= 20 * (number + 1),
                           what="writes between the kills")
            place.process.send_signal(signal.SIGKILL)
            place.process.wait()
            for writer in writers:
                writer.url = None
            place.start(*words)
        for writer in writers:
            writer.url = place.url
        chain.verify(place)             # while they write: what is on its way is no fault
        chain.stop(writers)
        killed = time.monotonic() - began

        def call(method, message):
            return place.call(method, message, key)

        registry = chain.check_registry(call, writers)
        chain.check_search(call, writers, registry)
        lines = chain.verify(place, "--rebuild")
        records = sum(chain.check_numbers(call, client, shards=SHARDS) for client in CLIENTS)
        acknowledged = sum(writer.acknowledged for writer in writers)
        tap.comment(f"{acknowledged} writes acknowledged on {len(registry)} keys, {records} records "
                    f"sent; {killed:.0f} s of kills, {time.monotonic() - began:.0f} s in all; "
                    f"checked {sorted(lines)}")
        tap.equal(place.stop(), 0, place.log()[-4000:])
        if acknowledged < 20 * KILLS:
            raise AssertionError("the clients did too little for this to mean anything")


tap.main()
