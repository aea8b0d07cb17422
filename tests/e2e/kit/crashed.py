# SPDX-License-Identifier: Apache-2.0
"""crashed.py - what holds in the store and in the topics after any number of kills."""
from kit import tap
from kit.binary import open_sqlite

TOPICS = ("offer-updates", "moderation-requests")

# Each is 0 in a store that is whole.
RECOUNTS = (
    "SELECT COUNT(*) FROM user_offer_presets_count c WHERE c.counter <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.seller_id = c.seller_id AND p.preset_id = c.preset_id)",
    "SELECT COUNT(*) FROM user_offer_presets p WHERE NOT EXISTS (SELECT 1 FROM "
    "user_offer_presets_count c WHERE c.seller_id = p.seller_id AND c.preset_id = p.preset_id)",
    "SELECT COUNT(*) FROM user_total_counters t JOIN (SELECT 'active' AS name, 2 AS preset UNION "
    "ALL SELECT 'expired', 3 UNION ALL SELECT 'banned', 5) n ON n.name = t.counter_id WHERE "
    "t.counter_value <> (SELECT COUNT(*) FROM user_offer_presets p WHERE p.seller_id = t.seller_id "
    "AND p.preset_id = n.preset AND p.offer_id % 10 = t.seq_no)",
    "SELECT COUNT(*) FROM offer o WHERE o.kind = 'offer' AND 1 <> (SELECT COUNT(*) FROM "
    "user_offer_presets p WHERE p.offer_id = o.id AND p.preset_id <> 1)",
    "SELECT COUNT(*) FROM feed f JOIN offer o ON o.id = f.offer_id AND o.kind = 'offer' "
    "WHERE (f.gone_us = 0) <> (o.category_id IS NOT NULL)",
    "SELECT COUNT(*) FROM queue",
)


def wait_for_export(place):
    def queue_is_empty():
        with open_sqlite(f"file:{place.data / 'store.sqlite'}?mode=ro", uri=True) as base:
            return base.execute("SELECT COUNT(*) FROM queue").fetchone()[0] == 0

    tap.wait_until(queue_is_empty, what="an empty queue")


def recount(place):
    """{number: revision} of all offers, after every count was checked; the server is down."""
    with open_sqlite(place.data / "store.sqlite") as base:
        for sql in RECOUNTS:
            tap.equal(base.execute(sql).fetchone()[0], 0, sql)
        return dict(base.execute("SELECT id, revision FROM offer WHERE kind = 'offer'"))


def digits(text):
    return int(text.replace("-", ""))


def sent(place, dump, topic):
    """{id: revisions in order} of a topic; the server is down."""
    done = tap.run(dump, place.data / "topics", topic)
    tap.equal((done.returncode, done.stderr), (0, ""))
    found = {}
    for line in done.stdout.splitlines():
        offer, revision = line.split()[:2]
        found.setdefault(offer, []).append(int(revision))
    return found


def check_topics(place, dump, rows):
    """Every offer is in every topic as it is stored; how many records each has."""
    return [check_topic(sent(place, dump, topic), topic, rows) for topic in TOPICS]


def check_topic(found, topic, rows):
    back = [offer for offer, all_of in found.items() if all_of != sorted(all_of)]
    tap.equal(back, [], f"{topic}: revisions that go back")
    last = {digits(offer): all_of[-1] for offer, all_of in found.items()}
    behind = [offer for offer, revision in rows.items() if last.get(offer) != revision]
    tap.equal(behind[:5], [], f"{topic}: {len(behind)} offers are not there as they are stored")
    return sum(len(all_of) for all_of in found.values())
