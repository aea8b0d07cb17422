# SPDX-License-Identifier: Apache-2.0
"""Servers behind Torg that ask who is calling: PostgreSQL (TLS), Kafka (TLS, SASL), ZooKeeper (digest, TLS)."""
import concurrent.futures
import os
import secrets
import socket
import struct
import subprocess
import urllib.parse

from kit import tap
from kit.binary import Database, Place

OTHER = "other.pem"


def more(server, end):
    """What is told of a server besides its address."""
    tap.need(server)
    value = os.environ.get(f"TORG_TEST_{server.upper()}_{end}")
    return value or tap.skip(f"this {server} has no {end}")


class Guarded(Place):
    spelling = False

    def __enter__(self):
        super().__enter__()
        self.write("password", "secret\n")
        self.write("wrong", "sesame\n")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                        self.dir / "other.key", "-out", self.dir / OTHER], check=True, capture_output=True)
        return self

    def refused(self, told, *words):
        result = self.torg(*words)
        tap.equal(result.returncode != 0, True, words)
        tap.equal(any(one in result.stderr for one in told), True, f"{words}: {result.stderr}")


@tap.test
def postgres_is_asked_who_it_is():
    ca = more("postgres", "CA")
    with Guarded() as place, Database() as database:
        parts = urllib.parse.urlsplit(database.url)
        database.run("DO $$ BEGIN CREATE ROLE secure SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
        url = f"postgresql://secure@{{}}:{parts.port}{parts.path}"
        # The server lets this user in by TLS alone, whatever the URL says the authority's file decides.
        place.refused(["rejects", "SSL"], "migrate", f"--store.url={url.format('localhost')}?sslmode=disable")
        good = (f"--store.url={url.format('localhost')}?sslmode=disable", f"--store.ca={ca}")
        done = place.torg("migrate", *good)
        tap.equal(done.returncode, 0, done.stderr)
        # Another authority, or another name than the certificate has.
        place.refused(["certificate"], "migrate", good[0], f"--store.ca={OTHER}")
        place.refused(["does not match"], "migrate", f"--store.url={url.format('127.0.0.1')}", f"--store.ca={ca}")
        place.refused(["nowhere.pem"], "migrate", good[0], "--store.ca=nowhere.pem")


@tap.test
def kafka_is_signed_in_to():
    address, ca = more("kafka", "SECURE"), more("kafka", "CA")
    with Guarded() as place:
        tap.equal(place.torg("migrate").returncode, 0)
        prefix = f"--topic.prefix=s{secrets.token_hex(4)}."
        base = ("topic", "list", f"--topic.url=kafka://{address}", prefix)
        sign_in = ("--topic.tls=true", f"--topic.ca={ca}", "--topic.user=torg")
        for how in ("SCRAM-SHA-512", "PLAIN"):
            done = place.torg(*base, *sign_in, f"--topic.sasl={how}", "--topic.password_file=password")
            tap.equal((done.returncode, done.stderr), (0, ""), how)
        # What makes no sense is told before anybody is asked.
        place.refused(["PLAIN would send the password"], *base, "--topic.sasl=PLAIN", "--topic.user=torg",
                      "--topic.password_file=password")
        place.refused(["needs a user and a password"], *base, *sign_in, "--topic.sasl=SCRAM-SHA-512")
        place.refused(["TLS is not asked for"], *base, f"--topic.ca={ca}")
        place.refused(["topic.password_file"], *base, *sign_in, "--topic.sasl=PLAIN", "--topic.password_file=nowhere")
        # A whole program on it: topics are made, an offer goes through them.
        place.start("up", f"--topic.url=kafka://{address}", prefix, *sign_in, "--topic.sasl=SCRAM-SHA-512",
                    "--topic.password_file=password")
        tap.equal("secret" in place.log() + place.torg("config").stdout, False, "the password is nowhere")
        tap.equal(place.stop(), 0)


@tap.beside
def kafka_refuses_who_does_not_know_the_password():
    address, ca = more("kafka", "SECURE"), more("kafka", "CA")
    with Guarded() as place:
        tap.equal(place.torg("migrate").returncode, 0)
        base = ("topic", "list", f"--topic.url=kafka://{address}", "--topic.tls=true", "--topic.user=torg",
                "--topic.sasl=SCRAM-SHA-512")
        place.refused(["uthentication", "Kafka"], *base, f"--topic.ca={ca}", "--topic.password_file=wrong")
        place.refused(["certificate", "SSL", "Kafka"], *base, f"--topic.ca={OTHER}", "--topic.password_file=password")


class ZooKeeper:
    """A stranger: ZooKeeper's protocol by hand, as much as it takes to look at a node and its ACL."""

    def __init__(self, address):
        host, port = address.split(":")
        self.link = socket.create_connection((host, int(port)), timeout=tap.PATIENCE_S)
        self.number = 0
        self.send(struct.pack("!iqiqi16s", 0, 0, 10000, 0, 16, b""))
        self.receive()

    def send(self, body):
        self.link.sendall(struct.pack("!i", len(body)) + body)

    def receive(self):
        need, data = 4, b""
        while len(data) < need:
            part = self.link.recv(need - len(data))
            tap.equal(bool(part), True, "ZooKeeper has closed the connection")
            data += part
            if len(data) == 4 and need == 4:
                need = 4 + struct.unpack("!i", data)[0]
        return data[4:]

    def ask(self, kind, path, rest=b""):
        """(error, what follows)"""
        self.number += 1
        self.send(struct.pack("!iii", self.number, kind, len(path)) + path.encode() + rest)
        answer = self.receive()
        return struct.unpack("!i", answer[12:16])[0], answer[16:]

    def close(self):
        self.link.close()


GET_DATA, SET_DATA, GET_ACL, NO_AUTH = 4, 5, 6, -102


@tap.test
def what_is_in_zookeeper_is_ours_alone():
    address = tap.need("zookeeper")
    with Guarded() as place:
        path = f"/torg-{secrets.token_hex(6)}"
        url = f"--coord.url=zookeeper://{address}{path}"
        place.start("up", url, "--coord.user=torg", "--coord.password_file=password")
        stranger = ZooKeeper(address)
        tap.equal(stranger.ask(GET_DATA, f"{path}/registers", b"\0")[0], NO_AUTH)
        tap.equal(stranger.ask(SET_DATA, f"{path}/registers", struct.pack("!i1si", 1, b"x", -1))[0], NO_AUTH)
        tap.equal(stranger.ask(GET_ACL, f"{path}/members")[0] in (0, NO_AUTH), True)
        stranger.close()
        tap.equal(place.stop(), 0)
        # Without the name, or with another password, nothing can be done there.
        with Guarded() as other:
            other.refused(["refuses"], "up", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0", url)
            other.refused(["refuses"], "up", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0", url,
                          "--coord.user=torg", "--coord.password_file=wrong")
            other.refused(["needs a password"], "up", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0", url,
                          "--coord.user=torg")
        place.start("up", url, "--coord.user=torg", "--coord.password_file=password")
        tap.equal(place.stop(), 0)


@tap.beside
def zookeeper_is_asked_who_it_is():
    address, ca, certificate = (more("zookeeper", end) for end in ("SECURE", "CA", "CERTIFICATE"))
    port, plain_port = (one.rsplit(":", 1)[1] for one in (address, tap.need("zookeeper")))
    with Guarded() as place:
        path = f"/torg-{secrets.token_hex(6)}"
        start = ("up", "--listen=127.0.0.1:0", "--operator-listen=127.0.0.1:0")
        url, tls = f"--coord.url=zookeeper://{address}{path}", "--coord.tls=true"
        whole = (url, tls, f"--coord.ca={ca}", f"--coord.certificate={certificate}", "--coord.user=torg",
                 "--coord.password_file=password")
        # What makes no sense is told before anybody is asked.
        place.refused(["coord.tls is not on"], *start, url, f"--coord.ca={ca}")
        place.refused(["nowhere.pem"], *start, url, tls, "--coord.ca=nowhere.pem")

        def refused(told, *words):
            with Guarded() as other:    # each waits for a server that would be good: side by side
                other.refused(told, *start, *words)

        with concurrent.futures.ThreadPoolExecutor() as pool:
            cases = [
                pool.submit(refused, ["self-signed certificate"], url, tls, f"--coord.ca={OTHER}"),
                pool.submit(refused, ["mismatch"], f"--coord.url=zookeeper://127.0.0.1:{port}{path}", *whole[1:]),
                pool.submit(refused, ["certificate", "closed the connection"], *whole[:3]),
                pool.submit(refused, ["unexpected eof", "closed the connection", "wrong version"],
                            f"--coord.url=zookeeper://localhost:{plain_port}{path}", *whole[1:])]
        for case in cases:
            case.result()
        # A whole program on it: the session is of our name, and ends with the program.
        place.start("up", *whole)
        plain = ZooKeeper(tap.need("zookeeper"))
        tap.equal(plain.ask(GET_DATA, f"{path}/registers", b"\0")[0], NO_AUTH)
        tap.equal(place.stop(), 0)
        again = place.torg("audit", "list", *whole)
        tap.equal(again.returncode, 0, again.stderr)
        plain.close()


tap.main()
