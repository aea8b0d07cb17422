# SPDX-License-Identifier: Apache-2.0
"""The tools that judge the tests are tested too: counting, and care for other processes."""
import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import types

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/e2e"))
from kit import tap  # noqa: E402

run_tests = tap.load_tool("run-tests")
WITH_SERVERS = TOP / "tools/with-servers"


def counts(output, code=0, hung=False):
    result = run_tests.Result("x", output, code, 1.0, hung=hung)
    return result.passed, len(result.failed), len(result.skipped)


def environment(**values):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TORG_")}
    return {**kept, **values}


@tap.test
def each_line_counts_once():
    tap.equal(counts("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no kafka\n", 1), (1, 1, 1))


@tap.test
def a_skip_of_cmocka_is_a_skip():
    tap.equal(counts("1..2\nnot ok 1 # SKIP a\nok 2 - b\n"), (1, 0, 1))


@tap.test
def a_crash_is_a_failure():
    tap.equal(counts("1..2\nok 1 - a\n", -signal.SIGSEGV), (1, 1, 0))


@tap.test
def an_end_before_the_plan_is_a_failure():
    tap.equal(counts("1..2\nok 1 - a\n"), (1, 1, 0))
    tap.equal(counts(""), (0, 1, 0))


@tap.test
def a_leak_told_after_the_last_test_is_a_failure():
    tap.equal(counts("1..1\nok 1 - a\n", 23), (1, 1, 0))


@tap.test
def a_port_that_was_given_is_nobody_elses():
    """Whether somebody listens at it or not: in this process, and in another."""
    tool = tap.load_tool("with-servers")
    first = tool.free_port()
    draws = iter([first, first])
    real = tool.random
    tool.random = types.SimpleNamespace(randrange=lambda *between: next(draws, 0) or real.randrange(*between))
    try:
        tap.equal(tool.free_port() != first, True)
    finally:
        tool.random = real
    told = tap.run(sys.executable, "-c", "import socket, sys\n"
                   f"socket.socket(socket.AF_UNIX).bind('\\0torg-test-port-{first}')")
    tap.contains(told.stderr, "Address already in use")


@tap.test
def a_hang_is_a_failure():
    tap.equal(counts("1..1\nok 1 - a\n", 1, hung=True), (1, 1, 0))


def program(name, suite, *command, is_parallel=True):
    return {"name": name, "suite": [f"torg:{each}" for each in suite], "cmd": list(command),
            "env": {}, "workdir": None, "priority": 0, "is_parallel": is_parallel}


@tap.test
def what_says_nothing_for_too_long_is_ended_and_its_work_is_told():
    kept = run_tests.HANG_SECONDS, run_tests.WATCH_SECONDS
    run_tests.HANG_SECONDS, run_tests.WATCH_SECONDS = 0, 0.01
    try:
        silent = run_tests.run_one("unit", TOP, program("silent", ["unit"], "sleep", "600"))
    finally:
        run_tests.HANG_SECONDS, run_tests.WATCH_SECONDS = kept
    tap.contains(silent.failed[0], "said nothing")
    work = "import time\nwhile time.process_time() < 0.3: pass\nprint('1..1\\nok 1 - a')"
    busy = run_tests.run_one("unit", TOP, program("busy", ["unit"], sys.executable, "-c", work))
    tap.equal((busy.passed, busy.failed), (1, []))
    assert busy.cpu_seconds >= 0.3, busy.cpu_seconds


@tap.test
def every_guard_that_is_taken_out_stands_where_it_is_looked_for():
    sys.path.insert(0, str(TOP / "tests/sim"))
    import guards
    tap.equal(guards.misplaced(), [])


@tap.test
def what_a_suite_needs_is_built_and_no_more():
    needed = run_tests.targets("unit")
    assert "tests/unit/base/unit-base-arena" in needed and "torg" not in needed, needed
    assert "torg" in run_tests.targets("e2e")


@tap.test
def what_starts_threads_runs_under_the_thread_sanitizer():
    build = TOP / os.environ.get("TORG_BUILD", "build-test")
    made = json.loads((build / "meson-info/intro-targets.json").read_text())
    sources = {each["id"]: [path for part in each["target_sources"] for path in part["sources"]]
               for each in made}
    without = [test["name"] for test in run_tests.read_tests(build)
               if run_tests.suites_of(test) & {"unit", "tsan"} == {"unit"}
               and not test["name"].startswith("sim-")      # their threads take turns on one
               and any("pthread_create(" in pathlib.Path(path).read_text()
                       for program in test["depends"] for path in sources[program])]
    tap.equal(without, [], "unit tests with threads that lack the suite tsan")


@tap.test
def what_shares_something_does_not_run_beside_its_like():
    first, second, other = [("e2e", TOP, program(name, suite)) for name, suite in (
        ("first", ["e2e", "one-topic"]), ("second", ["e2e", "one-topic"]), ("other", ["e2e"]))]
    tap.equal(run_tests.next_item([second, other], [first]), other)
    tap.equal(run_tests.next_item([second], [first]), None)
    tap.equal(run_tests.next_item([second], [other]), second)


@tap.test
def no_server_is_shared_under_the_thread_sanitizer():
    under, beside = [(suite, TOP, program(suite, ["contract", "tsan", "one-topic"])) for suite in ("tsan", "contract")]
    tap.equal(run_tests.next_item([under], [beside]), under)
    tap.equal(run_tests.next_item([beside], [under]), beside)
    tap.equal(run_tests.next_item([beside], [beside]), None)


@tap.test
def simulations_come_first_and_no_more_than_there_are_cores():
    sim, e2e = ("sim", TOP, program("a", ["sim"])), ("e2e", TOP, program("b", ["e2e"]))
    full = [sim] * run_tests.CORE_COUNT
    tap.equal(run_tests.next_item([e2e, sim], []), sim)
    tap.equal(run_tests.next_item([sim, e2e], full), e2e)
    tap.equal(run_tests.next_item([sim], full), None)


@tap.test
def a_simulation_is_served_last():
    say = ("sh", "-c", "echo 1..1; echo ok 1 - a; nice; cat /proc/self/autogroup 2>/dev/null || true")
    told = run_tests.run_one("sim", TOP, program("a", ["sim"], *say))
    tap.equal((told.passed, told.failed, told.output.splitlines()[2]), (1, [], "19"))
    if "autogroup" in told.output:
        tap.contains(told.output, "nice 19")


@tap.test
def what_works_runs_beside_what_waits():
    unit, e2e = ("unit", TOP, program("a", ["unit"])), ("e2e", TOP, program("b", ["e2e"]))
    full = [unit] * run_tests.CORE_COUNT
    tap.equal(run_tests.next_item([e2e, unit], []), unit)
    tap.equal(run_tests.next_item([unit, e2e], full), e2e)
    tap.equal(run_tests.next_item([unit], full), unit)


@tap.test
def what_runs_alone_runs_last_and_every_program_once():
    say = ("sh", "-c", "echo 1..1; echo ok 1 - a")
    chosen = [("unit", TOP, program(str(number), ["unit"], *say, is_parallel=number % 3 > 0))
              for number in range(9)]
    with contextlib.redirect_stdout(io.StringIO()):
        names = [result.name for result in run_tests.run_all(chosen, None)]
    tap.equal(sorted(names), sorted(f"unit/{number}" for number in range(9)))
    tap.equal(names[6:], ["unit/0", "unit/3", "unit/6"])


@tap.test
def the_commands_exit_code_is_passed_on():
    done = tap.run(WITH_SERVERS, "sh", "-c", "exit 7", env=environment(TORG_SERVERS=""))
    tap.equal(done.returncode, 7, done.stderr)


@tap.test
def a_missing_server_is_told_and_its_variable_unset():
    with tempfile.TemporaryDirectory() as empty:
        done = tap.run(WITH_SERVERS, "sh", "-c", "echo [$TORG_TEST_KAFKA]",
                       env=environment(TORG_SERVERS="kafka", TORG_CACHE=empty))
    tap.equal((done.returncode, done.stdout), (0, "[]\n"))
    tap.contains(done.stderr, "no kafka")


@tap.test
def a_missing_server_that_is_required_is_an_error():
    with tempfile.TemporaryDirectory() as empty:
        done = tap.run(WITH_SERVERS, "echo", "ran", env=environment(
            TORG_SERVERS="kafka", TORG_CACHE=empty, TORG_REQUIRE="kafka"))
    tap.equal((done.returncode, done.stdout), (1, ""))


@tap.test
def a_server_given_by_the_environment_is_used():
    done = tap.run(WITH_SERVERS, "sh", "-c", "echo $TORG_TEST_KAFKA", env=environment(
        TORG_SERVERS="kafka", TORG_TEST_KAFKA="elsewhere:1", TORG_REQUIRE="kafka"))
    tap.equal((done.returncode, done.stdout), (0, "elsewhere:1\n"))


@tap.test
def what_the_command_leaves_running_is_ended():
    script = ("setsid sleep 600 >&- 2>&- & "
              "until grep -qx sleep /proc/$!/comm; do sleep 0.01; done; echo $!")
    done = tap.run(WITH_SERVERS, "sh", "-c", script, env=environment(TORG_SERVERS=""))
    tap.contains(done.stderr, "sleep 600")
    assert ended(done.stdout.strip())


def ended(pid):
    """Gone, or dead and not yet reaped by its new parent."""
    try:
        return "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


@tap.test
def servers_end_with_a_killed_script_and_the_next_one_clears_up():
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o711)                  # user postgres passes through
        env = environment(TORG_SERVERS="postgres", TMPDIR=place)
        script = "echo $TORG_TEST_POSTGRES_PID; exec sleep 600"
        process = subprocess.Popen([WITH_SERVERS, "sh", "-c", script], stdout=subprocess.PIPE,
                                   text=True, env=env)
        server = process.stdout.readline().strip()
        process.kill()
        process.wait()
        if not server:
            tap.skip("no postgres")             # PostgreSQL, because it is the lightest
        tap.wait_until(lambda: ended(server), what="the server's end")
        assert os.listdir(place)
        tap.run(WITH_SERVERS, "true", env=environment(TORG_SERVERS="", TMPDIR=place))
        tap.equal(os.listdir(place), [])


tap.main()
