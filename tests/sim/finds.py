#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""finds.py SIM-TASKS - the simulator finds what is planted in tasks.c, and repeats it by its command.

A simulator that finds nothing is silent in the same way as code without faults.
"""
import os
import re
import subprocess
import sys

PLANTED = {"deadlock": "deadlock: nobody can run", "lost-wakeup": "deadlock: nobody can run",
           "race": "an addition is lost"}


def run(command, fault):
    done = subprocess.run(command, env={**os.environ, "TORG_SIM_FAULT": fault},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check(program, fault):
    """What is wrong, or nothing."""
    code, told = run([program, "--seeds", "1..200"], fault)
    replay = re.search(r"# all of it: (.*)", told)
    if code == 0 or PLANTED[fault] not in told or not replay:
        return f"not found: {told}"
    runs = [run(replay[1].split(), fault) for _ in range(2)]
    if runs[0][0] == 0 or PLANTED[fault] not in runs[0][1]:
        return f"{replay[1]} does not show it: {runs[0][1]}"
    history = [[line for line in told.splitlines() if "CPU" not in line] for _, told in runs]
    return "" if history[0] == history[1] else f"{replay[1]} does not repeat"


def main():
    print(f"1..{len(PLANTED)}")
    wrong = 0
    for number, fault in enumerate(PLANTED, 1):
        told = check(sys.argv[1], fault)
        wrong += bool(told)
        print(f"{'not ' if told else ''}ok {number} - some seed finds the {fault}")
        for line in told.splitlines():
            print(f"# {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
