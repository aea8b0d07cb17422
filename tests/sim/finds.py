#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""finds.py PROGRAM SEEDS FAULT,... - the simulator finds each fault that is planted in a program.

Some seed of a bounded number fails, and the command it is told with shows the same again, twice.
"""
import os
import re
import subprocess
import sys


def run(command, fault):
    env = {**os.environ, "TORG_SIM_FAULT": fault}
    env.pop("TORG_SIM_SEEDS", None)
    done = subprocess.run(command, env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check(program, seeds, fault):
    """What is wrong, or nothing."""
    code, told = run([program, "--seeds", f"1..{seeds}"], fault)
    replay = re.search(r"# all of it: (.*)", told)
    reason = re.search(r"fails in life .*\n#   (.*)", told)
    if code == 0 or not reason or not replay:
        return f"not found: {told}"
    runs = [run(replay[1].split(), fault) for _ in range(2)]
    if runs[0][0] == 0 or reason[1] not in runs[0][1]:
        return f"{replay[1]} does not show it: {runs[0][1]}"
    history = [[line for line in told.splitlines() if "CPU" not in line] for _, told in runs]
    return "" if history[0] == history[1] else f"{replay[1]} does not repeat"


def main():
    program, seeds, faults = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
    print(f"1..{len(faults)}")
    wrong = 0
    for number, fault in enumerate(faults, 1):
        told = check(program, seeds, fault)
        wrong += bool(told)
        print(f"{'not ' if told else ''}ok {number} - some seed finds what is planted: {fault}")
        for line in told.splitlines():
            print(f"# {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
