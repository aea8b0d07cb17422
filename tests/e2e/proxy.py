# SPDX-License-Identifier: Apache-2.0
"""A front that stands still is left by its callers: HAProxy, with the settings of docs/processes.md, has two processes
behind it, one of which is frozen (SIGSTOP) under steady calls.

No time is measured: how soon callers are moved is what the settings say, and they are added up.
"""
import http.client
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "processes.md"
CALLERS = 4
MOVED_MS = 1000
AROUND = """defaults
    mode http
    timeout client 60s
frontend callers
    bind 127.0.0.1:{port}
    default_backend torg-search
"""


def settings():
    return re.search(r"^backend torg-search\n(?:    .*\n)+", PAGE.read_text(), re.M)[0]


def number(text, name):
    return int(re.search(rf"{name} +(\d+)", text)[1])


class Proxy:
    """HAProxy before the places, which answers tell of."""

    def __init__(self, places):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        lines = settings()
        for name, place in zip("ab", places):
            at, operators = (url.strip().split("//")[1].rstrip("/") for url in (place.url, place.operators))
            lines, count = re.subn(rf"server {name} \S+ check port \d+",
                                   f"server {name} {at} check port {operators.split(':')[1]}", lines)
            tap.equal(count, 1, lines)
        config = places[0].dir / "haproxy.cfg"
        # A busy machine must not be taken for one that stands still: the order of events is tried, not the times.
        lines = re.sub(r"timeout check +\d+ms", "timeout check 30s", lines)
        lines = re.sub(r"timeout connect +\d+ms", "timeout connect 60s", lines)
        lines = re.sub(r"timeout server +\d+s", "timeout server 900s", lines)
        config.write_text(AROUND.format(port=self.port) + lines + "    http-response set-header front %s\n")
        self.log = open(places[0].dir / "haproxy.log", "w")
        self.process = subprocess.Popen([tap.tool("haproxy"), "-db", "-f", str(config)],
                                        stdout=self.log, stderr=self.log)

    def call(self):
        """(status, which front has answered)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=tap.PATIENCE_S)
        try:
            connection.request("POST", "/torg.v1.SearchService/SearchOffers", b"{}",
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("front")
        finally:
            connection.close()

    def is_up(self):
        try:
            return self.call()[0] == 200
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=tap.PATIENCE_S)
        self.log.close()


class Caller(threading.Thread):
    def __init__(self, proxy):
        super().__init__(daemon=True)
        self.proxy, self.answers, self.ended = proxy, [], False

    def run(self):
        while not self.ended:
            try:
                self.answers.append(self.proxy.call())
            except OSError as trouble:
                self.answers.append((repr(trouble), None))
            time.sleep(0.05)        # they are steady, and no load


def seen(callers):
    return {answer for caller in callers for answer in caller.answers}


@tap.test
def the_settings_move_callers_within_a_second():
    lines = settings()
    wait = number(lines, "timeout check")
    tap.equal(number(lines, "fall"), 2)
    slowest = number(lines, " inter") + wait + number(lines, "fastinter") + wait
    if slowest >= MOVED_MS:
        raise AssertionError(f"two checks may take {slowest} ms")
    tap.contains(lines, "on-marked-down shutdown-sessions")


@tap.test
def calls_go_to_the_other_while_a_front_stands_still():
    with Place() as a, Place() as b:
        a.start()
        b.start()
        proxy = Proxy((a, b))
        callers = [Caller(proxy) for _ in range(CALLERS)]
        try:
            tap.wait_until(proxy.is_up, what="the proxy")
            for caller in callers:
                caller.start()
            tap.wait_until(lambda: {(200, "a"), (200, "b")} <= seen(callers), what="answers of both")
            a.process.send_signal(signal.SIGSTOP)
            before = [len(caller.answers) for caller in callers]

            # Two calls of each may have been under way, or answered already: whoever gets on further was moved.
            def all_went_on():
                return all(len(caller.answers) > count + 20 for caller, count in zip(callers, before))

            tap.wait_until(all_went_on, what="callers who are moved")
            last = {caller.answers[-1] for caller in callers}
            tap.equal(last, {(200, "b")})
            a.process.send_signal(signal.SIGCONT)
            marks = [len(caller.answers) for caller in callers]
            tap.wait_until(lambda: any((200, "a") in caller.answers[mark:] for caller, mark in zip(callers, marks)),
                           what="the first again")
        finally:
            a.process.send_signal(signal.SIGCONT)
            for caller in callers:
                caller.ended = True
            for caller in callers:
                if caller.ident:
                    caller.join(timeout=tap.PATIENCE_S)
            proxy.stop()
        tap.equal(seen(callers), {(200, "a"), (200, "b")})       # none has failed
        tap.equal(a.stop(), 0, a.log()[-2000:])
        tap.equal(b.stop(), 0, b.log()[-2000:])


tap.main()
