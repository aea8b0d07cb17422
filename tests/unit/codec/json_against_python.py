#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""json_against_python.py JSON_LINES DESCRIPTORS - our JSON against protobuf's own for Python.

Random messages of ours must be read by it as what we meant, what it writes must be read by us, and
both must agree on a list of single cases. Skipped when Debian's python3-protobuf is missing, unless
TORG_REQUIRE names it.
"""
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from kit import tap  # noqa: E402

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError:
    json_format = None

LINES, DESCRIPTORS = sys.argv[1:3]
del sys.argv[1:3]
SEED = int(os.environ.get("TORG_SEED") or random.getrandbits(63))
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


def message_type():
    """Everything, of the test's .proto."""
    pool = descriptor_pool.DescriptorPool()
    with open(DESCRIPTORS, "rb") as file:
        for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
            pool.Add(proto)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("torg.test.v1.Everything"))


def need_protobuf():
    if json_format:
        return
    if "python3-protobuf" in os.environ.get("TORG_REQUIRE", "").split(","):
        raise AssertionError("python3-protobuf is required and missing")
    tap.skip("python3-protobuf is not installed")


def read_by_us(texts):
    got = subprocess.run([LINES, "read"], input="\n".join(texts) + "\n", text=True, check=True,
                         stdout=subprocess.PIPE).stdout.splitlines()
    assert len(got) == len(texts)
    return [None if line.startswith("!") else Everything.FromString(bytes.fromhex(line))
            for line in got]


def read_by_them(text):
    try:
        return json_format.Parse(text, Everything())
    except json_format.ParseError:
        return None


def sample():
    """Random messages of ours, as we write them."""
    for line in subprocess.run([LINES, "write", str(SEED), "400"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        wire, text = line.split(" ", 1)
        yield Everything.FromString(bytes.fromhex(wire)), text


@tap.test
def they_read_what_we_write():
    need_protobuf()
    tap.equal([text for message, text in sample() if read_by_them(text) != message][:5], [])


@tap.test
def we_read_what_they_write():
    need_protobuf()
    messages = [message for message, _ in sample()]
    theirs = [json_format.MessageToJson(message, indent=None) for message in messages]
    tap.equal([text for message, text, ours in zip(messages, theirs, read_by_us(theirs))
               if ours != message][:5], [])


@tap.test
def single_cases():
    need_protobuf()
    tap.equal([f"{text}: ours {ours!r}, theirs {read_by_them(text)!r}"
               for text, ours in zip(CASES, read_by_us(CASES)) if ours != read_by_them(text)], [])


tap.comment(f"TORG_SEED={SEED}")
Everything = message_type() if json_format else None
tap.main()
