# SPDX-License-Identifier: Apache-2.0
"""testd.py - starts the test server, watches its memory and descriptors, and ends it.

`Ordeal` surrounds a hostile test: an honest client goes on beside it on connections of its own,
and afterwards the server must be alive, about as small as before and hold no descriptor more.

Nothing here is measured against the clock but by one rule: whoever is closed for its silence has been
silent for that long by its own clock, too, as that began before the server's. A server that closes
earlier is wrong on any machine; one that closes a client which a busy machine has held up is right,
and the client comes again.
"""
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from kit import h2raw
from kit import lines
from kit import tap

ECHO = "/torg.test.v1.EchoService/"
# How long the server waits for a client; tests of these limits set them, others wait for minutes.
TIMEOUTS = ("head_timeout_ms", "body_grace_ms", "idle_timeout_ms", "stall_timeout_ms")
LONG_MS = 600 * 1000
GONE = (OSError, http.client.HTTPException, h2raw.Closed)

# Freed memory must really be freed, or the memory bounds would measure the sanitizer.
SANITIZER_ENV = {
    "ASAN_OPTIONS": "quarantine_size_mb=1:thread_local_quarantine_size_kb=16:"
                    "allocator_release_to_os_interval_ms=200:malloc_context_size=8:handle_sigill=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


class Testd:
    """A running server. Options are testd's own flags: Testd(path, workers=2, auth=True)."""

    def __init__(self, path, tls=None, client_required=False, **options):
        self.arguments = [path]
        self.tls = tls
        if tls:
            self.arguments += ["--tls", tls.file("server.pem"), tls.file("server.key"),
                               "--client-ca", tls.file("ca.pem")]
        if client_required:
            self.arguments.append("--client-required")
        options = {**{name: LONG_MS for name in TIMEOUTS}, **options}
        self.silence_s = min(int(options[name]) for name in TIMEOUTS) / 1000
        for name, value in options.items():
            self.arguments.append("--" + name.replace("_", "-"))
            if value is not True:
                self.arguments.append(str(value))
        self._check_flags(path)
        self.log = tempfile.TemporaryFile("a+b")  # appended to: reading it moves no writer
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, stderr=self.log,
                                        env={**os.environ, **SANITIZER_ENV})
        line = self.process.stdout.readline()
        try:
            self.ports = json.loads(line)
        except ValueError:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"{' '.join(self.arguments)} printed {line!r}\n{self.log_text()}")
        self.port = self.ports["port"]
        self.operator_port = self.ports["operator_port"]
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            text = maps.read()
        self.sanitized = "libasan" in text or "libtsan" in text

    def _check_flags(self, path):
        """A flag the server does not know makes its tests skipped, and says so."""
        with open(path, "rb") as program:
            known = program.read()
        for flag in self.arguments:
            if flag.startswith("--") and flag.encode() + b"\0" not in known:
                raise tap.Skip(f"testd has no {flag}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def log_text(self):
        return self.whole_log()[-6000:]

    def whole_log(self):
        self.log.seek(0)
        return self.log.read().decode("utf-8", "replace")

    def alive(self):
        return self.process.poll() is None

    def stop(self, timeout=tap.PATIENCE_S):
        """Ends it as an operator would; gives the exit code."""
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    def rss_kb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))

    def fd_count(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def connect(self, timeout=tap.PATIENCE_S, source="127.0.0.1"):
        """A plain socket to the service's port."""
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=timeout,
                                        source_address=(source, 0))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def http2(self, **options):
        return h2raw.Connection(self.port, **options)

    def operator(self, path):
        """GET on the operators' port: status and text."""
        client = http.client.HTTPConnection("127.0.0.1", self.operator_port, timeout=tap.PATIENCE_S)
        try:
            client.request("GET", path)
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def calls(self, method="Echo"):
        """How many calls of an EchoService method have been answered, whatever the status."""
        status, text = self.operator("/metrics")
        assert status == 200, f"/metrics answers {status}"
        total = 0
        for name, labels, value in parse_metrics(text):
            if name.endswith(("requests_total", "calls_total")) and \
                    any(v.endswith("/" + method) or v == method for v in labels.values()):
                total += value
        return int(total)


METRIC = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')


def parse_metrics(text):
    """Prometheus' text format, strictly: (name, labels, value) of every line."""
    found = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = METRIC.match(line)
        assert match, f"not a metric: {line!r}"
        labels = match.group(2) or ""
        pairs = LABEL.findall(labels)
        assert "".join(f'{n}="{v}",' for n, v in pairs).rstrip(",") == labels.rstrip(","), \
            f"bad labels: {line!r}"
        found.append((match.group(1), dict(pairs), float(match.group(3))))
    return found


class Certificates:
    """A certificate authority, a server's and a client's certificate, in a temporary folder."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout",
                      self.file("ca.key"), "-out", self.file("ca.pem"))
        with open(self.file("names"), "w", encoding="ascii") as names:
            names.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        self._issue("server", "/CN=localhost")
        self._issue("client", "/CN=honest-client")
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", "/CN=stranger", "-keyout",
                      self.file("stranger.key"), "-out", self.file("stranger.pem"))

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True,
                       timeout=tap.PATIENCE_S)

    def _issue(self, name, subject):
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-subj", subject, "-keyout", self.file(name + ".key"), "-out",
                      self.file(name + ".csr"))
        self._openssl("x509", "-req", "-in", self.file(name + ".csr"), "-CA", self.file("ca.pem"),
                      "-CAkey", self.file("ca.key"), "-CAcreateserial", "-days", "2", "-extfile",
                      self.file("names"), "-out", self.file(name + ".pem"))

    def context(self, client=None, alpn=("h2", "http/1.1")):
        context = ssl.create_default_context(cafile=self.file("ca.pem"))
        context.set_alpn_protocols(list(alpn))
        if client:
            context.load_cert_chain(self.file(client + ".pem"), self.file(client + ".key"))
        return context


class Honest:
    """A thread that calls Echo by JSON over HTTP/1.1 and by gRPC, in turns, and checks each answer."""

    def __init__(self, server, pause_s=0.05):
        self.server = server
        self.pause_s = pause_s
        self.context = server.tls.context(alpn=("http/1.1",)) if server.tls else None
        self.context2 = server.tls.context(alpn=("h2",)) if server.tls else None
        self.count = 0
        self.renewed = 0    # connections, since we were too slow
        self.slowest_s = 0.0
        self.failures = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._work, daemon=True)

    def start(self):
        self.thread.start()

    def stop(self):
        self.goes_on()
        self.ending.set()
        self.thread.join(tap.PATIENCE_S)

    def goes_on(self):
        """Until two more turns have been made: what stands in the way now does not hold them up."""
        wanted = self.count + 2
        wait_until(lambda: self.count >= wanted or self.failures or not self.thread.is_alive())

    def _json(self, text, client):
        client.request("POST", ECHO + "Echo", json.dumps({"text": text}),
                       {"Content-Type": "application/json"})
        answer = client.getresponse()
        body = answer.read()
        if answer.status == 408:
            raise h2raw.Closed("told that it is slow")
        if answer.status != 200 or json.loads(body).get("text") != text:
            raise ValueError(f"JSON echo of {text}: {answer.status} {body[:300]!r}")

    def _grpc(self, text, client):
        reply = client.call(ECHO + "Echo", h2raw.grpc_message(h2raw.field_bytes(1, text)),
                            timeout=tap.PATIENCE_S)
        if reply.grpc_status is None and (reply.closed or reply.reset == h2raw.REFUSED_STREAM):
            raise h2raw.Closed(str(reply))
        if reply.grpc_status != 0 or h2raw.parse_message(reply.messages[0])[1] != [text.encode()]:
            raise ValueError(f"gRPC echo of {text}: {reply}")

    def _client1(self):
        if self.context:
            return http.client.HTTPSConnection("localhost", self.server.port, timeout=tap.PATIENCE_S,
                                               context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=tap.PATIENCE_S)

    def _client2(self):
        return h2raw.Connection(self.server.port, tls=self.context2, timeout=tap.PATIENCE_S)

    def _turn(self, number, links):
        """Every tenth turn comes on new connections: accepting must go on too."""
        if number % 10 == 0:
            for link in links:
                link.close()
        links[0].ask(self._json, f"honest {number} json")
        links[1].ask(self._grpc, f"honest {number} grpc")
        self.renewed = sum(link.renewed for link in links)

    def _work(self):
        links = [Link(self.server, self._client1), Link(self.server, self._client2)]
        number = 0
        while not self.ending.is_set() and len(self.failures) < 5:
            start = time.monotonic()
            try:
                self._turn(number, links)
                number += 1
            except Exception as wrong:
                self.failures.append(f"turn {number}: {type(wrong).__name__}: {wrong}")
                number += 10 - number % 10
            self.slowest_s = max(self.slowest_s, time.monotonic() - start)
            self.count += 1
            self.ending.wait(self.pause_s)
        for link in links:
            link.close()

    def check(self):
        assert not self.failures, "\n".join(self.failures)
        assert not self.thread.is_alive(), f"turn {self.count} does not end"
        assert self.count >= 2, f"only {self.count} turns were made"
        return (f"{self.count} turns, slowest {self.slowest_s * 1000:.0f} ms, "
                f"{self.renewed} connections made anew")


class Link:
    """A client's connection, made anew when it was closed for a silence that was one."""

    def __init__(self, server, make):
        self.server, self.make = server, make
        self.client, self.renewed = None, 0
        self.said_s = 0.0    # before the server heard of it last

    def ask(self, act, text):
        while True:
            begun = time.monotonic()
            try:
                if not self.client:
                    self.said_s = begun
                    self.client = self.make()
                act(text, self.client)
                self.said_s = begun
                return
            except GONE:
                self.close()
                if time.monotonic() - self.said_s < self.server.silence_s:
                    raise
                self.renewed += 1

    def close(self):
        if self.client:
            self.client.close()
        self.client = None


def in_time(server, act):
    """What act() gives: again when it took so long that the server was right to close."""
    while True:
        start = time.monotonic()
        try:
            return act()
        except GONE:
            if time.monotonic() - start < server.silence_s:
                raise


def wait_until(condition, timeout=tap.PATIENCE_S, step_s=0.05):
    """True as soon as the condition holds."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(step_s)
    return True


class Ordeal:
    """with Ordeal(server, name): hostile things; two test lines follow when it is over."""

    def __init__(self, server, name, rss_mb=16):
        self.server, self.name = server, name
        self.rss_kb = rss_mb * 1024 * (3 if server.sanitized else 1)
        self.rss_peak_kb = 0

    def __enter__(self):
        self.fd_before = self.server.fd_count()
        self.rss_before = self.server.rss_kb()
        self.honest = Honest(self.server)
        self.honest.start()
        wait_until(lambda: self.honest.count > 0)
        self.sampling = threading.Event()
        self.sampler = threading.Thread(target=self._sample, daemon=True)
        self.sampler.start()
        return self

    def _sample(self):
        while not self.sampling.wait(0.02) and self.server.alive():
            try:
                self.rss_peak_kb = max(self.rss_peak_kb, self.server.rss_kb())
            except (OSError, AttributeError):
                return

    def __exit__(self, kind, wrong, _):
        self.sampling.set()
        self.sampler.join(tap.PATIENCE_S)
        self.honest.stop()
        if kind:
            lines.report(False, f"{self.name}: the test itself", f"{kind.__name__}: {wrong}")
        lines.run(f"{self.name}: honest clients go on", self.honest.check)
        lines.run(f"{self.name}: the server lives, its memory and descriptors are back",
                self._check_server)
        return kind is not None and issubclass(kind, Exception)

    def goes_on(self):
        """Asked while an attack stands: two more turns of the honest client are made beside it."""
        self.honest.goes_on()

    def _check_server(self):
        server = self.server
        assert server.alive(), f"exit code {server.process.poll()}\n{server.log_text()}"
        assert wait_until(lambda: server.fd_count() <= self.fd_before), \
            f"{self.fd_before} descriptors before, {server.fd_count()} after"
        grown = max(self.rss_peak_kb, server.rss_kb()) - self.rss_before
        assert grown <= self.rss_kb, f"grew by {grown} KB at its peak, allowed are {self.rss_kb}"
        return f"grew by {grown} KB at its peak, {server.rss_kb() - self.rss_before} KB now"


def end(server):
    """The last line of every script: a clean end, which under a sanitizer also means no leak."""
    def check():
        code = server.stop()
        assert code == 0, f"exit code {code}\n{server.log_text()}"
    lines.run("the server ends cleanly on SIGTERM", check)
