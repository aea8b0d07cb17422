# SPDX-License-Identifier: Apache-2.0
"""column.py - the file of a column from outside, read and written without torg and without numpy: docs/columns.md
has the same with it."""
import array
import struct
import zlib

HEAD = struct.Struct("<8s6I4B2I")
HEAD_SIZE = 4096
CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def encode(numbers, values, shard=0, digits=0, width=4, signed=True, lineage=None):
    """numbers: T, S, V, G; values: by number, None for none; lineage: as `inspect` tells, else a file of format 1."""
    offset = 1 << (8 * width - 1) if signed else 0
    none = (1 << (8 * width)) - 1
    codes = array.array(CODES[width], (
        none if value is None else round(value * 10 ** digits) + offset for value in values)).tobytes()
    head = HEAD.pack(b"TORGCOLU", 1 if lineage is None else 2, *numbers, shard, width, digits, signed, 0, len(values),
                     zlib.crc32(codes))
    head += b"" if lineage is None else struct.pack("<I", lineage)
    head += struct.pack("<I", zlib.crc32(head))
    return head.ljust(HEAD_SIZE, b"\0") + codes


def write(path, *args, **options):
    with open(path, "wb") as file:
        file.write(encode(*args, **options))


def read(path):
    """((T, S, V, G), shard, digits, values)"""
    with open(path, "rb") as file:
        data = file.read()
    magic, form, *numbers, shard, width, digits, signed, _, count, codes_sum = HEAD.unpack_from(data)
    assert magic == b"TORGCOLU" and form in (1, 2)
    size = HEAD.size + 4 * (form == 2)          # a lineage stands before the sum
    assert struct.unpack_from("<I", data, size) == (zlib.crc32(data[:size]),)
    assert zlib.crc32(data[HEAD_SIZE:]) == codes_sum
    codes = array.array(CODES[width])
    codes.frombytes(data[HEAD_SIZE:])
    assert len(codes) == count
    offset = 1 << (8 * width - 1) if signed else 0
    none = (1 << (8 * width)) - 1
    return tuple(numbers), shard, digits, [None if code == none else (code - offset) / 10 ** digits for code in codes]
