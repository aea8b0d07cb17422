# SPDX-License-Identifier: Apache-2.0
"""spell - how well spelling corrects, and how fast: python3 bench/spell.py [--wrong FILE]

The test sets lie outside of the project, in ../shared/data/spell or where TORG_SPELL_DATA says:
- ruspellru-sources.txt and -corrections.txt (RUSpellRU, MIT): sentences as typed and as meant. The
  words of both are aligned, case and punctuation ignored, ё as е; a correction is a run of words
  that differs. Precision, recall and F1 of the corrections made.
- english-1.txt (Norvig): `right: wrong …`. The share of wrong words whose correction is the right
  one, and the share of right words that are changed.
No weight was fitted to them; docs/spelling.md says how each was set. --wrong writes what was missed.
The last line has the figures as key=value.
"""
import argparse
import difflib
import functools
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("TORG_SPELL_DATA") or TOP.parent / "shared/data/spell")
PROGRAM = pathlib.Path(os.environ.get("TORG_BUILD", TOP / "build-bench")) / "bench/bench-spell"
GROUPS = [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 0), (0, 1)]
BARS = {"ru_f1": 55, "en_fixed": 70, "us_a_word": 50}
GOALS = {"ru_f1": 69.5, "en_fixed": 79, "us_a_word": 50}


def has_data():
    return (DATA / "english-1.txt").exists()


def run(command, lines):
    text = "".join(line + "\n" for line in lines)
    done = subprocess.run([PROGRAM, command], input=text, text=True, check=True,
                          capture_output=True)
    return done.stdout.splitlines()


def words_of(line):
    words = []
    for word in line.lower().replace("ё", "е").split():
        while word and not word[0].isalnum():
            word = word[1:]
        while word and not word[-1].isalnum():
            word = word[:-1]
        if word:
            words.append(word)
    return words


@functools.lru_cache(maxsize=1 << 16)
def edits(one, two):
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for k, b in enumerate(two, 1):
            diagonal, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, diagonal + (a != b))
    return row[-1]


def groups_of(one, two):
    """Parts two runs of words into small groups that answer each other, by the fewest edits."""
    best = {(0, 0): (0, [])}
    for i in range(len(one) + 1):
        for k in range(len(two) + 1):
            for a, b in GROUPS:
                before = best.get((i - a, k - b))
                if before is None:
                    continue
                cost = before[0] + edits(" ".join(one[i - a:i]), " ".join(two[k - b:k])) + 0.01
                if (i, k) not in best or cost < best[i, k][0]:
                    best[i, k] = cost, [*before[1], (i - a, i, tuple(two[k - b:k]))]
    return best[len(one), len(two)][1]


def corrections(source, target):
    """{(start, end in source): words of target}, of all runs that differ."""
    found = {}
    blocks = difflib.SequenceMatcher(None, source, target, autojunk=False).get_opcodes()
    for kind, a, b, c, d in blocks:
        if kind == "equal":
            continue
        for start, end, words in groups_of(source[a:b], target[c:d]):
            if tuple(source[a + start:a + end]) != words:
                found[a + start, a + end] = words
    return found


def russian(wrong):
    sources = (DATA / "ruspellru-sources.txt").read_text().splitlines()
    meant = (DATA / "ruspellru-corrections.txt").read_text().splitlines()
    made_count = meant_count = right_count = 0
    for source, target, answer in zip(sources, meant, run("correct", sources)):
        source, target, answer = map(words_of, (source, target, answer))
        due, made = corrections(source, target), corrections(source, answer)
        due_count, made_count = meant_count + len(due), made_count + len(made)
        meant_count = due_count
        right_count += sum(made[place] == due.get(place) for place in made)
        for start, end in sorted({*due, *made}):
            if due.get((start, end)) != made.get((start, end)):
                wrong.append(f"{' '.join(source[start:end])}: {' '.join(due.get((start, end), '='))}"
                             f", not {' '.join(made.get((start, end), '='))}"
                             f" | {' '.join(source[max(0, start - 2):end + 2])}")
    precision = 100 * right_count / max(made_count, 1)
    recall = 100 * right_count / meant_count
    return precision, recall, 2 * precision * recall / max(precision + recall, 1), sources


def english(wrong):
    pairs, right = [], []
    for line in (DATA / "english-1.txt").read_text().splitlines():
        word, _, others = line.partition(":")
        right.append(word.strip())
        pairs += [(other, word.strip()) for other in others.split()]
    answers = run("correct", [typed for typed, _ in pairs] + right)
    answers, kept = answers[:len(pairs)], answers[len(pairs):]
    fixed = sum(answer == word for answer, (_, word) in zip(answers, pairs))
    broken = sum(answer != word for answer, word in zip(kept, right))
    for answer, (typed, word) in zip(answers, pairs):
        if answer != word:
            wrong.append(f"{typed}: {word}, not {answer}")
    for answer, word in zip(kept, right):
        if answer != word:
            wrong.append(f"broken: {word} {answer}")
    return 100 * fixed / len(pairs), 100 * broken / len(right), [typed for typed, _ in pairs]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--wrong", type=pathlib.Path)
    args = parser.parse_args()
    if not has_data():
        sys.exit(f"bench spell: no test data in {DATA}; TORG_SPELL_DATA names its folder")
    wrong = []
    precision, recall, f1, sentences = russian(wrong)
    fixed, broken, typed = english(wrong)
    us, word_count, memory, start_ms = map(float, run("speed", sentences[:100])[0].split())
    wrong_us = float(run("speed", typed)[0].split()[0])
    learnt = run("learn", typed)
    more_us, more_words, more_memory = map(float, learnt[1].split()[:3])
    if args.wrong:
        args.wrong.write_text("".join(line + "\n" for line in wrong))
    figures = {"ru_precision": precision, "ru_recall": recall, "ru_f1": f1, "en_fixed": fixed,
               "en_broken": broken, "us_a_word": us, "us_a_wrong_word": wrong_us,
               "words": word_count, "memory_mb": memory / 1e6, "start_ms": start_ms,
               "learn_us_a_title": float(learnt[0]), "words_learnt": more_words,
               "us_a_wrong_word_learnt": more_us, "memory_mb_learnt": more_memory / 1e6}
    print(f"RUSpellRU   precision {precision:.1f} %, recall {recall:.1f} %, F1 {f1:.1f}")
    print(f"English     {fixed:.1f} % of wrong words put right, {broken:.1f} % of right ones broken")
    print(f"speed       {us:.1f} µs a word of a sentence, {wrong_us:.1f} µs a misspelt word,"
          f" of processor time, at {word_count:.0f} words")
    print(f"size        {memory / 1e6:.0f} MB, ready after {start_ms:.0f} ms of processor time")
    print(f"learning    {float(learnt[0]):.1f} µs a title of ten words; with {more_words:.0f} words then"
          f" {more_us:.1f} µs a misspelt word, {more_memory / 1e6:.0f} MB")
    for name, bar in BARS.items():
        at_most = name == "us_a_word"
        figure = wrong_us if at_most else figures[name]
        met = figure <= bar if at_most else figure >= bar
        goal = figure <= GOALS[name] if at_most else figure >= GOALS[name]
        print(f"{'met   ' if met else 'missed'} {name} {'≤' if at_most else '≥'} {bar}"
              f" (goal {GOALS[name]}: {'reached' if goal else 'not yet'}): {figure:.1f}")
    print(" ".join(f"{name}={figure:.{0 if name.startswith('words') else 1}f}" for name, figure in figures.items()))


if __name__ == "__main__":
    main()
