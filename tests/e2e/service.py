# SPDX-License-Identifier: Apache-2.0
"""packaging/torg@.service: its command line is one that torg takes, a process that a signal has ended is
brought back on what it left, and one that cannot run is not tried for ever. systemd itself is asked
about the file where it is there.
"""
import configparser
import os
import pathlib
import shutil
import signal
import socket
import sys

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import TORG, Place, fetch, torg  # noqa: E402

UNIT = pathlib.Path(TORG).parent / "torg@.service"


def settings():
    parser = configparser.RawConfigParser(strict=False, delimiters="=")
    parser.optionxform = str
    parser.read(UNIT)
    return parser["Service"]


def words(place):
    """Of ExecStart, behind the program, for the instance `shop` whose settings are at the place."""
    program, *rest = settings()["ExecStart"].replace("/etc/torg/%i", str(place.dir / "shop")).split()
    tap.equal(pathlib.Path(program).name, "torg")
    default = settings()["Environment"].split("=", 1)
    tap.equal(default[0], "COMMAND")
    return [default[1] if word == "$COMMAND" else word for word in rest]


@tap.test
def what_a_fault_has_ended_is_brought_back():
    service = settings()
    tap.equal(service["Restart"], "on-failure")     # also by a signal
    tap.equal(service["WorkingDirectory"], "%S/" + service["StateDirectory"])
    with Place() as place:
        place.write("shop.toml", "[log]\nlevel = warn\n")
        place.start(*words(place))
        tap.equal(place.stop(signal.SIGABRT), -signal.SIGABRT)
        place.start(*words(place))
        tap.equal(fetch(f"{place.operators}/livez"), (200, "ok\n"))
        tap.equal(place.stop(), 0)


def told(supervisor, seconds=tap.PATIENCE_S):
    """What the process says next; None: nothing in that time."""
    supervisor.settimeout(seconds)
    try:
        return supervisor.recv(100).decode()
    except TimeoutError:
        return None


@tap.test
def a_supervisor_hears_that_it_is_ready_and_alive():
    tap.equal([settings()[name] for name in ("Type", "WatchdogSignal")], ["notify", "SIGKILL"])
    with Place() as place, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(place.dir / "notify"))
        os.environ.update(NOTIFY_SOCKET=str(place.dir / "notify"), WATCHDOG_USEC="200000")
        try:
            place.start()
        finally:
            del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
        tap.equal([told(supervisor) for _ in range(4)], ["READY=1"] + ["WATCHDOG=1"] * 3)
        place.process.send_signal(signal.SIGSTOP)
        # What was said before it stood still is read first; then nothing comes, however long.
        tap.wait_until(lambda: told(supervisor, 2) is None, what="silence")
        place.process.send_signal(signal.SIGCONT)
        tap.equal(told(supervisor), "WATCHDOG=1")
        tap.equal(place.stop(), 0)


@tap.test
def what_cannot_run_is_not_tried_again():
    given_up = settings()["RestartPreventExitStatus"].split()
    with Place() as place:
        place.write("shop.toml", "[nothing]\nat = all\n")
        tap.equal(str(torg(*words(place), cwd=place.dir).returncode) in given_up, True)
        tap.equal(str(torg("serve", "nobody", cwd=place.dir).returncode) in given_up, True)


@tap.test
def systemd_takes_the_file():
    if not shutil.which("systemd-analyze"):
        raise tap.Skip("no systemd-analyze")
    with Place() as place:      # what it names must be there, and is not installed here
        text = UNIT.read_text().replace(settings()["ExecStart"].split()[0], os.path.realpath(TORG))
        place.write("torg@.service", text)
        done = tap.run("systemd-analyze", "verify", "--man=no", place.dir / "torg@.service")
        told = [line for line in done.stderr.splitlines() if "torg" in line]
        tap.equal((done.returncode, told), (0, []), done.stderr)


tap.main()
