#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""json_against_python.py JSON_LINES DESCRIPTORS - our JSON against protobuf's own for Python.

Random messages of ours must be read by it as what we meant, what it writes must be read by us, and
both must agree on a list of single cases. Skipped when Debian's python3-protobuf is missing, unless
TORG_REQUIRE names it.
"""
import os
import random
import subprocess
import sys

lines, descriptors = sys.argv[1:3]
try:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError:
    print("1..1")
    if "python3-protobuf" in os.environ.get("TORG_REQUIRE", "").split(","):
        print("not ok 1 - python3-protobuf is required and missing")
    else:
        print("ok 1 # SKIP python3-protobuf is not installed")
    sys.exit()

pool = descriptor_pool.DescriptorPool()
with open(descriptors, "rb") as file:
    for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
        pool.Add(proto)
Everything = message_factory.MessageFactory(pool).GetPrototype(
    pool.FindMessageTypeByName("torg.test.v1.Everything"))
test_count = 0


def check(name, problems):
    global test_count
    test_count += 1
    print("not ok" if problems else "ok", test_count, "-", name)
    for problem in problems[:5]:
        print("#", problem[:2000])


def read_by_us(texts):
    got = subprocess.run([lines, "read"], input="\n".join(texts) + "\n", text=True, check=True,
                         stdout=subprocess.PIPE).stdout.splitlines()
    assert len(got) == len(texts)
    return [None if line.startswith("!") else Everything.FromString(bytes.fromhex(line))
            for line in got]


def read_by_them(text):
    try:
        return json_format.Parse(text, Everything())
    except json_format.ParseError:
        return None


seed = int(os.environ.get("TORG_SEED") or random.getrandbits(63))
print("# seed", seed)
sample = [line.split(" ", 1) for line in subprocess.run(
    [lines, "write", str(seed), "400"], text=True, check=True,
    stdout=subprocess.PIPE).stdout.splitlines()]
messages = [Everything.FromString(bytes.fromhex(wire)) for wire, _ in sample]
check("they read what we write", [
    text for message, (_, text) in zip(messages, sample) if read_by_them(text) != message])
theirs = [json_format.MessageToJson(message, indent=None) for message in messages]
check("we read what they write", [
    text for message, text, ours in zip(messages, theirs, read_by_us(theirs)) if ours != message])

# Where the mapping leaves no choice both must accept the same, and as the same message. Left out is
# where it is too lax or strict: [] for an object, FLT_MAX in its shortest form.
CASES = """
{"anInt32": 1e2}
{"anInt32": 1.0}
{"anInt32": 1.5}
{"anInt32": "12"}
{"anInt32": "x"}
{"anInt32": 2147483647}
{"anInt32": 2147483648}
{"anInt32": true}
{"aUint32": -1}
{"aUint64": "18446744073709551615"}
{"aUint64": 18446744073709551616}
{"anInt64": "-9223372036854775808"}
{"anInt64": null}
{"aBool": "true"}
{"aBool": 1}
{"aFloat": 3.5e38}
{"aDouble": "Infinity"}
{"aDouble": "-Infinity"}
{"aDouble": 1e-320}
{"aString": 5}
{"aString": "\\ud83d\\ude00"}
{"someBytes": "-_8="}
{"someBytes": "AAE="}
{"aColor": "COLOR_RED"}
{"aColor": 2}
{"aColor": 99}
{"aColor": "RED"}
{"child": {"child": {}}}
{"manyInt64": [1, "2", 3e0]}
{"manyInt64": [null]}
{"manyInt64": 1}
{"manyChildren": [{}, {"aBool": true}]}
{"aMap": {"a": 1, "b": "2"}}
{"aMap": {"a": null}}
{"childMap": {"-1": {}, "2": {"aMap": {"": 0}}}}
{"childMap": {"x": {}}}
{"maybeInt32": 0}
{"maybeString": ""}
{"choiceText": "a", "choiceChild": {}}
{"choiceText": null, "choiceChild": {}}
{"aTimestamp": "2026-11-15T08:41:26Z"}
{"aTimestamp": "2026-11-15T08:41:26.123456789+05:30"}
{"aTimestamp": "0001-01-01T00:00:00Z"}
{"aTimestamp": "9999-12-31T23:59:59.999999999Z"}
{"aTimestamp": "2026-11-15"}
{"aTimestamp": "2026-02-30T00:00:00Z"}
{"aDuration": "-1.000000001s"}
{"aDuration": "315576000001s"}
{"aDuration": "1"}
{"unknown": 1}
{"anInt32": 1, "anInt32": 2}
{"an_int32": 7}
{}
""".strip().splitlines()
check("single cases", [
    f"{text}: ours {ours!r}, theirs {read_by_them(text)!r}"
    for text, ours in zip(CASES, read_by_us(CASES)) if ours != read_by_them(text)])
print(f"1..{test_count}")
