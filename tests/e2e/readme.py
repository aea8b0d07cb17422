# SPDX-License-Identifier: Apache-2.0
"""README, the long tour and the page about snippets, typed as they stand there (kit/tour.py)."""
import sys

sys.dont_write_bytecode = True
from kit import tap  # noqa: E402
from kit.binary import Place  # noqa: E402
from kit.tour import go  # noqa: E402


@tap.test
def every_command_of_the_readme_prints_what_it_shows():
    with Place() as place:
        place.start()
        tap.equal(go(place, "README.md") >= 8, True, "the README has its calls")


@tap.test
def every_command_of_the_tour_prints_what_it_shows():
    with Place() as place:
        place.start()
        tap.equal(go(place, "docs/tour.md") > 20, True, "the tour has its commands")


@tap.test
def every_command_about_snippets_prints_what_it_shows():
    with Place() as place:
        place.spelling = False
        tap.equal(go(place, "docs/snippets.md", ("curl",)) > 15, True, "the page has its commands")


tap.main()
