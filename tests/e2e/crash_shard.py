# SPDX-License-Identifier: Apache-2.0
"""Kills a writer of an index shard at random moments and has the next one look at what is left.

The writer itself compares: what it opens and replays must have the content hash of a shard that is
built from nothing, and every byte of the files must fit its checksum.

usage: crash_shard.py WRITER, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402

WRITER = sys.argv.pop(1)
KILLS = tap.count(60, 2000, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
OFFSET_MAX = 1200           # then a new shard is begun, so that a rebuild stays cheap
# A kill loses no page that was written, synced or not: in memory the same moments come sooner.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def run_and_kill(folder, seed, run, rng):
    """(x0, x1 that were found, last offset told); None while it was killed before it had looked."""
    process = subprocess.Popen([WRITER, str(folder), str(seed), "400"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = b""
    if rng.random() < 0.2:
        time.sleep(rng.uniform(0, 0.08))
    else:                   # by what it has done, not by time: machines differ
        for _ in range(rng.randrange(1, 18)):
            first += process.stdout.readline()
        time.sleep(rng.uniform(0, 0.02))
    process.send_signal(signal.SIGKILL)
    rest, complaint = process.communicate(timeout=tap.PATIENCE_S)
    if process.returncode != -signal.SIGKILL:
        raise AssertionError(f"run {run}: exit {process.returncode}: {complaint.decode()}")
    lines = (first + rest).decode().split("\n")[:-1]
    if not lines:
        return None
    _, found, offset = lines[0].split()
    return int(found), int(offset), int(lines[-1].split()[-1])


@tap.test
def a_shard_killed_at_any_moment_replays_to_what_a_rebuild_is():
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    started = time.monotonic()
    looks = fuzzy = progress = kills = 0
    with tempfile.TemporaryDirectory(prefix="torg-crash-", dir=FOLDER) as temporary:
        folder = pathlib.Path(temporary) / "shard"
        seed = rng.randrange(1, 2**40)
        while kills < KILLS:
            result = run_and_kill(folder, seed, kills, rng)
            kills += 1
            if not result:
                continue
            looks += 1
            fuzzy += result[0] < result[1]
            progress += result[0] > 0
            if result[0] > OFFSET_MAX:
                shutil.rmtree(folder)
                seed = rng.randrange(1, 2**40)
    tap.comment(f"{kills} kills, {looks} looks, {progress} at a checkpoint, {fuzzy} of them with "
                f"changes beyond its x0; {time.monotonic() - started:.0f} s")
    if progress < looks / 4:
        raise AssertionError("too few checkpoints for this to mean anything")


tap.main()
