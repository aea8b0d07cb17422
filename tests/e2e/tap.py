# SPDX-License-Identifier: Apache-2.0
"""tap.py - test lines for scripts: one `ok` or `not ok` a behaviour, the plan at the end.

A test is a function; what it asserts or raises becomes its line. Tools that are absent make a
skipped test, or a failed one when TORG_REQUIRE names them.
"""
import os
import sys
import time
import traceback

_count = 0
_failed = 0


class Skip(Exception):
    """Raised by a test that cannot run here."""


def report(ok, name, detail=""):
    """Prints one line; detail becomes diagnostics of a failure."""
    global _count, _failed
    _count += 1
    _failed += not ok
    print(f"{'ok' if ok else 'not ok'} {_count} - {name.replace('#', '')}")
    if not ok:
        note(detail)
    sys.stdout.flush()
    return ok


def note(text):
    for line in str(text).splitlines():
        print("#", line)
    sys.stdout.flush()


def skip(name, why, tool=None):
    global _count
    if tool and tool in os.environ.get("TORG_REQUIRE", "").split(","):
        return report(False, name, f"{why}, and TORG_REQUIRE names {tool}")
    _count += 1
    print(f"ok {_count} - {name} # SKIP {why}")
    sys.stdout.flush()
    return True


def run(name, test, *arguments):
    """Runs one test function; its assertion or exception is the failure's text."""
    start = time.monotonic()
    try:
        detail = test(*arguments)
    except Skip as why:
        return skip(name, str(why))
    except AssertionError as wrong:
        frame = traceback.extract_tb(wrong.__traceback__)[-1]
        return report(False, name, f"{os.path.basename(frame.filename)}:{frame.lineno}: "
                                   f"{frame.line}\n{wrong}")
    except Exception:
        return report(False, name, traceback.format_exc())
    spent = time.monotonic() - start
    if isinstance(detail, str):
        note(f"{name}: {detail}")
    if spent > 5:
        note(f"{name}: took {spent:.1f} s")
    return report(True, name)


def done():
    """Prints the plan and ends the program."""
    print(f"1..{_count}")
    sys.stdout.flush()
    sys.exit(1 if _failed else 0)
