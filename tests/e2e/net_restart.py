# SPDX-License-Identifier: Apache-2.0
"""net_restart.py TESTD - one process follows another while callers go on: nobody fails.

Callers of each protocol ask as fast as they are answered, and may try once more when a connection
breaks, as every client does. Once with SO_REUSEPORT (the next process listens before the old one is
stopped), once with a socket that is handed down (clients wait in it meanwhile).
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from kit import h2raw
from kit import lines
from kit import tap
from kit import testd

ECHO = testd.ECHO
RESTARTS, CALLERS = 10, 16


class Caller:
    """A thread that calls; connections are made anew when the server says so, or they break."""

    def __init__(self, port):
        self.port, self.client = port, None
        self.count = self.retries = 0
        self.failures = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()

    def _work(self):
        while not self.ending.is_set() and len(self.failures) < 3:
            try:
                self._try_twice()
            except Exception as wrong:
                self.failures.append(f"{type(self).__name__}: {type(wrong).__name__}: {wrong}")
            self.count += 1

    def _try_twice(self):
        try:
            self.call()
        except (OSError, http.client.HTTPException, h2raw.Closed):
            self.retries += 1
            self.close()
            self.call()

    def close(self):
        if self.client:
            self.client.close()
        self.client = None

    def stop(self):
        self.ending.set()
        self.thread.join(tap.PATIENCE_S)
        self.close()


class KeepsAlive(Caller):
    def call(self):
        self.client = self.client or http.client.HTTPConnection("127.0.0.1", self.port,
                                                                timeout=tap.PATIENCE_S)
        self.client.request("POST", ECHO + "Echo", '{"text":"x"}',
                            {"Content-Type": "application/json"})
        answer = self.client.getresponse()
        text = answer.read()
        assert answer.status == 200 and json.loads(text)["text"] == "x", (answer.status, text)
        if answer.headers["Connection"] == "close":
            self.close()


class ComesAnew(KeepsAlive):
    def call(self):
        super().call()
        self.close()


class Grpc(Caller):
    def call(self):
        self.client = self.client or h2raw.Connection(self.port)
        reply = self.client.call(ECHO + "Sleep", h2raw.grpc_message(h2raw.field_int(1, 3)))
        if reply.grpc_status is None:
            raise h2raw.Closed(str(reply))    # reset, or the connection ended
        assert reply.grpc_status == 0, reply
        if self.client.goaway:
            self.close()


def start(path, port, *flags, fd=None):
    """Gives a process that listens."""
    words = [path, "--port", str(port), *flags]
    if fd is not None:    # as systemd does it: from descriptor 3 on, for this process alone
        words = ["sh", "-c", f'exec 3<&{fd}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"', "sh", *words]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               pass_fds=[] if fd is None else [fd],
                               env={**os.environ, **testd.SANITIZER_ENV})
    assert json.loads(process.stdout.readline())["port"] == port
    return process


def stop(process):
    process.send_signal(signal.SIGTERM)
    code = process.wait(tap.PATIENCE_S)
    process.stdout.close()
    assert code == 0, f"exit code {code}"


def under_load(port, restart):
    callers = [kind(port) for kind in (KeepsAlive, ComesAnew, Grpc) for _ in range(CALLERS)]
    try:
        for _ in range(RESTARTS):
            seen = [each.count for each in callers]
            assert testd.wait_until(lambda: all(
                each.count > before for each, before in zip(callers, seen)) or any(
                    each.failures for each in callers)), "a caller does not go on"
            restart()
    finally:
        for each in callers:
            each.stop()
    failures = [text for each in callers for text in each.failures]
    assert not failures, f"{len(failures)} failed: {failures[:3]}"
    return (f"{sum(each.count for each in callers)} calls over {RESTARTS} restarts, "
            f"{sum(each.retries for each in callers)} tried twice")


def side_by_side(path):
    port = tap.free_port()
    running = [start(path, port, "--reuse-port")]

    def restart():
        running.append(start(path, port, "--reuse-port"))
        stop(running.pop(0))

    try:
        return under_load(port, restart)
    finally:
        stop(running[0])


def handed_down(path):
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as sock:
        port = sock.getsockname()[1]
        running = [start(path, port, fd=sock.fileno())]

        def restart():
            stop(running.pop())
            running.append(start(path, port, fd=sock.fileno()))

        try:
            return under_load(port, restart)
        finally:
            stop(running[0])


def of_one_address(path):
    """A socket of all addresses is not taken for that of loopback: it would let others in."""
    with socket.create_server(("0.0.0.0", 0)) as sock:
        words = [path, "--port", str(sock.getsockname()[1])]
        shell = f'exec 3<&{sock.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        with subprocess.Popen(["sh", "-c", shell, "sh", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, pass_fds=[sock.fileno()],
                              env={**os.environ, **testd.SANITIZER_ENV}) as process:
            line = process.stdout.readline()
            process.kill()
        assert not line, line


def is_told(path):
    """A keep-alive caller learns with an answer that the connection ends; nothing is cut."""
    for pause_ms in (300, 3000, 30000, 300000):    # longer where a machine is slower than it
        if asked_in_pause(path, pause_ms):
            return f"asked in a pause of {pause_ms} ms"
    raise AssertionError("there was no pause")


def asked_in_pause(path, pause_ms):
    with testd.Testd(path, drain_pause_ms=pause_ms) as server:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=tap.PATIENCE_S)
        client.connect()
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        try:
            assert testd.wait_until(lambda: server.operator("/readyz")[0] == 503, step_s=0.001)
            kept = ask_until_close(client)
        except testd.GONE:
            if time.monotonic() - start < pause_ms / 1000:
                raise
            kept = 0
        assert server.process.wait(tap.PATIENCE_S) == 0
        return kept > 0


def ask_until_close(client):
    """How many answers came before the one that says so."""
    kept = 0
    while True:
        client.request("POST", ECHO + "Echo", "{}", {"Content-Type": "application/json"})
        answer = client.getresponse()
        answer.read()
        assert answer.status == 200
        if answer.headers["Connection"] == "close":
            return kept
        kept += 1


def main():
    path = sys.argv[1]
    lines.run("restarts side by side: nobody fails", side_by_side, path)
    lines.run("restarts with a socket that is handed down: nobody fails", handed_down, path)
    lines.run("a socket of another address is not taken", of_one_address, path)
    lines.run("not ready, then a pause, then connection: close", is_told, path)
    lines.done()


main()
