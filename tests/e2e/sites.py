# SPDX-License-Identifier: Apache-2.0
"""sites.py - where a whole market runs: as one process on the embedded backends, and as six on
PostgreSQL, Kafka and ZooKeeper. options are those of Popen.
"""
import os
import pathlib
import secrets
import shutil
import tempfile

import tap
from binary import Place

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


class OwnKafka:
    """A broker of this test's own: topics have fixed names, and those of a shared one are full of
    other tests' offers."""

    def __enter__(self):
        tap.need("kafka")
        servers = tap.load_tool("with-servers")
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="torg-e2e-"))
        self.server = servers.Server("kafka", self.top)
        _, failed = servers.wait_ready([self.server])
        tap.equal(failed, {})
        self.address = self.server.address.format(self.server.port)
        return self

    def signal(self, number):
        os.killpg(self.server.process.pid, number)

    def __exit__(self, *_):
        self.server.stop()
        shutil.rmtree(self.top, ignore_errors=True)


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
        self.at("search").write("searchers.key", made.stdout)
        for role in ROLES:
            self.start(role)

    def __exit__(self, *_):
        for place in self.places.values():
            place.__exit__()

    def start(self, role):
        words = ["serve", *ROLES[role], f"--listen={self.listen[role]}", *self.backends]
        if role == "receiver":
            words.append(f"--registry.shards={self.shards}")
        if role == "searcher":
            words.append("--searcher.checkpoint=500ms")
        if role == "search":
            words += [f"--search.searchers=http://{self.listen['searcher']}",
                      "--search.searchers_key=searchers.key"]
        self.places[role].start(*words)

    def at(self, role):
        return self.places[role]

    def all(self):
        return list(self.places.values())

    def torg(self, role, *words):
        return self.at(role).torg(*words, *self.backends)
