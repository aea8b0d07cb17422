# SPDX-License-Identifier: Apache-2.0
"""lines.py - TAP for scripts that run table after table against one running server.

tap.py counts its tests before it runs them; here a line is printed as its behaviour is seen and the
plan comes last. What a test function asserts or raises is its line's failure; what it returns,
a text, is a figure worth reading.
"""
import os
import sys
import time
import traceback

from kit.tap import Skip, comment

_count = 0
_failed = 0


def report(ok, name, detail=""):
    """Prints one line; detail becomes diagnostics of a failure."""
    global _count, _failed
    _count += 1
    _failed += not ok
    print(f"{'ok' if ok else 'not ok'} {_count} - {name.replace('#', '')}", flush=True)
    if not ok:
        comment(detail)
    return ok


def skip(name, why):
    global _count
    _count += 1
    print(f"ok {_count} - {name} # SKIP {why}", flush=True)


def run(name, test, *arguments):
    """Runs one test function and tells if it passed (None: skipped)."""
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
        comment(f"{name}: {detail}")
    if spent > 5:
        comment(f"{name}: took {spent:.1f} s")
    return report(True, name)


def scenario(name, act, *arguments):
    """Runs a function that prints lines of its own; what breaks it is a line too."""
    try:
        act(*arguments)
    except Skip as why:
        skip(name, str(why))
    except Exception:
        report(False, f"{name}: the script went on to its end", traceback.format_exc())


def done():
    """Prints the plan and ends the program."""
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed else 0)
