#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""photos [COUNT] - photos a second, from the file to all sizes in the blob store, beside vipsthumbnail,
which confines nothing.

The files: scenes of gradients, shapes and a sensor's noise, each another; of 12 megapixels as phones
take them (half of them lying on the side, by EXIF), and of 2, 0.5 and 0.3 as shops have them, in JPEG,
PNG, WebP and GIF. vipsthumbnail is run for each size and format that we make (it decodes each file
six times), and once for the largest alone. All have the machine to themselves and work on two files at a
time; processor time is told, too, since a busy machine adds nothing to it.
"""
import concurrent.futures
import os
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))
sys.dont_write_bytecode = True
from kit.photo_shop import Shop, turned  # noqa: E402

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 80
LANES = 2
# What a site's sellers send, in turns.
MIX = ((4000, 3000, "jpg"), (1600, 1200, "jpg"), (800, 600, "jpg"), (1600, 1200, "webp"),
       (4000, 3000, "jpg"), (800, 600, "png"), (640, 480, "jpg"), (1600, 1200, "png"),
       (4000, 3000, "jpg"), (640, 480, "gif"))
SIDES = (240, 640, 1600)
FORMS = ("jpg[Q=82,strip]", "webp[Q=80,strip]")
TICKS = os.sysconf("SC_CLK_TCK")


def scene(rng, width, height):
    """A drawing: sky, ground, and things of many colours and sizes."""
    colour = lambda: "#%06x" % rng.randrange(1 << 24)   # noqa: E731
    shapes = "".join(
        f"<ellipse cx='{rng.randrange(width)}' cy='{rng.randrange(height)}' rx='{rng.randrange(9, width // 4)}' "
        f"ry='{rng.randrange(9, height // 4)}' fill='url(#g{rng.randrange(4)})' opacity='.{rng.randrange(3, 9)}'/>"
        f"<rect x='{rng.randrange(width)}' y='{rng.randrange(height)}' width='{rng.randrange(9, width // 3)}' "
        f"height='{rng.randrange(9, height // 5)}' fill='{colour()}' transform='rotate({rng.randrange(90)})'/>"
        for _ in range(24))
    gradients = "".join(f"<linearGradient id='g{at}' x2='{at % 2}' y2='1'><stop stop-color='{colour()}'/>"
                        f"<stop offset='1' stop-color='{colour()}'/></linearGradient>" for at in range(4))
    return (f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}'><defs>{gradients}</defs>"
            f"<rect width='{width}' height='{height}' fill='url(#g0)'/>{shapes}</svg>")


def make_file(place, number):
    rng = random.Random(number)
    width, height, kind = MIX[number % len(MIX)]
    drawing, drawn, noise, noisy, path = (place / f"{number}.{end}" for end in (
        "svg", "drawn.v", "noise.v", "noisy.v", kind))

    def vips(*words):
        subprocess.run(["vips", *map(str, words)], check=True)

    drawing.write_text(scene(rng, width, height))
    vips("flatten", drawing, drawn)
    vips("gaussnoise", noise, width, height, "--seed", rng.randrange(1 << 30), "--mean", 0, "--sigma", 6)
    vips("add", drawn, noise, noisy)
    vips("cast", noisy, drawn, "uchar")
    vips("copy", drawn, f"{path}{'[Q=90]' if kind in ('jpg', 'webp') else ''}")
    for one in (drawing, drawn, noise, noisy):
        one.unlink()
    if width == 4000 and number % 4 == 0:
        path.write_bytes(turned(path.read_bytes(), 6))
    return path


def per_second(work, files, worked):
    began, before = time.monotonic(), worked()
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(work, files))
    return len(files) / (time.monotonic() - began), (worked() - before) * 1000 / len(files)


def thumbnails(path, sides=SIDES, forms=FORMS):
    for side in sides:
        for form in forms:
            subprocess.run(["vipsthumbnail", path, "-s", f"{side}x{side}>", "-o",
                            f"{path.parent}/out-{path.stem}-{side}.{form}"], check=True)


def of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_processes(shop):
    """Of the server and its decoders; one that was replaced is missed."""
    return sum(sum(map(int, pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(") ", 1)[1].split()[11:13]))
               for one in [shop.process.pid, *shop.children()]) / TICKS


def main():
    for tool in ("vips", "vipsthumbnail"):
        if not shutil.which(tool):
            sys.exit(f"bench photos: {tool} is missing: apt install libvips-tools")
    os.environ["VIPS_CONCURRENCY"] = "1"        # as our decoders have: two files at a time are two cores
    with tempfile.TemporaryDirectory() as name, Shop() as shop:
        place = pathlib.Path(name)
        files = [make_file(place, number) for number in range(COUNT)]

        def upload(path):
            status, answer = shop.upload(path.read_bytes())
            assert status == 201, answer

        upload(make_file(place, COUNT))         # its decoders have been started
        print(f"{COUNT} files, {sum(path.stat().st_size for path in files) >> 20} MB; photos a second, and "
              "processor time of each")
        for what, work, worked in (
                ("torg: six files of each, durable", upload, lambda: of_processes(shop)),
                ("vipsthumbnail: the same six", thumbnails, of_children),
                ("vipsthumbnail: the largest JPEG alone",
                 lambda path: thumbnails(path, SIDES[-1:], FORMS[:1]), of_children)):
            speed, worked_ms = per_second(work, files, worked)
            print(f"  {what:40s}{speed:6.1f} /s  {worked_ms:6.0f} ms")


main()
