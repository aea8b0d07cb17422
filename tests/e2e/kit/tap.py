# SPDX-License-Identifier: Apache-2.0
"""tap.py - tests in Python that speak TAP, as our C test programs do.

    from kit import tap

    @tap.test
    def a_refused_key_names_its_line():
        tap.equal(run(...).returncode, 2)

    tap.main()

A test fails by any exception. Those that mostly wait, each with a server of its own, are `tap.beside`.
Arguments of the program pick tests by a part of their name.
"""
import concurrent.futures
import functools
import importlib.machinery
import importlib.util
import os
import resource
import subprocess
import sys
import time
import traceback

# The one limit of every wait in Python (tests/patience.h has that of C): it stops what hangs, and
# does not measure a busy machine. run-tests waits longer, so that a failed wait tells what it was.
PATIENCE_S = 900
_tests = []
_beside = set()


class Skip(Exception):
    """The test cannot be run here."""


def test(function):
    _tests.append(function)
    return function


def beside(function):
    """A test that mostly waits: it runs beside the others of its program, from the start."""
    _beside.add(function)
    return test(function)


def skip(reason):
    raise Skip(reason)


def need(server):
    """Address of a real server (`postgres`, `zookeeper`, `kafka`): the test is skipped without it,
    or fails when TORG_REQUIRE names it."""
    address = os.environ.get(f"TORG_TEST_{server.upper()}")
    if address:
        return address
    if server in os.environ.get("TORG_REQUIRE", "").split(","):
        raise AssertionError(f"TORG_REQUIRE names {server}, and there is none")
    raise Skip(f"no {server}")


def tool(name):
    """Path of a program: what tools/fetch-test-tools has fetched, or what is installed."""
    places = [os.path.join(os.environ.get("TORG_CACHE", ""), "bin")] + os.get_exec_path()
    for place in places:
        path = os.path.join(place, name)
        if os.access(path, os.X_OK):
            return path
    if os.environ.get("TORG_REQUIRE"):
        raise AssertionError(f"{name} is missing: ./dev setup --test installs it")
    raise Skip(f"no {name}")


@functools.cache
def load_tool(name):
    """A Python program of tools/ as a module, to test its parts; loaded once, as it keeps what it holds."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tools", name)
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError(f"{what or 'value'}: got {got!r}, wanted {wanted!r}")


def contains(text, part):
    if part not in text:
        raise AssertionError(f"{part!r} is not in {text!r}")


def run(*argv, timeout=PATIENCE_S, **options):
    """Runs a program to its end: the result has returncode, stdout, stderr (text)."""
    return subprocess.run([str(arg) for arg in argv], capture_output=True, text=True,
                          timeout=timeout, check=False, **options)


def count(few, many, variable):
    """How often a test kills or draws: few in `./dev test`, many in `./dev test long`, unless the
    environment variable says it."""
    return int(os.environ.get(variable) or (many if os.environ.get("TORG_TEST_LONG") else few))


def rest_s(seconds):
    """How long who writes or searches without end rests in between: what it does for nobody's sake
    takes the cores from other tests. Long runs are there to be hasty."""
    return seconds / 10 if os.environ.get("TORG_TEST_LONG") else seconds


def at_load(seconds):
    """A bound of wall time that holds on a quiet machine, as much longer as programs want each core."""
    return seconds * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))


def cpu_s():
    """What programs have worked that were run to their end: unlike time, a busy machine adds nothing."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def wait_until(condition, seconds=PATIENCE_S, what="the condition"):
    """The condition's first true value; there is no other way to wait in a test. It rests between
    two looks three times as long as one takes: a command that is run to look takes a core."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > deadline:
            raise AssertionError(f"{what} did not come true in {seconds} s")
        time.sleep(min(max(0.02, 3 * (now - began)), 1))


def free_port():
    """One that no client's connection, and no other test, takes while its server is away."""
    return load_tool("with-servers").free_port()


def thread_files(pid, name):
    """What /proc tells of each of the process's threads in its file `name`; one that ends just now has none."""
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/{name}", encoding="utf-8") as file:
                yield file.read()
        except (FileNotFoundError, ProcessLookupError):
            continue


def are_stopped(pid):
    """Whether all threads of the process stand still."""
    return all(stat.rpartition(")")[2].split()[0] == "T" for stat in thread_files(pid, "stat"))


def faults(error):
    """The fields at fault, {field: reason}, of an error as JSON."""
    found = {}
    for detail in error.get("details", []):
        for one in detail["debug"].get("fieldViolations", []):
            found[one["field"]] = one["description"]
    return found


def comment(text):
    for line in str(text).rstrip().splitlines():
        print(f"# {line}\n", end="", flush=True)       # at once: tests that run beside say things, too


def _outcome(function):
    try:
        function()
        return "ok", ""
    except Skip as reason:
        return "ok", f" # SKIP {reason}"
    except Exception:                           # the next test runs whatever happened to this one
        comment(traceback.format_exc())
        return "not ok", ""


def _outcomes(chosen):
    """Of each in their order, those that run beside each other begun first."""
    with concurrent.futures.ThreadPoolExecutor(len(chosen) or 1) as pool:
        begun = {each: pool.submit(_outcome, each) for each in chosen if each in _beside}
        for each in chosen:
            yield each, *(begun[each].result() if each in begun else _outcome(each))


def main():
    chosen = [each for each in _tests
              if not sys.argv[1:] or any(part in each.__name__ for part in sys.argv[1:])]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (function, word, reason) in enumerate(_outcomes(chosen), 1):
        failed += word == "not ok"
        print(f"{word} {number} - {function.__name__}{reason}\n", end="", flush=True)
    sys.exit(1 if failed else 0)
