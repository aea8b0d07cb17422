# SPDX-License-Identifier: Apache-2.0
"""What Lighthouse says of the pages that buyers and search engines open, over a shop of `torg demo`. Accessibility,
best practices and SEO do not depend on the machine and are held to 95; the class performance is printed: it is a
matter of the clock, and worth something on a quiet machine alone.
"""
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.browser import find_chromium  # noqa: E402
from kit.demo import Demo  # noqa: E402

LEAST = 95
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="


def program():
    path = pathlib.Path(os.environ.get("TORG_CACHE", "")) / "lighthouse/node_modules/lighthouse/cli/index.js"
    if not path.exists():
        if os.environ.get("TORG_REQUIRE"):
            raise AssertionError("Lighthouse is missing: ./dev setup --test fetches it")
        tap.skip("no Lighthouse")
    return path


def judged(demo, path, *words):
    """The classes of a page in percent, and what it lost points for."""
    out = demo.dir / "report.json"
    done = tap.run("node", program(), demo.url + path, "--quiet", "--output=json", f"--output-path={out}",
                   f"--chrome-flags={FLAGS}{demo.dir / 'chromium'}", *words,
                   env={**os.environ, "CHROME_PATH": find_chromium(), "HOME": str(demo.dir)})
    tap.equal(done.returncode, 0, done.stderr)
    report = json.loads(out.read_text())
    lost = [f"{name}: {each['id']}" for name, one in report["categories"].items() for each in one["auditRefs"]
            if name != "performance" and each["weight"] and report["audits"][each["id"]]["score"] not in (None, 1)]
    return {name: round(100 * (one["score"] or 0)) for name, one in report["categories"].items()}, lost


@tap.test
def pages_have_95_in_each_class():
    program()
    with Demo() as demo:
        demo.filled("--offers=60", "--changes=0")
        first = demo.search(limit=1)["offers"][0]["id"]
        for path, words in (("/", ()), (f"/offers/{first}", ("--preset=desktop",))):
            classes, lost = judged(demo, path, *words)
            tap.comment(f"{'desktop' if words else 'phone'} {path}: {classes}")
            tap.equal([name for name, points in classes.items() if name != "performance" and points < LEAST], [], lost)


tap.main()
