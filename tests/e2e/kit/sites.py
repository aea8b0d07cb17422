# SPDX-License-Identifier: Apache-2.0
"""sites.py - where a whole market runs: as one process on the embedded backends, and as six on
PostgreSQL, Kafka and ZooKeeper. options are those of Popen.
"""
import os
import pathlib
import secrets
import shutil
import tempfile

from kit import tap
from kit.binary import Place

ROLES = {"offers": ("system", "catalog", "offers", "offers-worker"), "composer": ("composer",),
         "receiver": ("receiver",), "indexer": ("indexer",), "searcher": ("searcher",),
         "search": ("search",)}


class OneProcess:
    """torg up, on the embedded backends."""

    backends = ()

    def __init__(self, *words, **options):
        self.place, self.words, self.options = Place(), ("up", *words), options

    def __enter__(self):
        self.place.__enter__()
        self.place.options = self.options
        self.start()
        return self

    def start(self, _role=None):
        self.place.start(*self.words)

    def __exit__(self, *_):
        self.place.__exit__()

    def at(self, _role):
        return self.place

    def all(self):
        return [self.place]

    def torg(self, role, *words):
        return self.at(role).torg(*words)


class OwnServer:
    """A server of this test's own: topics have fixed names, and those of a shared broker are full of
    other tests' offers; and others' servers are not killed."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin()
        try:
            self.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        """Starts it; others may be started meanwhile."""
        tap.need(self.name)
        self.tool = tap.load_tool("with-servers")
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="torg-e2e-"))
        self.top.chmod(0o711)                           # user postgres passes through
        self.server = self.tool.Server(self.name, self.top)
        self.address = self.url = self.server.address.format(self.server.port)

    def wait_ready(self):
        _, failed = self.tool.wait_ready([self.server])
        tap.equal(failed, {})

    def signal(self, number):
        """To it and to its children, which have groups of their own in PostgreSQL."""
        pid = self.server.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.killpg(pid, number)
        for child in map(int, children):
            try:
                os.kill(child, number)
            except ProcessLookupError:
                pass                                    # it has ended meanwhile

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()

    def start_again(self):
        """What a killed PostgreSQL left running ends by itself, and is in the way until then."""
        def is_up():
            self.server.start_again()
            _, failed = self.tool.wait_ready([self.server])
            return not failed

        tap.wait_until(is_up, what=f"{self.name} is up again")

    def __exit__(self, *_):
        self.server.stop()
        shutil.rmtree(self.top, ignore_errors=True)


class OwnKafka(OwnServer):
    def __init__(self):
        super().__init__("kafka")


class OwnServers:
    """All three, by name; they start side by side."""

    def __enter__(self):
        self.servers = {}
        try:
            for name in ("kafka", "zookeeper", "postgres"):
                server = OwnServer(name)
                server.begin()
                self.servers[name] = server
            for server in self.servers.values():
                server.wait_ready()
        except BaseException:
            self.__exit__()
            raise
        return self.servers

    def __exit__(self, *_):
        for server in self.servers.values():
            server.__exit__()


class SixProcesses:
    """Each with a directory and a port of its own, over the same servers."""

    def __init__(self, database, kafka, zookeeper, shards=3, **options):
        self.shards, self.options = shards, options
        self.topics = f"kafka://{kafka}"
        self.backends = (f"--store.url={database.url}", f"--topic.url={self.topics}",
                         f"--coord.url=zookeeper://{zookeeper}/torg-e2e-{secrets.token_hex(6)}")
        self.places = {role: Place() for role in ROLES}
        self.listen = {role: f"127.0.0.1:{tap.free_port()}" for role in ROLES}

    def __enter__(self):
        for place in self.places.values():
            place.__enter__()
            place.options = self.options
        try:
            self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        made = self.torg("search", "key", "create", "front", "--scope", "search")
        tap.equal(made.returncode, 0, made.stderr)
        for role in ("search", "indexer"):
            self.at(role).write("searchers.key", made.stdout)
        for role in ROLES:
            self.start(role)

    def __exit__(self, *_):
        for place in self.places.values():
            place.__exit__()

    def double(self, role):
        """A second process of the kind; it is among all()."""
        name = f"{role} 2"
        self.places[name] = Place().__enter__()
        self.places[name].options = self.options
        self.listen[name] = f"127.0.0.1:{tap.free_port()}"
        self.places[name].start("serve", *ROLES[role], f"--listen={self.listen[name]}", *self.backends)
        return self.places[name]

    def start(self, role):
        words = ["serve", *ROLES[role], f"--listen={self.listen[role]}", *self.backends]
        if role == "receiver":
            words.append(f"--registry.shards={self.shards}")
        if role == "searcher":
            words.append("--searcher.checkpoint=500ms")
        if role in ("search", "indexer"):       # it asks them before an epoch is switched to
            words += [f"--search.searchers=http://{self.listen['searcher']}",
                      "--search.searchers_key=searchers.key"]
        self.places[role].start(*words)

    def at(self, role):
        return self.places[role]

    def all(self):
        return list(self.places.values())

    def torg(self, role, *words):
        return self.at(role).torg(*words, *self.backends)
