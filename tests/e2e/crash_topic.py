# SPDX-License-Identifier: Apache-2.0
"""crash_topic.py WRITER - kill -9 at random moments under load loses and tears nothing.

The writer (crash_topic_writer.c) prints what it found at its start and every acknowledgement.
Each life is ended by SIGKILL, at any moment from its very start on; the next life must find
every acknowledged record at its offset, whole, in its producer's order, without holes, and
commits that are not older than the last acknowledged and not past the end. A topic that is made,
filled and removed all the time is whole until its removal begins, and gone when that was
acknowledged, with what was committed of it.
"""
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

from kit import tap

WRITER = sys.argv.pop(1)
KILLS = tap.count(60, 1000, "TORG_CRASH_KILLS")
LIVES_OF_A_DIRECTORY = 4        # then a fresh one: what is checked at each start stays small
ON_DISK = "/var/tmp"            # in memory nobody is killed while he waits for a sync
START_SECONDS = 0.2             # a third of the kills: at any moment of a start
LOAD_SECONDS = 0.1              # the others: under load
ACKED_MAX = 40                  # ... after up to so many records at the least: a disk may be slow
SEED = int(os.environ.get("TORG_SEED") or random.SystemRandom().randrange(1 << 32))


class Log:
    """What the writer of one directory has been promised."""

    def __init__(self):
        self.acked = {}         # (partition, offset): (thread, seq)
        self.committed = {}     # partition: offset
        self.brief = ("Y", 0, 0)        # last heard of the topic that comes and goes: life, count
        self.gone = set()               # its lives that are over

    def check_brief(self, life, count, committed):
        kind, last, acked = self.brief
        assert committed <= count, f"{committed} committed of {count} records: of another life"
        assert life not in self.gone, f"life {life} was removed, and is there"
        if kind == "B":
            assert life == last and acked <= count <= acked + 1, \
                f"{acked} records of life {last}, not {count} of {life}"
        elif kind == "X" and life:      # its removal had begun
            tap.equal((life, count), (last, acked), "life that was to be removed")
        elif kind == "X":
            self.gone.update({last} - {0})
        self.brief = ("B", life, count) if life else ("Y", 0, 0)

    def check_start(self, found, ends):
        records = {}
        newest = {}
        for partition, offset, thread, seq in found:
            tap.equal(offset, newest.get(("end", partition), 0), f"offset in {partition}")
            newest["end", partition] = offset + 1
            assert seq > newest.get(thread, -1), f"thread {thread}: {seq} after {newest[thread]}"
            newest[thread] = seq
            records[partition, offset] = (thread, seq)
        for place, what in self.acked.items():
            tap.equal(records.get(place), what, f"acknowledged record at {place}")
        for partition, end, committed in ends:
            tap.equal(newest.get(("end", partition), 0), end, "end")
            assert self.committed.get(partition, -1) <= committed <= end, \
                f"partition {partition}: committed {committed}, was {self.committed}, end {end}"

    def read_life(self, output):
        """Checks one life's lines; gives whether it got through its start."""
        found, ends, started = [], [], False
        acked = 0
        for line in output.decode().split("\n")[:-1]:       # the last one may be cut short
            kind, *numbers = line.split()
            if kind == "R":
                found.append(tuple(map(int, numbers)))
            elif kind == "T":
                self.check_brief(*map(int, numbers))
            elif kind == "B":
                self.brief = ("B", *map(int, numbers))
            elif kind == "X":
                self.brief = ("X", *self.brief[1:])
            elif kind == "Y":
                self.gone.update({int(numbers[0])} - {0})
                self.brief = ("Y", 0, 0)
            elif kind == "E":
                ends.append(tuple(map(int, numbers)))
            elif kind == "GO":
                self.check_start(found, ends)
                started = True
            elif kind == "A":
                partition, offset, thread, seq = map(int, numbers)
                self.acked[partition, offset] = (thread, seq)
                acked += 1
            elif kind == "C":
                self.committed[int(numbers[0])] = int(numbers[1])
            else:
                raise AssertionError(line)
        return started, acked


def live(directory, seconds, under_load, wanted, removed):
    """One life of the writer, ended by SIGKILL so many seconds after its birth; or so long after it has
    begun to produce, and so many records and removals were acknowledged. Its output."""
    process = subprocess.Popen([WRITER, directory], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(process.stdout.fileno(), False)
    output = b""
    deadline = time.monotonic() + (tap.PATIENCE_S if under_load else seconds)
    begun = None
    while time.monotonic() < deadline and process.poll() is None:
        output += process.stdout.read() or b""
        if under_load and begun is None and b"GO\n" in output:
            begun = time.monotonic()
        if begun is not None and time.monotonic() - begun >= seconds \
                and output.count(b"\nA ") >= wanted and output.count(b"\nY ") >= removed:
            break
        time.sleep(0.002)
    process.kill()
    os.set_blocking(process.stdout.fileno(), True)
    rest, errors = process.communicate()
    tap.equal(process.returncode, -9, f"writer ended by itself: {errors.decode()[-2000:]}")
    return output + rest


@tap.test
def kill_loses_no_acknowledged_record():
    print(f"# TORG_SEED={SEED}")
    rng = random.Random(SEED)
    kills = started = acked = removed = 0
    while kills < KILLS:
        log = Log()
        directory = tempfile.mkdtemp(prefix="torg-crash-topic-", dir=ON_DISK)
        try:
            for _ in range(LIVES_OF_A_DIRECTORY):
                under_load = kills % 3 < 2          # by turns: dice would have days with too few
                seconds = rng.uniform(0, LOAD_SECONDS if under_load else START_SECONDS)
                got_through, count = log.read_life(live(directory, seconds, under_load,
                                                        rng.randrange(ACKED_MAX), rng.randrange(2)))
                kills += 1
                started += got_through
                acked += count
            last = subprocess.run([WRITER, directory, "verify"], capture_output=True, check=True)
            assert log.read_life(last.stdout)[0]
            removed += len(log.gone)
        finally:
            shutil.rmtree(directory)
    print(f"# {kills} kills, {started} after the start was checked, {acked} acknowledged records, "
          f"{removed} topics removed")
    assert started > kills / 2 and acked > 5 * kills and removed > kills / 20, \
        "the load was too small to say anything"


tap.main()
