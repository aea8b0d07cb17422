# SPDX-License-Identifier: Apache-2.0
"""What Lighthouse says of the pages that buyers and search engines open, over a shop of `torg demo`. Accessibility,
best practices and SEO do not depend on the machine and are held to 95; the class performance is printed: it is a
matter of the clock, and worth something on a quiet machine alone. It is judged apart, as it alone needs a trace of the
browser: Lighthouse cannot always record one while much else runs, and then judges nothing.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.browser import find_chromium, words_for  # noqa: E402
from kit.demo import Demo  # noqa: E402

LEAST = 95
HELD = ("accessibility", "best-practices", "seo")
FLAGS = ("--no-sandbox", "--remote-debugging-port=0", "about:blank")
# Half a minute for the first thing to be painted is short on a busy machine, and a page without it is not judged.
CONFIG = """import base from "%s";
export default { ...base, settings: { ...base.settings, maxWaitForFcp: %d, maxWaitForLoad: %d } };
"""


@contextlib.contextmanager
def chromium():
    """The port of one; Lighthouse itself would wait 25 s for its start, and no longer."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="torg-chromium-"))
    process = subprocess.Popen([*words_for(find_chromium()), *FLAGS, f"--user-data-dir={folder}"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, env={**os.environ, "HOME": str(folder)})
    told = folder / "DevToolsActivePort"
    try:
        tap.wait_until(lambda: told.exists() and "\n" in told.read_text(), what="a browser")
        yield told.read_text().splitlines()[0]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)       # its renderers may still be ending


def program():
    path = pathlib.Path(os.environ.get("TORG_CACHE", "")) / "lighthouse/node_modules/lighthouse/cli/index.js"
    if not path.exists():
        if os.environ.get("TORG_REQUIRE"):
            raise AssertionError("Lighthouse is missing: ./dev setup --test fetches it")
        tap.skip("no Lighthouse")
    return path


def judge(demo, port, path, kind, classes):
    """What Lighthouse reports of a page, and why it could not."""
    out, config = demo.dir / "report.json", demo.dir / "config.mjs"
    wait_ms = tap.PATIENCE_S * 1000 // 3
    config.write_text(CONFIG % (program().parents[1] / f"core/config/{kind}-config.js", wait_ms, wait_ms))
    done = tap.run("node", program(), demo.url + path, "--quiet", "--output=json", f"--output-path={out}",
                   f"--only-categories={','.join(classes)}", f"--port={port}", f"--config-path={config}",
                   env={**os.environ, "HOME": str(demo.dir)})
    return None if done.returncode else json.loads(out.read_text()), done.stderr


def percent(report):
    return {name: round(100 * (one["score"] or 0)) for name, one in report["categories"].items()}


def lost(report):
    """The audits that cost points."""
    return [f"{name}: {each['id']}" for name, one in report["categories"].items() for each in one["auditRefs"]
            if each["weight"] and report["audits"][each["id"]]["score"] not in (None, 1)]


@tap.test
def pages_have_95_in_each_class():
    program()
    with Demo() as demo:
        demo.filled("--offers=60", "--changes=0")
        first = demo.search(limit=1)["offers"][0]["id"]
        with chromium() as port:
            for path, kind in (("/", "default"), (f"/offers/{first}", "desktop")):
                page = f"{'phone' if kind == 'default' else kind} {path}"
                report, why = judge(demo, port, path, kind, HELD)
                tap.equal(report is not None, True, why)
                points = percent(report)
                tap.comment(f"{page}: {points}")
                tap.equal(sorted(points), sorted(HELD))
                tap.equal([name for name in HELD if points[name] < LEAST], [], lost(report))
                report, why = judge(demo, port, path, kind, ["performance"])
                tap.comment(f"{page}: {percent(report) if report else why.strip()}")


tap.main()
