# SPDX-License-Identifier: Apache-2.0
"""net_h2spec.py TESTD - every case of h2spec that nghttpd passes, our server passes too.

Both servers are asked in the same run, one test line a case. Cases nghttpd fails are told, not
tested: what HTTP/2's own reference server does not do is no requirement here.
"""
import os
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from kit import lines
from kit import tap
from kit import testd

CASE_S = "60"   # until a case has failed, of which nghttpd has one: so much slower may a busy machine be


def start_h2spec(h2spec, port, report):
    return subprocess.Popen([h2spec, "-h", "127.0.0.1", "-p", str(port), "-o", CASE_S, "-P", "/",
                             "-j", report], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read_report(path):
    """(case, why it failed or None) by the case's name; skipped cases are left out."""
    cases = {}
    for suite in xml.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            name = f"{case.get('package')} {case.get('classname')}"
            while name in cases:
                name += "'"
            if case.find("skipped") is not None:
                continue
            wrong = case.find("failure")
            if wrong is None:
                wrong = case.find("error")
            cases[name] = None if wrong is None else (wrong.text or "failed")
    return cases


def start_nghttpd(folder):
    with open(os.path.join(folder, "index.html"), "w", encoding="ascii") as page:
        page.write("hello\n" * 100)
    port = tap.free_port()
    process = subprocess.Popen([tap.tool("nghttpd"), "--no-tls", "-a", "127.0.0.1", "-d", folder, str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def answers():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0
    if not testd.wait_until(answers):
        process.kill()
        process.wait()
        raise RuntimeError("nghttpd does not listen")
    return process, port


def compare(server, h2spec, folder):
    nghttpd, port = start_nghttpd(folder)
    try:
        theirs, ours = os.path.join(folder, "theirs.xml"), os.path.join(folder, "ours.xml")
        runs = [start_h2spec(h2spec, port, theirs), start_h2spec(h2spec, server.port, ours)]
        for run in runs:
            try:
                run.communicate(timeout=tap.PATIENCE_S)
            except subprocess.TimeoutExpired:
                run.kill()
                run.communicate()
        return read_report(theirs), read_report(ours)
    finally:
        nghttpd.kill()
        nghttpd.wait()


def check(case, ours):
    assert case in ours, "the case was not run on our server"
    assert ours[case] is None, f"nghttpd passes it, our server does not:\n{ours[case]}"


def need_tools():
    tap.tool("h2spec")
    tap.tool("nghttpd")


def conformance(path):
    if not lines.run("h2spec and nghttpd are here", need_tools):
        return
    with tempfile.TemporaryDirectory() as folder, testd.Testd(path) as server:
        theirs, ours = compare(server, tap.tool("h2spec"), folder)
        for case, wrong in theirs.items():
            if wrong is None:
                lines.run(case, check, case, ours)
            else:
                ours_text = "passes" if ours.get(case, "") is None else "fails"
                lines.comment(f"nghttpd fails, our server {ours_text}: {case}")
        lines.report(len(theirs) > 100, "nghttpd was asked the whole of h2spec",
                   f"{len(theirs)} cases only")
        testd.end(server)


def main():
    lines.scenario("h2spec", conformance, sys.argv[1])
    lines.done()


main()
