# SPDX-License-Identifier: Apache-2.0
"""What operators run into: odd paths, full and read-only disks, wrong files, closed streams. Each
has a message that names the thing, and the exit code that help promises."""
import http.client
import os
import pathlib
import signal
import socket
import subprocess

from kit import tap
from kit.binary import FREE_PORTS, TORG, Place, environment, fetch


def refused(place, *words, code, told):
    result = place.torg("up", *FREE_PORTS, *words)
    tap.equal(result.returncode, code, words)
    tap.contains(result.stderr, told)
    tap.equal(result.stdout, "", words)


def self_signed(place, name):
    result = tap.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                     "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                     "-keyout", f"{name}.key", "-out", f"{name}.pem", cwd=place.dir)
    tap.equal(result.returncode, 0, result.stderr)


class SmallDisk:
    """A file system of some size in `disk` of the place; only root can have one."""

    def __init__(self, place, size):
        self.dir, self.size = place.dir / "disk", size

    def __enter__(self):
        self.dir.mkdir()
        if os.getuid() != 0 or self.mount("-t", "tmpfs", "-o", f"size={self.size}", "tmpfs"):
            tap.skip("no right to mount")
        return self

    def __exit__(self, *_):
        tap.run("umount", "--lazy", self.dir)       # a server may still run there, after a failure

    def mount(self, *words):
        return tap.run("mount", *words, self.dir).returncode

    def fill(self):
        with open(self.dir / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)) == 4096:
                    pass
            except OSError:
                pass


@tap.test
def any_path_can_be_the_data_directory():
    for name in ("с пробелом и 日本", "a?b#c%20'd\"e&f=g"):
        with Place() as place:
            place.data = place.dir / name
            place.start("up", f"--data={place.data}")
            tap.contains(place.out(), str(place.data))
            made = place.torg("key", "create", "k", "--scope=admin", f"--data={place.data}")
            tap.equal(place.call("KeyService/ListKeys", key=made.stdout.strip())[0], 200)
            tap.equal(place.stop(), 0)
            tap.equal((place.data / "store.sqlite").exists(), True)
            tap.contains(place.torg("key", "list", f"--data={place.data}").stdout, "admin")


@tap.test
def a_directory_that_cannot_be_used_is_not_one_in_use():
    with Place() as place:
        (place.dir / "file").touch()
        for path in ("file", "file/below", "/proc/none"):
            refused(place, f"--data={path}", code=3, told="data directory")
        tap.equal(place.torg("key", "list", "--data=file").returncode, 1)
        with SmallDisk(place, "1m") as disk:
            disk.mount("-o", "remount,ro")
            refused(place, f"--data={disk.dir}", code=3, told="Read-only file system")
            refused(place, f"--data={disk.dir}/new", code=3, told="Read-only file system")


@tap.test
def a_full_disk_refuses_writes_and_serves_on():
    with Place() as place, SmallDisk(place, "6m") as disk:    # a new server takes two of them
        place.data = disk.dir / "data"
        place.start("up", f"--data={place.data}")
        disk.fill()
        written = set()

        def refusal():
            """Until its log, which is there already, is full, a write finds room in it."""
            name = f"k{len(written)}"
            status, answer = place.call("KeyService/CreateKey", {"name": name, "scopes": ["admin"]},
                                        place.start_key)
            if status == 200:
                written.add(name)
                return None
            tap.equal((status, answer["code"]), (503, "unavailable"))
            return answer

        for _ in range(3):
            answer = tap.wait_until(refusal, what="a refusal")
            tap.contains(answer["message"], "make room on the disk")
        listed, token = set(), ""
        while token is not None:
            status, answer = place.call("KeyService/ListKeys", {"pageToken": token}, place.start_key)
            tap.equal(status, 200, answer)
            listed |= {one["name"] for one in answer.get("keys", [])}
            token = answer.get("nextPageToken")
        tap.equal(listed, written)
        (disk.dir / "filler").unlink()
        made = place.torg("key", "create", "later", "--scope=admin", f"--data={place.data}")
        tap.equal(made.returncode, 0, made.stderr)
        disk.fill()
        tap.equal(place.stop(), 0, "a stop that cannot be recorded is one all the same")
        disk.fill()         # what the stop gave back
        result = place.torg("up", *FREE_PORTS, f"--data={place.data}")
        tap.equal((result.returncode, "make room on the disk" in result.stderr), (5, True), result.stderr)


@tap.test
def a_port_in_use_is_named():
    with Place() as place, socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refused(place, f"--listen={address}", code=5, told=f"{address}: Address already in use")
        refused(place, f"--operator-listen={address}", code=5,
                told=f"{address}: Address already in use")
        refused(place, f"--listen={address}", code=5, told="--operator-listen name other addresses")


@tap.test
def a_file_in_place_of_the_data_directory_is_named():
    with Place() as place:
        place.write("goods.csv", "id\n")
        refused(place, "--data=goods.csv", code=3, told="goods.csv is a file")


@tap.test
def wrong_tls_files_are_told_by_their_cause():
    with Place() as place:
        self_signed(place, "a")
        self_signed(place, "b")
        for certificate, key, told in [
                ("none.pem", "a.key", "none.pem: No such file or directory"),
                ("a.pem", "none.key", "none.key: No such file or directory"),
                ("a.key", "a.key", "a.key: no start line"),
                ("a.pem", "a.pem", "a.pem: "),
                ("a.pem", "b.key", "b.key: key values mismatch")]:
            refused(place, f"--tls.certificate={certificate}", f"--tls.key={key}", code=3,
                    told=told)
        refused(place, "--tls.certificate=a.pem", "--tls.key=a.key", "--tls.client_ca=a.key",
                code=3, told="authority a.key")


@tap.test
def a_killed_server_is_not_taken_for_a_running_one():
    with Place() as place:
        place.start()
        tap.equal(place.stop(signal.SIGKILL), -signal.SIGKILL)
        status = place.torg("status")
        tap.equal(status.returncode, 5)
        tap.contains(status.stderr, "one that was killed leaves its address")
        tap.equal(place.torg("key", "create", "k", "--scope=admin").returncode, 0)


@tap.test
def streams_that_are_closed_do_not_fall_on_a_file():
    """Without a descriptor 1 the next file to be opened would get it, and all that is printed."""
    with Place() as place:
        process = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" <&- >&-', "sh", TORG, "up",
                                    *FREE_PORTS], cwd=place.dir, env=environment(),
                                   stderr=subprocess.DEVNULL)
        try:
            tap.wait_until((place.data / "server.url").exists, what="the server")
            for number in (0, 1):
                tap.equal(os.readlink(f"/proc/{process.pid}/fd/{number}"), "/dev/null")
            tap.equal((place.data / "LOCK").read_text(), str(process.pid))
        finally:
            process.terminate()
            tap.equal(process.wait(timeout=tap.PATIENCE_S), 0)


@tap.test
def a_reader_that_leaves_does_not_end_the_server():
    with Place() as place:
        process = subprocess.Popen([TORG, "up", *FREE_PORTS], cwd=place.dir, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            tap.contains(process.stdout.readline().decode(), "is up")
            process.stdout.close()
            place.url = tap.wait_until(lambda: read_text(place.data / "server.url"))
            tap.equal(place.call("SystemService/GetSystem")[0], 200)
        finally:
            process.terminate()
            tap.equal(process.wait(timeout=tap.PATIENCE_S), 0)


def read_text(path):
    return path.read_text() if path.exists() else ""


@tap.test
def who_reads_that_it_is_up_may_stop_it():
    """SIGTERM ends a start at once (143); from the first word of the welcome on it drains (0)."""
    with Place() as place:
        for _ in range(20):
            process = subprocess.Popen([TORG, "up", *FREE_PORTS], cwd=place.dir, env=environment(),
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            try:
                process.stdout.read(1)
            finally:
                process.terminate()
                tap.equal(process.wait(timeout=tap.PATIENCE_S), 0)
                process.stdout.close()


def is_served(place):
    try:
        return fetch(f"{place.url}/")[0] == 200
    except (OSError, http.client.HTTPException):    # it has not seen yet that the others have left
        return False


@tap.test
def few_open_files_are_told_and_survived():
    with Place() as place:
        place.process = subprocess.Popen(
            ["/bin/sh", "-c", 'ulimit -n 160; exec "$@" 2>log', "sh", TORG, "up", *FREE_PORTS],
            cwd=place.dir, env=environment(), stdout=subprocess.DEVNULL)
        place.url = tap.wait_until(lambda: read_text(place.data / "server.url"))
        tap.contains(place.log(), "the limit of open files is low")
        host, port = place.url.removeprefix("http://").split(":")
        idle = [socket.create_connection((host, int(port)), timeout=tap.PATIENCE_S)
                for _ in range(100)]
        for sock in idle:
            sock.close()
        tap.wait_until(lambda: is_served(place), what="room for one more")
        tap.equal(place.stop(), 0)


@tap.test
def a_file_of_another_system_is_read():
    with Place() as place:
        settings = "[server]\r\ndrain = 5s\r\n[log]\r\nlevel = \"warn\"\r\n"
        pathlib.Path(place.dir / "torg.toml").write_bytes(b"\xef\xbb\xbf" + settings.encode())
        tap.equal(place.torg("config", "check").returncode, 0)
        dump = place.torg("config", "dump").stdout
        tap.contains(dump, 'drain = "5s"')
        tap.contains(dump, 'level = "warn"')


tap.main()
