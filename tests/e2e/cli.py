# SPDX-License-Identifier: Apache-2.0
"""The command line: help, mistakes and their suggestions, config, documents that cannot drift."""
import json
import pathlib
import re
import subprocess

from kit import binary
from kit import tap
from kit.binary import TOP, TORG, Place, environment, torg

COMMANDS = re.findall(r"^  (\w+(?: \w+)?) {2,}\S", torg("help").stdout.split("exit codes")[0], re.M)


@tap.test
def help_of_every_command_has_an_example():
    tap.equal({"up", "serve", "config check", "config dump", "key create", "key list",
               "key revoke", "offers counters", "migrate", "version", "help"} - set(COMMANDS),
              set())
    for command in COMMANDS:
        for words in (["help", *command.split()], [*command.split(), "--help"]):
            result = torg(*words)
            tap.equal(result.returncode, 0, words)
            tap.equal(result.stderr, "", words)
            tap.contains(result.stdout, f"usage: torg {command}")
            tap.contains(result.stdout, "exit codes:\n  0  done")
            tap.contains(result.stdout.split("\nexample:\n")[1], f"torg {command}")


@tap.test
def examples_are_lines_that_parse():
    """Every example is taken by the program's own reader: --help at its end only explains it."""
    for command in COMMANDS:
        for line in torg("help", *command.split()).stdout.split("\nexample:\n")[1].splitlines():
            words = next(part.split() for part in line.split("|") if "torg" in part.split())
            words = words[words.index("torg") + 1:]
            tap.equal(torg(*words, "--help").returncode, 0, line)


@tap.test
def general_help_and_groups():
    for words in ([], ["help"], ["--help"], ["-h"]):
        result = torg(*words)
        tap.equal(result.returncode, 0, words)
        tap.contains(result.stdout, "usage: torg COMMAND")
    for words in (["help", "key"], ["key", "--help"]):
        tap.contains(torg(*words).stdout, "key revoke")
    tap.equal(torg("--version").stdout, torg("version").stdout)
    tap.equal(set(json.loads(torg("version", "--json").stdout)), {"version"})


@tap.test
def mistakes_are_answered_with_what_was_meant():
    for words, told in [
            (["srve"], "did you mean torg serve?"),
            (["key", "lst"], "did you mean torg key list?"),
            (["kye"], "did you mean torg key?"),
            (["key"], "needs one more word: create, list, revoke"),
            (["key", "frobnicate"], "torg key takes one of create, list, revoke"),
            (["--data", "x", "up"], "the command comes first, then its options"),
            (["frobnicate"], "torg help lists them"),
            (["up", "--lisen=x"], "did you mean --listen?"),
            (["up", "--server.lsten=x"], "did you mean --server.listen?"),
            (["up", "-x"], "options begin with two dashes"),
            (["version", "--jsn"], "did you mean --json?"),
            (["version", "--json=1"], "takes no value"),
            (["up", "--data"], "needs a value"),
            (["up", "now"], 'does not take "now"'),
            (["key", "create"], "needs NAME"),
            (["key", "create", "shop"], "needs --scope SCOPE"),
            (["serve"], "needs ROLE"),
            (["serve", "sytem"], "did you mean system?"),
            (["serve", "zzz"], "there is no role zzz; this version has: system, catalog"),
            (["serve", "system", "system"], "named twice"),
            (["help", "upp"], "did you mean torg help up?"),
            (["help", "--format", "pdf"], "there are text, man, bash and config")]:
        with Place() as place:
            result = place.torg(*words)
            tap.equal(result.returncode, 2, words)
            tap.contains(result.stderr, told)
            tap.equal(result.stdout, "", words)
            tap.equal(place.data.exists(), False, f"{words} made a data directory")


@tap.test
def documents_in_the_tree_are_those_the_program_writes():
    for kind, path in [("man", "docs/torg.1"), ("bash", "tools/torg.bash-completion"),
                       ("config", "docs/config.md")]:
        if torg("help", "--format", kind).stdout != (TOP / path).read_text():
            raise AssertionError(f"{path} is old: torg help --format {kind} > {path}")


@tap.test
def man_page_and_completions_are_installed():
    plan = json.loads((pathlib.Path(TORG).parent / "meson-info" / "intro-install_plan.json").read_text())
    places = [file["destination"] for files in plan.values() for file in files.values()]
    for end in ("/torg.1", "bash-completion/completions/torg", "zsh/site-functions/_torg",
                "fish/vendor_completions.d/torg.fish", "/torg@.service"):
        tap.equal(sum(place.endswith(end) for place in places), 1, end)
    for shell, words in (("zsh", "#compdef torg"), ("fish", "complete -c torg")):
        tap.contains(torg("completion", shell).stdout, words)


@tap.test
def the_man_page_is_good_roff():
    result = tap.run(tap.tool("groff"), "-man", "-ww", "-Tascii", "-P-cbou", TOP / "docs/torg.1")
    tap.equal((result.returncode, result.stderr), (0, ""))
    words = " ".join(result.stdout.split())
    for command in COMMANDS:
        tap.contains(words, f"torg {command}")
    for name in json.loads(torg("config", "dump", "--json", cwd="/").stdout):
        tap.contains(words, f"--{name}")


def complete(*words):
    script = (f"source '{TOP}/tools/torg.bash-completion'; COMP_WORDS=(\"$@\"); "
              "COMP_CWORD=$(($# - 1)); compopt() { :; }; _torg; printf '%s\\n' \"${COMPREPLY[@]}\"")
    result = tap.run("bash", "-c", script, "bash", "torg", *words)
    tap.equal(result.stderr, "")
    return result.stdout.split()


@tap.test
def bash_completes_commands_and_options():
    tap.equal(complete("s"), ["serve", "status", "snippets", "synonyms"])
    tap.equal(complete("key", ""), ["create", "list", "revoke", "rotate"])
    tap.equal(complete("key", "create", "x", "--sc"), ["--scope"])
    tap.equal(complete("up", "--lis"), ["--listen="])
    tap.equal(complete("up", "--server.d"), ["--server.drain=", "--server.drain_pause="])
    tap.equal(complete("version", "--"), ["--help", "--json"])


@tap.test
def every_shell_gets_its_completion():
    for shell, parts in [("bash", ["complete -F _torg torg"]),
                         ("zsh", ["#compdef torg", "key) compadd -- create",
                                  '"key create") options=(--help --json --scope']),
                         ("fish", ["complete -c torg -n __fish_use_subcommand -a up -d", " -l scope -r -d "])]:
        result = torg("completion", shell)
        tap.equal((result.returncode, result.stderr), (0, ""))
        for part in parts:
            tap.contains(result.stdout, part)
    tap.equal(torg("completion", "bash").stdout, torg("help", "--format", "bash").stdout)
    result = torg("completion", "csh")
    tap.equal(result.returncode, 2)
    tap.contains(result.stderr, "there are bash, zsh and fish")


@tap.test
def config_check_tells_all_faults_with_their_lines():
    with Place() as place:
        place.write("bad.toml", "[server]\nlisen = \"x\"\ndrain = 1\n[logs]\nlevel = 1\n")
        result = place.torg("config", "check", "bad.toml", TORG_SERVR_LISTEN="x")
        tap.equal(result.returncode, 3)
        tap.equal(result.stderr.splitlines(), [
            "bad.toml:2: unknown setting server.lisen; did you mean server.listen?",
            'bad.toml:3: server.drain = "1": expected a duration such as 250ms, 30s or 15m, from '
            "0s to 10m",
            "bad.toml:4: unknown section [logs]; did you mean [log]?",
            "TORG_SERVR_LISTEN: unknown setting in the environment; did you mean "
            "TORG_SERVER_LISTEN?"])
        tap.contains(result.stdout, "4 faults in bad.toml")
        found = json.loads(place.torg("config", "check", "bad.toml", "--json").stdout)
        tap.equal(found["ok"], False)
        tap.equal([one["place"] for one in found["problems"]],
                  ["bad.toml:2", "bad.toml:3", "bad.toml:4"])
        tap.equal(place.torg("config", "check", "missing.toml").returncode, 3)
        place.write("good.toml", "[log]\nlevel = \"debug\"\n")
        result = place.torg("config", "check", "good.toml")
        tap.equal((result.returncode, result.stdout), (0, "good.toml is valid\n"))
        tap.equal(json.loads(place.torg("config", "check", "--json").stdout)["ok"], True)


@tap.test
def a_bad_configuration_stops_every_command_that_reads_it():
    with Place() as place:
        place.write("torg.toml", "[server]\nlisen = \"x\"\n")
        for words in (["up"], ["serve", "system"], ["key", "list"], ["key", "create", "x"],
                      ["migrate"], ["config", "dump"], ["status"], ["audit"]):
            result = place.torg(*words)
            tap.equal(result.returncode, 3, words)
            tap.contains(result.stderr, "torg.toml:2: unknown setting server.lisen")
            tap.equal(place.data.exists(), False, words)


@tap.test
def config_dump_tells_values_and_origins():
    with Place() as place:
        place.write("torg.toml", "[log]\nlevel = \"debug\"\n[data]\ndir = 'd'\n")
        words = ["config", "dump", "--store.url=postgres://u:hunter2@h/d", "--data=flagged"]
        dump = json.loads(place.torg(*words, "--json", TORG_SERVER_DRAIN="5s").stdout)
        tap.equal(dump["log.level"], {"value": "debug", "origin": "torg.toml:2"})
        tap.equal(dump["server.drain"], {"value": "5s", "origin": "TORG_SERVER_DRAIN"})
        tap.equal(dump["data.dir"], {"value": "flagged", "origin": "--data.dir"})
        tap.equal(dump["store.url"]["value"], "postgres://u:***@h/d")
        tap.equal(dump["server.reactors"], {"value": 0, "origin": "default"})
        text = place.torg(*words)
        tap.equal("hunter2" in text.stdout, False)
        place.write("again.toml", text.stdout)
        tap.equal(place.torg("config", "check", "again.toml").returncode, 0)


@tap.test
def output_that_cannot_be_written_is_a_failure():
    with open("/dev/full", "w") as full:
        result = subprocess.run([binary.TORG, "help"], stdout=full, env=environment(), timeout=tap.PATIENCE_S,
                                check=False)
    tap.equal(result.returncode, 1)


tap.main()
