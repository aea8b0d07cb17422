# SPDX-License-Identifier: Apache-2.0
"""What judges the engines in bench core is judged here: a wrong answer must be seen."""
import pathlib
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/e2e"))
sys.path.insert(0, str(TOP / "bench/peers"))
import check    # noqa: E402
import report   # noqa: E402
import tap      # noqa: E402

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


tap.main()
