# SPDX-License-Identifier: Apache-2.0
"""Two thousand listings asked of every engine that is built: bench core's answers agree, before and
after changes. Others' engines are the model here that nobody of ours has written."""
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]


def bench(*engines):
    """The last line of a quick run, as a dictionary."""
    with tempfile.TemporaryDirectory(prefix="torg-bench-core-") as cache:
        done = tap.run(sys.executable, TOP / "bench/core.py", "2000", "--quick", "--engines",
                       ",".join(engines),
                       env={**os.environ, "TORG_CACHE": cache})
    tap.comment(done.stderr)
    tap.equal(done.returncode, 0, f"the end of {done.stdout[-3000:]}")
    figures = dict(word.split("=") for word in done.stdout.splitlines()[-1].split())
    for engine in engines:
        assert float(figures[f"{engine}_page_us"]) > 0, f"{engine} answered no page"
    return figures


@tap.test
def torg_sqlite_and_postgresql_answer_the_same():
    tap.need("postgres")
    tap.equal(bench("torg", "sqlite", "postgres")["answers_differ"], "0")


tap.main()
