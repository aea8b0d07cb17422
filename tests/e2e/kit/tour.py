# SPDX-License-Identifier: Apache-2.0
"""tour.py - pages of docs typed as they stand there: every `$` line of a page is run in one shell, in
order, and prints what the page shows.

The pages break answers into lines and cut them with `…`: blanks do not count, `…` is anything.
Ids and tokens of its run stand for those of ours: what an answer brings is put into later commands.
Times, keys and the like are anything of their form.
"""
import os
import re
import subprocess
import threading
import time

from kit import tap
from kit.binary import TOP, TORG, environment

# What these show may come a moment later, or within the time a search waits: a reader types it again.
READS = re.compile(r"call Search|(films )?search |build/torg (topic read|snippets get|trace|verify)")
END = "--- end of the answer ---"
NAMES = {               # what stands for something of our run
    "offer": r"\b\d{4}-\d{4}-\d{4}-\d{4}\b",
    "token": r'(?<=")(?:A|BA)(?=[\w-]*[a-z])[\w-]{6,}(?=")',
}
FORMS = {               # what is another one each time
    "time": (r"\d{4}-\d\d-\d\dT[\d:.]+Z", r"\d{4}-\d\d-\d\dT[\d:.]+Z"),
    "key": (r"torg_\w+", r"(?:torg_\w+|in \S+start\.key)"),       # here is no terminal
    "key_id": (r"\b\w{10}(?=  name=|  key\.)", r"\w{10}"),
    "shard": (r'"shard":\d+', r'"shard":\d+'),
    "place": (r"\d+:\d+(?=  \d{4}-)", r"\d+:\d+"),      # partition:offset, before an id
    "process": (r"process \d+", r"process \d+"),
    "speed": (r"in [\d.]+ s$", r"in [\d.]+ s(?:, \d+ rows/s)?"),
    "address": (r"127\.0\.0\.1:\d+", r"127\.0\.0\.1:\d+"),
    "data": (r"/srv/torg-data", r"\S+/torg-data"),
    "number": (r"(?<=\"score\":)[\d.]+", r"[\d.]+"),
    "any": ("…", r"[\s\S]*?"),
}
VOLATILE = re.compile("|".join([f"(?P<{name}>{form})" for name, form in NAMES.items()] +
                               [f"(?P<{name}>{form})" for name, (form, _) in FORMS.items()]), re.M)


def is_whole(command):
    """Whether a shell would not wait for more lines."""
    looked = tap.run("bash", "-n", "-c", command)    # it warns of a here-document without its end
    return not command.endswith("\\") and looked.returncode == 0 and not looked.stderr


def read_tour(text):
    """(command, what the page shows) of every line that begins with `$`."""
    steps, block, command, shown = [], False, None, []
    for line in text.splitlines():
        if line.startswith("```"):
            if command is not None:
                steps.append((command, "\n".join(shown)))
            block, command, shown = not block, None, []
        elif block and line.startswith("$ "):
            if command is not None:
                steps.append((command, "\n".join(shown)))
            command, shown = line[2:], []
        elif block and command is not None:
            if not shown and not is_whole(command):
                command += "\n" + line
            else:
                shown.append(line)
    return steps


class Shell:
    """One bash for the whole tour: it keeps KEY and call()."""

    def __init__(self, cwd, path):
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=cwd, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(PATH=path))

    def run(self, command):
        watch = threading.Timer(tap.PATIENCE_S, self.process.kill)
        watch.start()
        try:
            return self.answer(command)
        finally:
            watch.cancel()

    def answer(self, command):
        self.process.stdin.write(f"{command}\necho\necho '{END}'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line.strip() == END:
                return "".join(lines)
            lines.append(line)
        raise AssertionError(f"the shell ended at {command!r}: {''.join(lines)}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=tap.PATIENCE_S)


def loose(text):
    """The text, wherever its lines are broken."""
    return r"\s*".join(re.escape(sign) for sign in text if not sign.isspace())


class Tour:
    """What a page's names are in this run."""

    def __init__(self):
        self.ours = {}

    def put_in(self, command):
        for theirs, ours in self.ours.items():
            command = command.replace(theirs, ours)
        return command

    def pattern(self, shown):
        """The form of an answer, and the page's names that it brings, in order."""
        parts, brought, at = [], [], 0
        for found in VOLATILE.finditer(shown):
            parts.append(loose(shown[at:found.start()]))
            at, kind, theirs = found.end(), found.lastgroup, found[0]
            if kind not in NAMES:
                parts.append(FORMS[kind][1])
            elif theirs in self.ours:
                parts.append(re.escape(self.ours[theirs]))
            else:
                parts.append(r"([\w-]+?)")
                brought.append(theirs)
        return r"\s*".join(["", *parts, loose(shown[at:]), ""]), brought

    def check(self, command, shown, tell):
        pattern, brought = self.pattern(shown)
        deadline = time.monotonic() + (tap.PATIENCE_S if READS.match(command) else 0)
        while True:
            told = tell()
            found = re.fullmatch(pattern, told)
            if found or time.monotonic() >= deadline:
                break
            time.sleep(0.2)
        if not found:
            raise AssertionError(f"$ {command}\nshown:\n{shown}\nnow:\n{told}")
        self.ours.update(zip(brought, found.groups()))


def go(place, page, tools=("grpcurl", "curl")):
    """The commands of a page after `torg up`, typed in a folder like the one of a clone."""
    (place.dir / "build").mkdir()
    (place.dir / "build/torg").symlink_to(os.path.abspath(TORG))
    (place.dir / "demo").symlink_to(TOP / "demo")
    path = os.pathsep.join({os.path.dirname(tap.tool(name)): 1 for name in tools})
    shell, tour = Shell(place.dir, f"{path}{os.pathsep}{os.environ['PATH']}"), Tour()
    if place.process:
        tour.ours["localhost:8080"] = place.url.removeprefix("http://")
    steps = read_tour((TOP / page).read_text())
    try:
        for command, shown in steps:
            if command.startswith("build/torg up"):
                if not place.process:
                    place.start(*command.split()[1:])
                    tour.ours["localhost:8080"] = place.url.removeprefix("http://")
                tour.check(command, shown, place.out)
            else:
                typed = tour.put_in(command)
                tour.check(command, shown, lambda: shell.run(typed))
    finally:
        shell.close()
    return len(steps)
