# SPDX-License-Identifier: Apache-2.0
"""What bench core shows: the table, the line of figures, the picture."""
import html
import math
import statistics

from engines import TITLES

CLASSES = {
    "top10_word": "one word, top 10, one field",
    "top10_and": "two words, all, top 10",
    "top10_or": "two words, any, top 10",
    "top10_phrase": "phrase, top 10",
    "top10_and_text": "two words, all, top 10, one field",
    "top10_or_text": "two words, any, top 10, one field",
    "count_and": "two words, all, count",
    "count_or": "two words, any, count",
    "count_phrase": "phrase, count",
    "top100_and": "two words, all, top 100 + count",
    "top100_or": "two words, any, top 100 + count",
    "page": "page: 2 words, 3 filters, sort, 20 hits, total, 5 facets",
    "browse": "the same page without words",
}
PROBLEMS_SHOWN = 20
MAPPED = ("terms", "postings", "positions", "segment_docs", "stored")     # of Torg's structures


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0


def latency(samples):
    """(mean, p50, p99) in µs of [(query, ns)]"""
    values = [ns / 1000 for _, ns in samples]
    if not values:
        return None
    return statistics.fmean(values), percentile(values, 0.5), percentile(values, 0.99)


def common_means(times, names):
    """Mean µs by engine over the queries that all of them answered, each by the median of its
    rounds: fair to whoever sat some out, and steady on a busy machine."""
    by_query = {name: {} for name in names}
    for name in names:
        for number, ns in times.get(name, ()):
            by_query[name].setdefault(number, []).append(ns)
    shared = set.intersection(*(set(each) for each in by_query.values())) if by_query else set()
    if not shared:
        return {}
    return {name: statistics.fmean(statistics.median(each[number]) for number in shared) / 1000
            for name, each in by_query.items()}


def row(cells, widths):
    return "  ".join(f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}"
                     for i, (cell, width) in enumerate(zip(cells, widths))).rstrip()


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}".replace(",", " ") if value >= 100 else f"{value:.3g}"


def print_rows(title, names, rows):
    """rows: (label, cell of each engine)"""
    table = [[title, *[TITLES[name] for name in names]], *[[label, *cells] for label, cells in rows]]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    print()
    for line in table:
        print(row(line, widths))


def index_rows(results):
    names, meta = results["engines"], results["meta"]
    index, own = results["index"], results["own"]
    raw = float(meta["raw_bytes"]) / float(meta["documents"])

    def each(figure, source=index):
        return [number(figure(source[name])) if name in source else "-" for name in names]

    def rate(figures):
        return figures["documents"] / figures["cpu_s"] if figures["cpu_s"] else None

    own_all = dict(own)
    if "torg" in index:
        own_all["torg"] = index["torg"]
    return [
        ("documents/s of one core, given stems (Torg: given text)", each(rate)),
        ("MB/s of one core, of the text", each(lambda f: (rate(f) or 0) * raw / 1e6)),
        ("documents/s by the clock", each(lambda f: f["documents"] / f["wall_s"])),
        ("documents/s of one core, analysis their own", each(rate, own_all)),
        ("bytes a document on disk", each(lambda f: f["disk"] / f["documents"])),
        ("resident bytes a document, after the queries",
         [number(results["memory"][name][0] / results["documents"]) for name in names]),
        ("  of these, not backed by files",
         [number(results["memory"][name][1] / results["documents"]) for name in names]),
        ("segments", each(lambda f: f["segments"])),
    ]


def change_rows(results):
    names, changes = results["engines"], results["changes"]

    def tail(name, which):
        return percentile(changes[name][which], 0.99) / 1000

    def each(figure):
        return [number(figure(name)) if name in changes else "-" for name in names]

    return [
        ("p99 idle, µs", each(lambda name: tail(name, "idle"))),
        ("p99 with changes, µs", each(lambda name: tail(name, "busy"))),
        ("ratio", each(lambda name: tail(name, "busy") / tail(name, "idle"))),
        ("mean with changes over mean idle", each(
            lambda name: statistics.fmean(changes[name]["busy"]) /
            statistics.fmean(changes[name]["idle"]))),
        ("changes/s reached", each(lambda name: changes[name]["rate"])),
        ("attribute-only changes/s", each(lambda name: changes[name]["rank_rate"])),
    ]


def latency_rows(results):
    for kind, times in results["times"].items():
        cells = []
        for name in results["engines"]:
            found = latency(times.get(name, ()))
            cells.append(" / ".join(map(number, found)) if found else "-")
        yield CLASSES[kind], cells


def class_rows(results):
    """Mean µs by how frequent the words are."""
    for kind, times in results["times"].items():
        classes = results.get("classes", {}).get(kind, [])
        for each in sorted(set(classes)):
            if len(set(classes)) < 2:
                continue
            cells = []
            for name in results["engines"]:
                found = latency([(query, ns) for query, ns in times.get(name, ())
                                 if classes[query] == each])
                cells.append(number(found[0]) if found else "-")
            yield f"{CLASSES[kind]}: {each.strip('.')}", cells


def ratios(results):
    """class: how many times faster Torg is, by peer, on the queries both answered."""
    found = {}
    for kind, times in results["times"].items():
        for name in results["engines"]:
            if name == "torg" or "torg" not in results["engines"]:
                continue
            means = common_means(times, ["torg", name])
            if means:
                found.setdefault(kind, {})[name] = means[name] / means["torg"]
    return found


def bars(results):
    """What is asked of Torg: (text, value, whether it is met)."""
    names, found = results["engines"], ratios(results)
    if "torg" not in names:
        return []
    out = []

    def at_least(text, value, bar):
        out.append((f"{text}: at least {bar}", value, value >= bar))

    def at_most(text, value, bar):
        out.append((f"{text}: at most {bar}", value, value <= bar))

    for kind in (each for each in found if each.startswith(("top10_", "count_"))):
        better = [found[kind][peer] for peer in ("tantivy", "lucene") if peer in found[kind]]
        if better:
            at_least(f"{CLASSES[kind]}, times the better library", min(better), 1)
    for peer, bar in (("postgres", 5), ("lucene", 3)):
        if peer in found.get("page", {}):
            at_least(f"page, times {TITLES[peer]}", found["page"][peer], bar)
    if "tantivy" in results["own"]:
        mine, theirs = results["index"]["torg"], results["own"]["tantivy"]
        at_least("indexing per core with analysis, times Tantivy",
                 mine["documents"] / mine["cpu_s"] * theirs["cpu_s"] / theirs["documents"], 1)
    if "torg" in results["changes"]:
        tails = [percentile(results["changes"]["torg"][each], 0.99) for each in ("busy", "idle")]
        at_most("p99 with changes over idle", tails[0] / tails[1], 1.5)
    at_most("resident bytes a document, all of the process", results["memory"]["torg"][0] / results["documents"], 256)
    return out


def summary(results):
    """The last line: name=value."""
    words = [f"documents={results['documents']}"]
    for name in results["engines"]:
        figures = results["index"][name]
        words.append(f"{name}_index_docs_s={figures['documents'] / max(figures['cpu_s'], 0.01):.0f}")
        words.append(f"{name}_disk_bytes={figures['disk'] / figures['documents']:.0f}")
        words.append(f"{name}_resident_bytes={results['memory'][name][0] / results['documents']:.0f}")
        for kind, times in results["times"].items():
            found = latency(times.get(name, ()))
            if found:
                words.append(f"{name}_{kind}_us={found[0]:.1f}")
        if name in results["changes"]:
            changes = results["changes"][name]
            idle, busy = (percentile(changes[each], 0.99) for each in ("idle", "busy"))
            words.append(f"{name}_changes_p99_ratio={busy / idle:.2f}")
            words.append(f"{name}_changes_s={changes['rate']:.0f}")
            words.append(f"{name}_attribute_changes_s={changes['rank_rate']:.0f}")
    for kind, by_peer in ratios(results).items():
        words += [f"{kind}_vs_{peer}={ratio:.2f}" for peer, ratio in by_peer.items()]
    judged = bars(results)
    if judged:
        words.append(f"bars_met={sum(met for *_, met in judged)}/{len(judged)}")
    words.append(f"answers_differ={len(results['problems'])}")
    return " ".join(words)


def print_structures(results):
    """Torg's bytes a document by structure. Of what is mapped the process has what was read."""
    sizes = {name: int(value) / results["documents"]
             for name, value in results["structures"].items()}
    print()
    for title, mapped in (("in memory", False), ("in mapped or read files", True)):
        part = {name: size for name, size in sizes.items() if (name in MAPPED) == mapped}
        print(f"Torg's bytes a document {title}: {number(sum(part.values()))}: " + ", ".join(
            f"{name} {number(size)}" for name, size in part.items()))


def show(results):
    names, meta = results["engines"], results["meta"]
    print(f"{results['documents']} listings, {float(meta['tokens']) / results['documents']:.1f} words"
          f" each, {meta['terms']} stems; versions: "
          + ", ".join(f"{TITLES[name]} {version}" for name, version in results["versions"].items()
                      if version))
    print_rows("indexing and size", names, index_rows(results))
    print_rows("latency, µs: mean / p50 / p99", names, list(latency_rows(results)))
    print_rows("by frequency of the words, mean µs", names, list(class_rows(results)))
    print_rows("while changes come in", names, change_rows(results))
    found = ratios(results)
    if found:
        peers = [name for name in names if name != "torg"]
        print_rows("times faster than", peers, [
            (CLASSES[kind], [number(by_peer.get(name)) for name in peers])
            for kind, by_peer in found.items()])
    judged = bars(results)
    if judged:
        print()
    for text, value, met in judged:
        print(f"{'met   ' if met else 'missed'}  {text}: {number(value)}")
    if results.get("structures"):
        print_structures(results)
    problems = results["problems"]
    print(f"\nanswers that differ: {len(problems)}")
    for text in problems[:PROBLEMS_SHOWN]:
        print(f"  {text}")
    print(summary(results))


# The picture: a group of bars for each class, a logarithmic scale, no library.

COLOURS = {"torg": "#c2410c", "tantivy": "#1d4ed8", "lucene": "#0f766e", "sqlite": "#7c3aed",
           "postgres": "#6b7280"}
WIDTH, LEFT, RIGHT, BAR, GAP, HEAD = 980, 340, 110, 13, 14, 70


def picture(results):
    names = results["engines"]
    groups = []
    for kind, times in results["times"].items():
        bars = [(name, found[0], found[2]) for name in names
                for found in [latency(times.get(name, ()))] if found]
        groups.append((CLASSES[kind], bars))
    values = [value for _, bars in groups for _, *pair in bars for value in pair]
    low = 10 ** math.floor(math.log10(max(min(values), 0.1)))
    high = 10 ** math.ceil(math.log10(max(values)))

    def x(value):
        span = math.log10(high) - math.log10(low)
        place = (math.log10(max(value, low)) - math.log10(low)) / span
        return LEFT + place * (WIDTH - LEFT - RIGHT)

    height = HEAD + sum(len(bars) * BAR + GAP for _, bars in groups) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           '<text x="16" y="24" font-size="16" font-weight="bold">bench core: mean time of a query, '
           f'{number(results["documents"])} listings, one thread (tick: p99)</text>']
    at = 16
    for name in names:
        version = results["versions"].get(name) or ""
        title = html.escape(f"{TITLES[name]} {version}".strip())
        out.append(f'<rect x="{at}" y="36" width="11" height="11" fill="{COLOURS[name]}"/>'
                   f'<text x="{at + 16}" y="46">{title}</text>')
        at += 40 + 7 * len(title)
    step = low
    while step <= high:
        out.append(f'<line x1="{x(step):.1f}" x2="{x(step):.1f}" y1="{HEAD - 8}" '
                   f'y2="{height - 30}" stroke="#e5e7eb"/><text x="{x(step):.1f}" '
                   f'y="{height - 14}" text-anchor="middle" fill="#6b7280">{scale(step)}</text>')
        step *= 10
    y = HEAD
    for label, bars in groups:
        middle = y + len(bars) * BAR / 2 + 4
        out.append(f'<text x="{LEFT - 10}" y="{middle:.1f}" text-anchor="end">'
                   f'{html.escape(label)}</text>')
        for name, mean, tail in bars:
            out.append(f'<rect x="{LEFT}" y="{y}" width="{max(x(mean) - LEFT, 1):.1f}" '
                       f'height="{BAR - 2}" fill="{COLOURS[name]}"/>'
                       f'<line x1="{x(tail):.1f}" x2="{x(tail):.1f}" y1="{y}" y2="{y + BAR - 2}" '
                       f'stroke="{COLOURS[name]}" stroke-width="2"/>'
                       f'<text x="{max(x(mean), x(tail)) + 5:.1f}" y="{y + BAR - 4}">'
                       f'{scale(mean)}</text>')
            y += BAR
        y += GAP
    return "\n".join([*out, "</svg>", ""])


def scale(value):
    """µs as people say them."""
    if value >= 1e6:
        return f"{value / 1e6:.3g} s"
    return f"{value / 1e3:.3g} ms" if value >= 1e3 else f"{value:.3g} µs"
