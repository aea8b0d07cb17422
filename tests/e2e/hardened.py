# SPDX-License-Identifier: Apache-2.0
"""The release program as a file: what a mistake in it cannot be used for.

Read from its ELF headers: it lies at another address each time (PIE), its table of functions is read-only before
main begins (RELRO and BIND_NOW), no stack is executable, returns and libc's copies are guarded.
"""
import os
import pathlib
import struct

from kit import tap

TORG = os.environ.get("TORG_RELEASE_BIN", str(pathlib.Path(__file__).resolve().parents[2] / "build-sim" / "torg"))
ET_DYN = 3
PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO = 2, 3, 0x6474e551, 0x6474e552
DT_FLAGS, DT_FLAGS_1, DF_BIND_NOW, DF_1_NOW, DF_1_PIE, DT_TEXTREL = 30, 0x6ffffffb, 8, 1, 0x08000000, 22
SHT_DYNSYM = 11


class Elf:
    """A 64-bit program of this machine's byte order."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        tap.equal(self.data[:6], b"\x7fELF\x02\x01", "a 64-bit little-endian ELF file")
        (self.kind, _, _, _, at, self.sections_at, _, _, size, count, self.section_size,
         self.section_count, _) = struct.unpack_from("<HHIQQQIHHHHHH", self.data, 16)
        self.segments = {}
        for i in range(count):
            kind, flags, offset, _, _, file_size, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, at + i * size)
            self.segments[kind] = (flags, offset, file_size)

    def dynamic(self):
        _, offset, size = self.segments[PT_DYNAMIC]
        return dict(struct.iter_unpack("<QQ", self.data[offset:offset + size]))

    def imports(self):
        """Names of the symbols that it takes from libraries."""
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, self.sections_at + i * self.section_size)
                    for i in range(self.section_count)]
        found = set()
        for _, kind, _, _, offset, size, link, _, _, _ in sections:
            if kind != SHT_DYNSYM:
                continue
            names = sections[link][4]
            for name, _, _, section, _, _ in struct.iter_unpack("<IBBHQQ", self.data[offset:offset + size]):
                if section == 0:
                    found.add(self.data[names + name:self.data.index(0, names + name)].decode())
        return found


def program():
    if not pathlib.Path(TORG).exists():
        if "TORG_RELEASE_BIN" in os.environ and os.environ.get("CI"):
            raise AssertionError(f"no release binary at {TORG}")
        tap.skip("no release binary: ./dev build makes it")
    return Elf(TORG)


@tap.test
def it_lies_where_nobody_knows():
    elf = program()
    tap.equal((elf.kind, PT_INTERP in elf.segments), (ET_DYN, True))
    tap.equal(bool(elf.dynamic().get(DT_FLAGS_1, 0) & DF_1_PIE), True)
    tap.equal(DT_TEXTREL in elf.dynamic(), False)


@tap.test
def its_tables_are_read_only():
    elf = program()
    dynamic = elf.dynamic()
    tap.equal(PT_GNU_RELRO in elf.segments, True)
    tap.equal(bool(dynamic.get(DT_FLAGS, 0) & DF_BIND_NOW or dynamic.get(DT_FLAGS_1, 0) & DF_1_NOW), True)


@tap.test
def its_stack_runs_nothing_and_is_guarded():
    elf = program()
    tap.equal(elf.segments[PT_GNU_STACK][0] & 1, 0)
    names = elf.imports()
    tap.equal("__stack_chk_fail" in names, True)
    guarded = {name for name in names if name.endswith("_chk")}
    tap.equal({"__snprintf_chk", "__memcpy_chk"} <= guarded, True, sorted(guarded))


tap.main()
