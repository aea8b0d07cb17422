# SPDX-License-Identifier: Apache-2.0
"""torg numerator run: the five cases of the design, formats, and random generations beside a naive
model."""
import csv
import json
import os
import random
import signal
import subprocess

from kit import tap
from kit.binary import TORG, Place, environment


class Batch:
    """A directory with a state that goes on from run to run."""

    def __init__(self, place):
        self.place = place
        self.count = 0

    def write(self, rows, name="offers.csv", columns=("pk",)):
        with open(self.place.dir / name, "w", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if name.endswith(".tsv") else ",",
                                lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(row if isinstance(row, tuple) else (row,) for row in rows)

    def words(self, *options, offers="offers.csv"):
        state = ["--input-state-table", f"{self.count}.numbers"] if self.count else []
        return ["numerator", "run", *state, "--input-offers-table", offers,
                "--intermediate-new-docs-table", "new.csv",
                "--intermediate-expired-docs-table", "expired.csv",
                "--output-state-table", f"{self.count + 1}.numbers", "--json", *options]

    def run(self, *options, offers="offers.csv"):
        told = self.place.torg(*self.words(*options, offers=offers))
        tap.equal(told.returncode, 0, told.stderr)
        self.count += 1
        return json.loads(told.stdout)

    def table(self, name):
        with open(self.place.dir / name, newline="") as file:
            return list(csv.DictReader(file))

    def numbers(self, key=lambda row: row["pk"], columns="pk"):
        """{key: (shard, doc_id, birth, seen)} of the last state."""
        told = self.place.torg("numerator", "inspect", f"{self.count}.numbers", "--docs-table",
                               "docs.csv", "--key-columns", columns)
        tap.equal(told.returncode, 0, told.stderr)
        return {key(row): tuple(int(row[name]) for name in ("shard_id", "doc_id", "birth", "seen"))
                for row in self.table("docs.csv")}


def keys(first, last):
    return [f"offer-{i}" for i in range(first, last)]


def refused(place, told, *words):
    result = place.torg("numerator", "run", "--output-state-table", "out", *words)
    tap.equal(result.returncode != 0, True)
    tap.contains(result.stderr, told)
    tap.equal((place.dir / "out").exists(), False)


@tap.test
def case_1_a_forced_rebuild_is_as_large_as_the_input():
    with Place() as place:
        batch = Batch(place)
        batch.write(keys(0, 300))
        batch.run("--output-sharding-scheme", "3")
        batch.write(keys(100, 250))
        told = batch.run("--rebuild-state-force")
        tap.equal((told["before"], told["version"], told["rebuilt"]), ("1.3.0.1", "1.3.1.2", True))
        tap.equal((told["kept"], told["new"], told["expired"]), (150, 0, 150))
        for shard in told["shards"]:
            tap.equal(shard["size"], shard["kept"])
        tap.equal(sum(shard["size"] for shard in told["shards"]), 150)
        tap.equal({row["pk"] for row in batch.table("expired.csv")},
                  set(keys(0, 100) + keys(250, 300)))


@tap.test
def case_2_past_the_life_with_nothing_expired_new_ones_follow_the_highest():
    with Place() as place:
        batch = Batch(place)
        for run in range(5):
            batch.write(keys(0, 10 + run))
            told = batch.run("--ttl", "2")
        tap.equal((told["version"], told["expired"], told["reused"]), ("1.1.0.5", 0, 0))
        tap.equal(batch.table("new.csv"),
                  [{"pk": "offer-13", "shard_id": "0", "doc_id": "13", "birth": "5"}])


@tap.test
def case_3_past_the_life_numbers_of_the_expired_come_first():
    with Place() as place:
        batch = Batch(place)
        for first, last in ((0, 10), (3, 11), (3, 12)):
            batch.write(keys(first, last))
            told = batch.run("--ttl", "2")
        tap.equal(told["expired"], 0)
        batch.write(keys(3, 17))
        told = batch.run()      # the time to live is the state's
        tap.equal((told["expired"], told["new"], told["reused"]), (3, 5, 3))
        tap.equal([(row["pk"], row["doc_id"]) for row in batch.table("new.csv")],
                  [("offer-12", "0"), ("offer-13", "1"), ("offer-14", "2"), ("offer-15", "12"),
                   ("offer-16", "13")])
        tap.equal([(row["pk"], row["doc_id"], row["seen"]) for row in batch.table("expired.csv")],
                  [("offer-0", "0", "1"), ("offer-1", "1", "1"), ("offer-2", "2", "1")])


@tap.test
def case_4_many_holes_make_a_rebuild():
    with Place() as place:
        batch = Batch(place)
        batch.write(keys(0, 100))
        batch.run("--ttl", "0")
        batch.write(keys(60, 101))
        told = batch.run("--rebuild-hole-share", "0.5")
        tap.equal((told["version"], told["rebuilt"], told["shards"][0]["size"]),
                  ("1.1.1.2", True, 41))


@tap.test
def case_5_ordinarily_known_keys_stay_and_new_ones_follow():
    with Place() as place:
        batch = Batch(place)
        batch.write(keys(0, 10))
        batch.run()
        before = batch.numbers()
        batch.write(keys(5, 15))
        told = batch.run()
        tap.equal((told["kept"], told["new"], told["expired"], told["rebuilt"]), (5, 5, 0, False))
        after = batch.numbers()
        for key in keys(0, 10):
            tap.equal(after[key][:3], before[key][:3])
        tap.equal([after[key][1] for key in keys(10, 15)], list(range(10, 15)))
        told = batch.run()
        tap.equal((told["version"], told["new"]), ("1.1.0.2", 0))       # nothing was added


@tap.test
def tables_of_all_formats_and_places_give_the_same_numbers():
    columns = ("business_id", "offer_id", "shop_id", "warehouse_id", "note")
    rows = [(i % 5, f'o"{i},\t{i}' if i % 7 == 0 else f"офер-{i}", i % 3, "" if i % 4 else "w\nx", "-")
            for i in range(200)]
    with Place() as place:
        batch = Batch(place)
        batch.write(rows, columns=columns)
        batch.write(rows, "offers.tsv", columns)
        with open(place.dir / "offers.jsonl", "w") as file:
            for row in rows:
                print(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False), file=file)
        batch.run()
        wanted = (place.dir / "1.numbers").read_bytes()
        told = place.torg("numerator", "inspect", "1.numbers", "--docs-table", "offers.avro")
        tap.equal(told.returncode, 0, told.stderr)
        for offers in ("offers.tsv", "offers.jsonl", "offers.avro"):
            told = place.torg("numerator", "run", "--input-offers-table", offers,
                              "--output-state-table", "blob:states/one.numbers")
            tap.equal(told.returncode, 0, told.stderr)
            tap.equal((place.data / "blobs/states/one.numbers~").read_bytes(), wanted, offers)
        told = place.torg("numerator", "run", "--input-state-table", "blob:states/one.numbers",
                          "--input-offers-table", "offers.csv", "--output-state-table",
                          "blob:states/one.numbers")
        tap.contains(told.stdout, "1.1.0.1 -> 1.1.0.1, 200 keys\noffers   200 rows")
        told = place.torg("numerator", "compat", "blob:states/one.numbers", "1.numbers")
        tap.equal((told.returncode, told.stdout[:4]), (0, "yes:"))


@tap.test
def what_cannot_be_run_is_refused_and_changes_nothing():
    with Place() as place:
        batch = Batch(place)
        batch.write(keys(0, 3))
        batch.run()
        place.write("cut.csv", "pk\na\nb")
        place.write("short.csv", "pk,price\na,1\nb\n")
        place.write("odd.csv", "name\na\n")
        place.write("open.csv", 'pk\n"a\n')
        place.write("none.csv", "")
        place.write("late.jsonl", '{"offer_id":1}\n{"offer_id":1,"shop_id":2}\n')
        place.write("two.csv", "offer_id,shop_id\n1,2\n")
        place.write("shops.csv", "shop_id,shard_id\n2,9\n")
        place.write("wide.csv", "pk,shop_id\na," + 70000 * "s" + "\n")
        (place.dir / "bad.csv").write_bytes(b"pk\n\xff\n")
        for told, *words in (
                ("cut.csv, line 3: the last line does not end", "--input-offers-table", "cut.csv"),
                ("short.csv, line 3: 1 cells; the first line names 2", "--input-offers-table",
                 "short.csv"),
                ("neither a column offer_id nor pk", "--input-offers-table", "odd.csv"),
                ("a quote is not closed", "--input-offers-table", "open.csv"),
                ("none.csv: it is empty", "--input-offers-table", "none.csv"),
                ('late.jsonl, line 2: "shop_id" is not in the first line', "--input-offers-table",
                 "late.jsonl"),
                ("bad.csv, line 2: a cell is not valid UTF-8", "--input-offers-table", "bad.csv"),
                ("wide.csv, line 2: key, shop and class of more than 65536 bytes",
                 "--input-offers-table", "wide.csv"),
                ("expected .csv, .tsv", "--input-offers-table", "1.numbers"),
                ("missing.csv: No such file", "--input-offers-table", "missing.csv"),
                ("keys of the state have 1 parts, those of the offers 2", "--input-offers-table",
                 "two.csv", "--input-state-table", "1.numbers"),
                ("the state's type is 1, not 2", "--input-offers-table", "offers.csv",
                 "--input-state-table", "1.numbers", "--type", "2"),
                ("shop 2 in shard 9, and there are 4 shards", "--input-offers-table", "two.csv",
                 "--input-shops-dat-file-path", "shops.csv", "--output-sharding-scheme", "10004"),
                ("it has no shop", "--input-offers-table", "offers.csv",
                 "--output-sharding-scheme", "10004"),
                ("there is no sharding scheme 5000", "--input-offers-table", "offers.csv",
                 "--output-sharding-scheme", "5000"),
                ('has no column "ctr"', "--input-offers-table", "offers.csv", "--rank-column",
                 "ctr")):
            refused(place, told, *words)
        damaged = bytearray((place.dir / "1.numbers").read_bytes())
        damaged[-10] ^= 1
        (place.dir / "1.numbers").write_bytes(damaged)
        refused(place, "1.numbers: the state is damaged", "--input-offers-table", "offers.csv",
                "--input-state-table", "1.numbers")
        tap.equal(place.torg("numerator", "run").returncode, 2)
        tap.equal(place.torg("numerator", "inspect", "missing").returncode, 4)


@tap.test
def a_run_that_is_killed_leaves_the_state_that_was_there():
    with Place() as place:
        batch = Batch(place)
        batch.write(keys(0, 3))
        batch.run()
        before = (place.dir / "1.numbers").read_bytes()
        os.mkfifo(place.dir / "slow.csv")
        process = subprocess.Popen(
            [TORG, "numerator", "run", "--input-state-table", "1.numbers", "--input-offers-table",
             "slow.csv", "--output-state-table", "1.numbers"], cwd=place.dir, env=environment())
        with open(place.dir / "slow.csv", "w") as slow:
            slow.write("pk\nnew-1\n")
            slow.flush()
            process.send_signal(signal.SIGKILL)
            process.wait()
        tap.equal((place.dir / "1.numbers").read_bytes(), before)


def peak_kb(place, batch):
    """What a run from the first state takes at most, by itself."""
    process = subprocess.Popen([TORG, *batch.words()], cwd=place.dir, env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    tap.equal(process.returncode, 0)
    return usage.ru_maxrss


@tap.test
def memory_is_that_of_the_state_however_long_the_input_is():
    """The same keys come again and again: 60 MB of them, and what a run takes does not follow."""
    with Place() as place:
        batch = Batch(place)
        page = "".join(f"offer-{'x' * 40}-{i}\n" for i in range(1000))
        before = 0
        for pages in (1, 1200):
            with open(place.dir / "offers.csv", "w") as file:
                file.write("pk\n")
                for _ in range(pages):
                    file.write(page)
            size_kb = os.stat(place.dir / "offers.csv").st_size >> 10
            taken = peak_kb(place, batch)
            tap.equal(not before or taken - before < size_kb / 2, True, f"{before} and {taken} kB for {size_kb} kB")
            before = taken


def master(place, coord, cluster, other, *words):
    return [TORG, "numerator", "master", "--numbering", "blue", "--cluster", cluster, "--store",
            f"dir:{place.dir}/{cluster}", "--reach", f"{other}=dir:{place.dir}/{other}",
            f"--coord.url={coord}", *words]


@tap.test
def a_master_that_was_frozen_is_refused_when_it_comes_back():
    """It holds the lock, and waits for its offers for longer than its time."""
    coord = f"zookeeper://{tap.need('zookeeper')}/torg-numbers-{os.getpid()}"
    with Place() as place:
        def run(*words):
            return tap.run(*words, cwd=place.dir, env=environment())

        place.write("offers.csv", "pk\na\nb\n")
        os.mkfifo(place.dir / "slow.csv")
        told = run(*master(place, coord, "vla", "sas", "--input-offers-table", "offers.csv"))
        tap.equal(told.returncode, 0, told.stderr)
        frozen = subprocess.Popen(
            master(place, coord, "vla", "sas", "--limit", "1s", "--input-offers-table", "slow.csv",
                   "--intermediate-new-docs-table", "void-new.csv",
                   "--intermediate-expired-docs-table", "void-expired.csv"),
            cwd=place.dir, env=environment(), stderr=subprocess.PIPE, text=True)
        with open(place.dir / "slow.csv", "w") as slow:     # opened: it is at its offers
            frozen.send_signal(signal.SIGSTOP)
            place.write("offers.csv", "pk\na\nb\nc\n")
            told = run(*master(place, coord, "sas", "vla", "--retry", "1s", "--json",
                               "--input-offers-table", "offers.csv", "--intermediate-new-docs-table", "new.csv"))
            tap.equal(told.returncode, 0, told.stderr)
            tap.contains((place.dir / "new.csv").read_text(), "\nc,")
            tap.equal(json.loads(told.stdout)["version"], "1.1.0.2")
            slow.write("pk\nz\n")
            frozen.send_signal(signal.SIGCONT)
        tap.contains(frozen.communicate()[1], "this state is void, the last one stays")
        tap.equal(frozen.returncode, 1)
        tap.equal([path.name for path in place.dir.iterdir() if path.name.startswith("void")], [],
                  "tables of a void state, or drafts of them")
        told = run(TORG, "numerator", "master", "--numbering", "blue", "--status",
                   f"--coord.url={coord}")
        tap.contains(told.stdout, "last      1.1.0.2, ticket 3, in the store of sas")
        tap.contains(told.stdout, "nobody is making the next")
        tap.equal([path.name for path in (place.dir / "vla").rglob("*.numbers~")],
                  [f"{1:020}.numbers~"])
        told = run(*master(place, coord, "iva", "vla", "--input-offers-table", "offers.csv"))
        tap.equal(told.returncode, 5)
        tap.contains(told.stderr, "the last state, ticket 3 of sas, is not handed on")


# --- a naive model ---

class Model:
    def __init__(self, ttl, hold, share):
        self.ttl, self.hold, self.share = ttl, hold, share
        self.scheme, self.rebuild, self.generation = 0, 0, 0
        self.slots = {}         # shard: list of [key or None, birth, seen, freed]
        self.where = {}         # key: (shard, doc_id)

    def anew(self, present, shard_of, ranks):
        order = sorted(self.where, key=lambda key: self.where[key])
        order = [key for key in order if key in present] + \
                [key for key in present if key not in self.where]
        if ranks:
            order.sort(key=lambda key: -ranks[key])     # stable
        self.slots, self.where = {}, {}
        for key in order:
            slots = self.slots.setdefault(shard_of(key), [])
            self.where[key] = (shard_of(key), len(slots))
            slots.append([key, self.generation, self.generation, 0])
        self.rebuild += 1

    def expire(self):
        for slots in self.slots.values():
            for slot in slots:
                if slot[0] is not None and slot[2] + self.ttl < self.generation:
                    del self.where[slot[0]]
                    slot[0], slot[3] = None, self.generation - 1

    def add(self, key, shard):
        slots = self.slots.setdefault(shard, [])
        at = next((i for i, slot in enumerate(slots)
                   if slot[0] is None and slot[3] + self.hold < self.generation), len(slots))
        if at == len(slots):
            slots.append(None)
        slots[at] = [key, self.generation, self.generation, 0]
        self.where[key] = (shard, at)

    def run(self, present, shard_of, scheme, force, ranks):
        is_anew = force or (self.generation > 0 and scheme != self.scheme)
        new = [key for key in present if key not in self.where]
        self.scheme = scheme
        if not new and not is_anew:
            for key in present:
                shard, at = self.where[key]
                self.slots[shard][at][2] = self.generation
            return
        self.generation += 1
        for key in present:
            if key in self.where:
                shard, at = self.where[key]
                self.slots[shard][at][2] = self.generation
        if is_anew:
            self.anew(present, shard_of, ranks)
            return
        known = dict(self.where)
        self.expire()
        for key in new:
            self.add(key, shard_of(key))
        for slots in self.slots.values():
            if self.share and sum(slot[0] is None for slot in slots) > self.share * len(slots):
                self.where = {key: place for key, place in known.items() if key in present}
                self.anew(present, shard_of, ranks)
                return

    def numbers(self):
        return {key: (shard, at, *self.slots[shard][at][1:3])
                for key, (shard, at) in self.where.items()}


def shard_of(key):
    return int(key[1]) % 3      # as shops.csv has it


@tap.test
def random_generations_agree_with_a_naive_model():
    seed = int(os.environ.get("TORG_MODEL_SEED") or random.randrange(1 << 32))
    print(f"# seed {seed}")
    dice = random.Random(seed)
    with Place() as place:
        place.write("shops.csv", "shop_id,shard_id\n" +
                    "".join(f"{shop},{shop % 3}\n" for shop in range(9)))
        for _ in range(2):
            batch = Batch(place)
            ttl, hold, share = dice.randrange(3), dice.randrange(3), dice.choice([0, 0.4])
            model = Model(ttl, hold, share)
            scheme = 10003
            for _ in range(9):
                present = list(dict.fromkeys((f"o{dice.randrange(40)}", str(dice.randrange(9)))
                                             for _ in range(dice.randrange(1, 90))))
                ranks = {key: dice.randrange(5) for key in present} if dice.random() < 0.5 else None
                force = dice.random() < 0.1
                scheme = dice.choice([10003, 10004]) if dice.random() < 0.15 else scheme
                batch.write([(*key, ranks[key] if ranks else "") for key in present],
                            columns=("offer_id", "shop_id", "rank"))
                told = batch.run("--ttl", str(ttl), "--hold", str(hold), "--rebuild-hole-share",
                                 str(share), "--output-sharding-scheme", str(scheme),
                                 "--input-shops-dat-file-path", "shops.csv",
                                 *(["--rebuild-state-force"] if force else []),
                                 *(["--rank-column", "rank"] if ranks else []))
                model.run(present, shard_of, scheme, force, ranks)
                tap.equal(told["version"], f"1.{scheme}.{model.rebuild}.{model.generation}")
                tap.equal(batch.numbers(lambda row: (row["offer_id"], row["shop_id"]),
                                        "offer_id,shop_id"), model.numbers())


tap.main()
