# SPDX-License-Identifier: Apache-2.0
"""Kills a writer of a SQLite store at random moments and looks at what is left.

Nothing acknowledged may be missing, no transaction may be there in part, the file must be whole.
The files are looked at in a copy, so that the next writer is the one who recovers them.

usage: crash_store.py WRITER, with TORG_CRASH_KILLS and TORG_CRASH_SEED in the environment.
"""
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402

WRITER = sys.argv.pop(1)
KILLS = tap.count(60, 1000, "TORG_CRASH_KILLS")
SEED = int(os.environ.get("TORG_CRASH_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)
ROWS_MAX = 15_000           # then a new file is begun, so that looking at it stays cheap


def run_and_kill(folder, run, rng):
    """Numbers that were acknowledged before the kill. One run in five is killed while it opens and
    recovers the file, the others some time after their first acknowledgement."""
    process = subprocess.Popen([WRITER, f"sqlite:{folder}/store.db", str(run)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = b""
    if rng.random() < 0.2:
        time.sleep(rng.uniform(0, 0.08))
    else:
        wanted = rng.randrange(1, 32)       # by what it has done, too: a disk may be slow
        first = process.stdout.read1(1 << 16)
        time.sleep(rng.uniform(0, 0.12))
        while first.count(b"\n") < wanted:
            part = process.stdout.read1(1 << 16)
            if not part:
                break                       # it ended by itself, and is told of below
            first += part
    process.send_signal(signal.SIGKILL)
    rest, complaint = process.communicate(timeout=tap.PATIENCE_S)
    if process.returncode != -signal.SIGKILL:
        raise AssertionError(f"run {run}: exit {process.returncode}: {complaint.decode()}")
    lines = (first + rest).split(b"\n")
    return {int(line) for line in lines[:-1]}


def look(folder, run):
    """What a reader finds: {number: (rows, rows there should be)} and the running total."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    base = sqlite3.connect(copy / "store.db")
    try:
        if not base.execute("SELECT 1 FROM sqlite_master WHERE name = 'total'").fetchone():
            return {}, 0
        tap.equal(base.execute("PRAGMA integrity_check").fetchone()[0], "ok",
                  f"run {run}: integrity")
        found = {tx: (count, wanted) for tx, count, wanted in base.execute(
            "SELECT tx, count(*), max(part_count) FROM part GROUP BY tx")}
        total = base.execute("SELECT n FROM total").fetchone()
        return found, total[0] if total else 0
    finally:
        base.close()


@tap.test
def an_acknowledged_transaction_survives_kill_9_whole():
    rng = random.Random(SEED)
    tap.comment(f"seed {SEED}, {KILLS} kills")
    started = time.monotonic()
    acked_total = 0
    checkpoints = 0
    with tempfile.TemporaryDirectory(prefix="torg-crash-") as temporary:
        folder = pathlib.Path(temporary) / "store"
        folder.mkdir()
        acked = set()
        for run in range(1, KILLS + 1):
            fresh = run_and_kill(folder, run, rng)
            acked |= fresh
            acked_total += len(fresh)
            found, total = look(folder, run)
            lost = acked - found.keys()
            torn = [tx for tx, (count, wanted) in found.items() if count != wanted]
            tap.equal(sorted(lost)[:5], [], f"run {run}: acknowledged and lost ({len(lost)})")
            tap.equal(torn[:5], [], f"run {run}: torn ({len(torn)})")
            tap.equal(total, len(found), f"run {run}: the count of transactions")
            undone = [tx for tx in found if tx % 16 == 0]
            tap.equal(undone[:5], [], f"run {run}: rolled back, yet there ({len(undone)})")
            base = folder / "store.db"
            checkpoints += base.exists() and base.stat().st_size > 64 << 10
            if sum(count for count, _ in found.values()) > ROWS_MAX:
                shutil.rmtree(folder)
                folder.mkdir()
                acked = set()
    tap.comment(f"{acked_total} acknowledged, 0 lost, 0 torn; {checkpoints} looks at a file with "
                f"checkpoints in it; {time.monotonic() - started:.0f} s")
    if acked_total < 5 * KILLS or not checkpoints:
        raise AssertionError("the writers did too little for this to mean anything")


@tap.test
def a_new_file_held_by_another_writer_is_waited_for():
    """SQLite's own busy handler is not asked when a file that another process writes is to be turned
    to a write-ahead log; two processes that begin a file at once meet so."""
    with tempfile.TemporaryDirectory(prefix="torg-crash-") as folder:
        other = sqlite3.connect(f"{folder}/store.db", isolation_level=None)
        other.execute("CREATE TABLE early (n INTEGER)")
        other.execute("BEGIN IMMEDIATE")
        with subprocess.Popen([WRITER, f"sqlite:{folder}/store.db", "1"],
                              stdout=subprocess.PIPE) as writer:
            time.sleep(0.5)
            tap.equal(writer.poll(), None, "the writer waits")
            other.execute("COMMIT")
            other.close()
            tap.equal(writer.stdout.read1(1 << 16) != b"", True, "it has written")
            writer.kill()


def read_some(writer, count):
    """What it tells until it has written so often; all that was read, for communicate() begins behind it."""
    told = b""
    while told.count(b"\n") < count:
        more = writer.stdout.read1(1 << 16)
        assert more, f"the writer has ended after {told!r}"
        told += more
    return told


@tap.test
def several_processes_share_a_file():
    """As `torg key` beside a running server does; all are killed in the middle."""
    with tempfile.TemporaryDirectory(prefix="torg-crash-") as temporary:
        folder = pathlib.Path(temporary) / "store"
        folder.mkdir()
        writers = [subprocess.Popen([WRITER, f"sqlite:{folder}/store.db", str(run)],
                                    stdout=subprocess.PIPE) for run in (1, 2)]
        firsts = [read_some(writer, 20) for writer in writers]
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
        rests = [writer.communicate(timeout=tap.PATIENCE_S)[0] for writer in writers]
        acked = [{int(line) for line in (first + rest).split(b"\n")[:-1]}
                 for first, rest in zip(firsts, rests)]
        found, total = look(folder, "shared")
        tap.comment(f"acknowledged {[len(each) for each in acked]}")
        tap.equal(all(acked), True, "each has written")
        tap.equal(sorted(set.union(*acked) - found.keys())[:5], [], "acknowledged and lost")
        tap.equal([tx for tx, (count, wanted) in found.items() if count != wanted], [], "torn")
        tap.equal(total, len(found), "the count of transactions")


tap.main()
