# SPDX-License-Identifier: Apache-2.0
"""The engines of bench core as processes that speak its line protocol, and what they cost."""
import os
import pathlib
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")
NAMES = ("torg", "tantivy", "lucene", "sqlite", "postgres")
TITLES = {"torg": "Torg", "tantivy": "Tantivy", "lucene": "Lucene", "sqlite": "SQLite FTS5",
          "postgres": "PostgreSQL"}
JAVA_OPTIONS = ("--add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -Xms1g -Xmx1g"
                " -XX:+UseParallelGC -XX:ParallelGCThreads=1 -XX:-UsePerfData")


bad_ends = []       # what engines said at their end that was not 0: a leak, a crash


class Missing(Exception):
    """The engine is not there."""


class Failed(Exception):
    """The engine answered with an error, or ended."""


def command(name, build, cache):
    """(what to run, the files whose change makes an index of it old, its version)"""
    if name == "tantivy":
        program = cache / "peers" / "tantivy"
        stamp = cache / "peers" / "tantivy.stamp"
        if not program.exists():
            raise Missing(f"{program} is not there; tools/fetch-bench-tools builds it")
        return [str(program)], [stamp], stamp.read_text().split()[0]
    if name == "lucene":
        folder = cache / "peers" / "lucene"
        if not (folder / "java").exists():
            raise Missing(f"{folder} is not there; tools/fetch-bench-tools builds it")
        java = (folder / "java").read_text().strip()
        return ([java, *JAVA_OPTIONS.split(), "-cp", f"{folder}/jars/*:{folder}/classes", "BenchCoreLucene"],
                [cache / "peers" / "lucene.stamp"], (folder / "version").read_text().strip())
    program = build / "bench" / "peers" / f"bench-core-{name}"
    if not program.exists():
        raise Missing(f"{program} is not built")
    if name == "postgres" and not os.environ.get("TORG_TEST_POSTGRES"):
        raise Missing("no server: TORG_TEST_POSTGRES is not set")
    return [str(program)], [program], ""


def process_ticks(pid, children=False):
    """utime and stime, of the ended children too if so asked."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return sum(int(each) for each in fields[11:15 if children else 13])


def children_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []


def memory_of(pid, *names):
    """Bytes of /proc/PID/status, by name."""
    found = dict.fromkeys(names, 0)
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in found:
                found[name] = int(value.split()[0]) * 1024
    except OSError:
        pass
    return found


class Engine:
    """One process; asks it line by line."""

    def __init__(self, name, argv, log):
        self.name, self.argv = name, argv
        self.log = log
        self.process = None
        self.server = int(os.environ.get("TORG_TEST_POSTGRES_PID") or 0) * (name == "postgres")

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log)
        return self

    def send(self, lines):
        self.process.stdin.write("".join(line + "\n" for line in lines).encode())
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline().decode().rstrip("\n")
        words = line.split("\t")
        if words[0] != "ok":
            raise Failed(f"{self.name}: {line or 'it ended'} (log: {self.log})")
        return dict(word.split("=", 1) for word in words[1:] if "=" in word)

    def ask(self, line):
        self.send([line])
        return self.receive()

    def ask_all(self, lines):
        self.send(lines)
        return [self.receive() for _ in lines]

    def cpu_s(self):
        ticks = process_ticks(self.process.pid)
        if self.server:
            ticks += process_ticks(self.server, children=True)
            ticks += sum(process_ticks(pid) for pid in children_of(self.server))
        return ticks / TICK

    def memory(self):
        """Resident bytes: all, and those no file backs."""
        if not self.server:
            found = memory_of(self.process.pid, "VmRSS", "RssAnon")
            return found["VmRSS"], found["RssAnon"]
        private = shared = 0
        for pid in [self.server, *children_of(self.server)]:
            found = memory_of(pid, "RssAnon", "RssShmem")
            private += found["RssAnon"]
            shared = max(shared, found["RssShmem"])     # the same pages in every process
        return private + shared, private

    def stop(self):
        if not self.process:
            return
        try:
            self.process.stdin.close()
            self.process.wait(60)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        if self.process.returncode:
            bad_ends.append(f"{self.name} ended with {self.process.returncode} (log: {self.log})")
        self.process = None


def disk_bytes(folder):
    return sum(each.stat().st_size for each in pathlib.Path(folder).rglob("*") if each.is_file())


def forget(folder):
    """Drops the files from the page cache: what is resident later was read later."""
    for each in pathlib.Path(folder).rglob("*"):
        if each.is_file():
            fd = os.open(each, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def wait_for_quiet(engine, seconds=30):
    """Until background work of the engine is done: it has used no processor for half a second."""
    end = time.monotonic() + seconds
    before = engine.cpu_s()
    while time.monotonic() < end:
        time.sleep(0.5)
        now = engine.cpu_s()
        if now - before <= 0.02:
            return
        before = now
