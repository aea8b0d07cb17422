# SPDX-License-Identifier: Apache-2.0
"""Two servers, two data directories, one PostgreSQL: keys are shared, and so is their end."""
import concurrent.futures
import contextlib
import json
import socket
import threading
import time
import urllib.parse

from kit import tap
from kit.binary import TOP, Database, Place


@tap.test
def a_key_revoked_at_one_server_is_refused_at_the_other_within_a_second():
    with Database() as database, Place() as first, Place() as second:
        store = f"--store.url={database.url}"
        first.start("up", store)
        second.start("up", store)
        made = json.loads(first.torg("key", "create", "shared", "--scope", "admin", "--json",
                                     store).stdout)
        tap.wait_until(lambda: second.call("KeyService/ListKeys", key=made["secret"])[0] == 200)
        tap.equal(first.torg("key", "revoke", made["key"]["id"], store).returncode, 0)
        began = time.monotonic()
        tap.wait_until(lambda: second.call("KeyService/ListKeys", key=made["secret"])[0] == 401)
        tap.comment(f"refused after {(time.monotonic() - began) * 1000:.0f} ms")
        tap.equal(time.monotonic() - began < tap.at_load(30), True, "soon")
        tap.equal((first.stop(), second.stop()), (0, 0))


@tap.test
def several_migrating_an_empty_store_at_once_do_it_once():
    with Database() as database, Place() as place:
        words = ["migrate", "--json", f"--store.url={database.url}"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: place.torg(*words), range(4)))
        tap.equal([one.returncode for one in results], [0] * 4, [one.stderr for one in results])
        # They take turns, a migration each; none is applied twice.
        applied = [json.loads(one.stdout)["applied"] for one in results]
        tap.equal(sum(applied), len(list((TOP / "sql").glob("*.sql"))), applied)
        tap.equal(place.data.exists(), False, "a shared store needs no data directory")


class Slow(threading.Thread):
    """A way to PostgreSQL on which nothing comes through for some seconds."""

    def __init__(self, address, pause_s):
        super().__init__(daemon=True)
        self.address, self.pause_s = address, pause_s
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.start()

    def run(self):
        while True:
            near = self.server.accept()[0]
            far = socket.create_connection(self.address)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=pair, daemon=True).start()

    def pass_on(self, source, target):
        time.sleep(self.pause_s)
        with contextlib.suppress(OSError):      # who asked has left
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@tap.test
def a_server_that_is_slow_to_accept_is_waited_for():
    with Database() as database, Place() as place:
        address = urllib.parse.urlparse(database.url)
        done = place.torg("migrate", f"--store.url={database.url}")    # a connection for each: not all are slow
        tap.equal(done.returncode, 0, done.stderr)
        slow = Slow((address.hostname, address.port), 6)
        told = place.torg("migrate", f"--store.url={database.url.replace(f':{address.port}/', f':{slow.port}/')}")
        tap.equal(told.returncode, 0, told.stderr)


@tap.test
def the_password_is_not_in_the_dump_nor_in_errors():
    with Place() as place:
        result = place.torg("migrate", "--store.url=postgres://torg:hunter2@127.0.0.1:1/torg")
        tap.equal(result.returncode, 5)
        tap.equal("hunter2" in result.stderr + result.stdout, False, "password in the error")


tap.main()
