# SPDX-License-Identifier: Apache-2.0
"""What judges the engines in bench core is judged here: a wrong answer must be seen."""
import contextlib
import io
import pathlib
import sys
import xml.etree.ElementTree

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/e2e"))
sys.path.insert(0, str(TOP / "bench/peers"))
import check    # noqa: E402
import report   # noqa: E402
from kit import tap      # noqa: E402

GOOD = {"ns": "1000", "total": "3", "hits": "1:9,2:8,3:7", "facets": "city:a=3,b=2,c=1"}


def found(kind, **other):
    """What is said of an engine that answers like GOOD but for this."""
    return check.compare({kind: {0: {"lucene": GOOD, "tantivy": {**GOOD, **other}}}})


@tap.test
def equal_answers_are_equal():
    tap.equal(found("page"), [])
    tap.equal(found("top10_and"), [])


@tap.test
def another_total_is_told():
    tap.contains(found("count_and", total="4")[0], "count_and 0: tantivy counts 4, lucene 3")


@tap.test
def another_document_is_told():
    tap.contains(found("page", hits="1:9,5:8,3:7")[0], "ranks other documents")


@tap.test
def another_key_of_a_document_is_told():
    tap.contains(found("page", hits="1:9,2:8.5,3:7")[0], "ranks other documents")


@tap.test
def a_missing_document_is_told():
    tap.contains(found("page", hits="1:9,2:8")[0], "ranks other documents")


@tap.test
def ties_at_the_end_may_be_broken_otherwise():
    tap.equal(found("page", hits="1:9,2:8,4:7"), [])


@tap.test
def another_scale_of_scores_is_the_same_order():
    tap.equal(found("top10_and", hits="1:19.8,2:17.6,3:15.4"), [])


@tap.test
def another_count_of_a_facet_is_told():
    tap.contains(found("page", facets="city:a=3,d=2,c=1")[0], "counts city otherwise")
    tap.contains(found("page", facets="city:a=4,b=2,c=1")[0], "counts city otherwise")
    tap.contains(found("page", facets="city:a=3,b=2")[0], "counts city otherwise")


@tap.test
def relevance_of_another_kind_is_not_compared_but_totals_are():
    answers = {"lucene": GOOD, "postgres": {**GOOD, "hits": "7:1", "total": "5"}}
    tap.equal(check.compare({"top100_or": {0: answers}}),
              ["top100_or 0: postgres counts 5, lucene 3"])


@tap.test
def after_changes_totals_and_facets_must_agree():
    tap.equal(check.compare_after({"lucene": [GOOD], "torg": [{**GOOD, "hits": "8:1"}]}), [])
    tap.equal(len(check.compare_after({"lucene": [GOOD], "torg": [{**GOOD, "total": "2"}]})), 1)


@tap.test
def ratios_are_of_the_queries_that_both_answered():
    times = {"torg": [(0, 1000), (0, 3000), (0, 2000), (1, 9000)], "lucene": [(0, 4000)]}
    tap.equal(report.common_means(times, ["torg", "lucene"]), {"torg": 2.0, "lucene": 4.0})


@tap.test
def the_99th_percentile_of_a_hundred_is_the_99th():
    tap.equal(report.percentile(range(1, 101), 0.99), 99)
    tap.equal(report.percentile([5], 0.99), 5)


def results(page_ns):
    """Of a run with two engines, Torg's page taking so long."""
    index = {"documents": 100, "cpu_s": 1, "wall_s": 1, "disk": 1000, "segments": 1}
    changes = {"idle": [1000], "busy": [1200], "rate": 5000, "rank_rate": 9000}
    names = ["torg", "lucene"]
    return {"documents": 100, "engines": names, "versions": {"torg": "", "lucene": "10"},
            "meta": {"documents": "100", "raw_bytes": "90000", "tokens": "5000", "terms": "900"},
            "index": dict.fromkeys(names, index), "own": {"lucene": index},
            "memory": dict.fromkeys(names, (20000, 10000)), "problems": [],
            "changes": dict.fromkeys(names, changes),
            "classes": {"page": ["hh"]},
            "times": {"page": {"torg": [(0, page_ns)], "lucene": [(0, 30000)]}}}


def shown(figures):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        report.show(figures)
    return out.getvalue()


@tap.test
def a_bar_that_is_missed_is_told():
    tap.contains(shown(results(10000)), "met     page, times Lucene: at least 3: 3\n")
    tap.contains(shown(results(20000)), "missed  page, times Lucene: at least 3: 1.5\n")


@tap.test
def the_last_line_has_the_figures():
    last = shown(results(10000)).splitlines()[-1]
    tap.contains(last, "torg_page_us=10.0")
    tap.contains(last, "page_vs_lucene=3.00")
    tap.contains(last, "bars_met=3/3")


@tap.test
def the_picture_has_a_bar_for_each_engine():
    drawn = xml.etree.ElementTree.fromstring(report.picture(results(10000)))
    tap.equal(sum(each.tag.endswith("rect") for each in drawn.iter()), 1 + 2 + 2)


tap.main()
