#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""photos [COUNT] - photos a second, from the file to all sizes in the blob store, beside
vipsthumbnail making the same sizes of the same files without confining anything.

The mix: 12 megapixels as a phone takes them, 2 and 0.5 as shops have them, in JPEG, PNG and WebP,
each file another. Both have the machine to themselves, and work on two files at a time.
"""
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))
sys.dont_write_bytecode = True
from kit.photo_shop import Shop  # noqa: E402

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 120
LANES = 2
SHAPES = ((4000, 3000), (1600, 1200), (800, 600))
KINDS = ("jpg", "png", "webp")
SIDES = (240, 640, 1600)


def make_files(place):
    """By vips: noise that was blurred, so that it packs about as photos do."""
    rng = random.Random(1)
    for number in range(COUNT):
        width, height = SHAPES[number % len(SHAPES)]
        noise, soft = place / "noise.v", place / "soft.v"
        path = place / f"{number}.{KINDS[number // len(SHAPES) % len(KINDS)]}"
        subprocess.run(["vips", "gaussnoise", noise, str(width), str(height), "--seed",
                        str(rng.randrange(1 << 30)), "--mean", "128", "--sigma", "60"], check=True)
        subprocess.run(["vips", "gaussblur", noise, soft, "3"], check=True)
        subprocess.run(["vips", "cast", soft, noise, "uchar"], check=True)
        subprocess.run(["vips", "copy", noise, path], check=True)
        yield path


def per_second(work, files):
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(work, files))
    return len(files) / (time.monotonic() - begin)


def thumbnails(path):
    """As many sizes, in both formats, as we make."""
    for side in SIDES:
        for kind in ("jpg[Q=82,strip]", "webp[Q=80,strip]"):
            subprocess.run(["vipsthumbnail", path, "-s", f"{side}x{side}>", "-o",
                            f"{path.parent}/out-{path.stem}-{side}.{kind}"], check=True)


def main():
    for tool in ("vips", "vipsthumbnail"):
        if not shutil.which(tool):
            sys.exit(f"bench photos: {tool} is missing: apt install libvips-tools")
    with tempfile.TemporaryDirectory() as name, Shop() as shop:
        files = list(make_files(pathlib.Path(name)))

        def upload(path):
            status, answer = shop.upload(path.read_bytes())
            assert status == 201, answer

        ours = per_second(upload, files)
        theirs = per_second(thumbnails, files)
        size = sum(path.stat().st_size for path in files)
        print(f"{COUNT} files, {size >> 20} MB: torg {ours:.1f} photos/s, vipsthumbnail "
              f"{theirs:.1f} photos/s, {ours / theirs:.2f} times")


main()
