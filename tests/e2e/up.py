# SPDX-License-Identifier: Apache-2.0
"""`torg up`: who is let in, who is not, keys, the data directory, how it ends."""
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import time
import urllib.request

from kit import chain
from kit import tap
from kit.binary import FREE_PORTS, TOP, TORG, Place, environment, fetch, proxy

BODY_GRACE_S = 10           # NET_BODY_GRACE_MS: a body that stops for longer is refused


@tap.test
def the_start_key_opens_and_nothing_else_does():
    with Place() as place:
        place.start()
        tap.equal(place.call("SystemService/GetSystem")[0], 200)
        status, system = place.call("SystemService/GetSystem", key=place.start_key)
        tap.equal((status, system["roles"][:2]), (200, ["system", "catalog"]))
        tap.equal(place.call("KeyService/ListKeys", key=place.start_key), (200, {}))
        status, answer = place.call("KeyService/ListKeys")
        tap.equal((status, answer["code"]), (401, "unauthenticated"))
        tap.equal(place.call("KeyService/ListKeys", key=place.start_key[:-1] + "-")[0], 401)
        other = place.start_key[:-1] + ("a" if place.start_key[-1] != "a" else "b")
        tap.equal(place.call("KeyService/ListKeys", key=other)[0], 401)
        tap.equal(place.call("KeyService/ListKeys", key="x")[0], 401)
        first = place.start_key
        tap.equal(place.stop(), 0)
        place.start()
        tap.equal(place.start_key != first, True, "a key for each start")
        tap.equal(place.call("KeyService/ListKeys", key=first)[0], 401)
        tap.equal(first in place.log(), False, "the key is not in the log")
        tap.equal(place.stop(signal.SIGINT), 0)


@tap.test
def one_line_of_json_tells_where_it_serves():
    for words, roles in ((("up",), "catalog"), (("serve", "system"), "system")):
        with Place() as place, open(place.dir / "log", "w", encoding="utf-8") as log:
            with subprocess.Popen([TORG, *words, "--json", *FREE_PORTS], cwd=place.dir, env=environment(),
                                  stdout=subprocess.PIPE, stderr=log, text=True) as process:
                line = process.stdout.readline()
                told = json.loads(line)
                tap.equal((told["process"], told["url"]), (process.pid, (place.data / "server.url").read_text()))
                tap.contains(told["roles"], roles)
                with urllib.request.urlopen(told["operatorsUrl"] + "/livez", timeout=tap.PATIENCE_S) as answer:
                    tap.equal(answer.status, 200)
                key = pathlib.Path(told["startKeyFile"]).read_text(encoding="utf-8")
                tap.equal((key in line, os.path.samefile(told["data"], place.data)), (False, True))
                process.terminate()
                tap.equal((process.stdout.read(), process.wait(tap.PATIENCE_S)), ("", 0))


@tap.test
def scopes_are_enforced():
    with Place() as place:
        place.start()
        key = place.torg("key", "create", "reader", "--scope", "search").stdout.strip()
        status, answer = place.call("KeyService/ListKeys", key=key)
        tap.equal((status, answer["code"]), (403, "permission_denied"))
        tap.equal(place.call("SystemService/GetSystem", key=key)[0], 200)
        admin = place.torg("key", "create", "boss", "--scope", "admin").stdout.strip()
        tap.equal(place.call("KeyService/ListKeys", key=admin)[0], 200)


@tap.test
def lists_come_in_pages():
    with Place() as place:
        place.start()
        for number in range(4):
            tap.equal(place.call("KeyService/CreateKey", {"name": f"k{number}", "scopes": ["*"]},
                                 place.start_key)[0], 200)
        for method, field, count in [("KeyService/ListKeys", "keys", 4),
                                     ("AuditService/ListAuditEntries", "entries", 7)]:
            seen, token, pages = [], "", 0
            while pages == 0 or token:
                answer = place.call(method, {"pageSize": 2, "pageToken": token},
                                    place.start_key)[1]
                seen += [str(one) for one in answer[field]]
                token, pages = answer.get("nextPageToken", ""), pages + 1
            tap.equal((len(seen), len(set(seen)), pages), (count, count, (count + 1) // 2), method)
            for size in (-1, 100000):
                status, answer = place.call(method, {"pageSize": size}, place.start_key)
                tap.equal((status, list(tap.faults(answer))[0]), (400, "pageSize"))
        tap.equal(place.call("AuditService/ListAuditEntries", {"pageToken": "x"},
                             place.start_key)[0], 400)


@tap.test
def a_proxy_of_the_environment_is_not_shown_the_operators_key():
    with Place() as place, proxy() as (variables, was_asked):
        place.start()
        result = place.torg("key", "list", **variables)
        tap.equal((result.returncode, result.stderr), (0, ""))
        tap.equal(was_asked(), False)
        tap.equal(place.stop(), 0)


def key_life(place, running):
    created = place.torg("key", "create", "shop", "--scope", "offers.read", "--scope",
                         "offers.write", "--seller", "s-17", "--expires", "90d", "--json")
    tap.equal((created.returncode, created.stderr), (0, ""))
    made = json.loads(created.stdout)
    key, key_id = made["secret"], made["key"]["id"]
    tap.equal(made["key"]["scopes"], ["offers.read", "offers.write"])
    tap.equal(made["key"]["seller"], "s-17")
    if running:
        tap.equal(place.call("CabinetService/GetCounts", key=key)[0], 200)
        tap.equal(place.call("KeyService/ListKeys", key=key)[0], 403)
    listed = json.loads(place.torg("key", "list", "--json").stdout)["keys"]
    tap.equal([one["id"] for one in listed], [key_id])
    text = place.torg("key", "list").stdout
    tap.contains(text, key_id)
    tap.contains(text, "until ")
    tap.equal(key.split("_")[2] in text, False, "no secret in the list")
    result = place.torg("key", "create", "shop", "--scope", "search")
    tap.equal(result.returncode, 1)
    tap.contains(result.stderr, "a key named shop exists")
    result = place.torg("key", "create", "a b", "--scope", "serch")
    tap.equal(result.returncode, 2)
    tap.equal(place.torg("key", "create", "other", "--scope", "serch").returncode, 2)
    for scope in ("admin", "catalog", "documents", "metrics", "moderation", "search", "stages", "*"):
        result = place.torg("key", "create", "other", "--seller", "s-17", "--scope", scope)
        tap.equal(result.returncode, 2, scope)
        tap.contains(result.stderr, f'"{scope}" opens what belongs to all sellers')
    for life in ("x", "0s", "3000000d", "99999999d"):
        tap.equal(place.torg("key", "create", "other", "--scope", "search", "--expires",
                             life).returncode, 2, life)
    tap.equal(place.torg("key", "revoke", "nosuchkey0").returncode, 4)
    result = place.torg("key", "revoke", key_id)
    tap.equal((result.returncode, result.stdout), (0, f"key {key_id} (shop) is revoked\n"))
    if running:
        tap.equal(place.call("CabinetService/GetCounts", key=key)[0], 401)
    tap.equal(place.torg("key", "revoke", key_id).returncode, 0)
    tap.contains(place.torg("key", "list").stdout, "revoked ")
    entries = json.loads(place.torg("audit", "--json").stdout)["entries"]
    # That a key was refused is written down, too, some seconds later.
    tap.equal([(one["action"], one["principal"]) for one in entries if one["action"] != "login.failed"][:2],
              [("key.revoke", "operator" if running else "local"),
               ("key.create", "operator" if running else "local")])


@tap.test
def keys_live_and_die_on_a_running_server():
    with Place() as place:
        place.start()
        key_life(place, running=True)


@tap.test
def keys_live_and_die_without_a_server():
    with Place() as place:
        result = place.torg("key", "list")
        tap.equal(result.returncode, 4)
        tap.contains(result.stderr, "there is no data directory torg-data")
        tap.equal(place.data.exists(), False)
        key_life(place, running=False)


@tap.test
def a_key_made_before_the_start_works_after_it():
    with Place() as place:
        key = place.torg("key", "create", "early", "--scope", "admin").stdout.strip()
        place.start()
        tap.equal(place.call("KeyService/ListKeys", key=key)[0], 200)


@tap.test
def an_expired_key_is_refused():
    with Place() as place:
        place.start()
        # A machine that stands still may use up a short life before the first call: then a longer one.
        for life in (2, 10, 50):
            began = time.monotonic()
            key = place.torg("key", "create", f"of-{life}", "--scope", "admin", "--expires",
                             f"{life}s").stdout.strip()
            status = place.call("KeyService/ListKeys", key=key)[0]
            if status == 200:
                break
            tap.equal((status, time.monotonic() - began > life), (401, True), "its time is over")
        tap.equal(status, 200)
        tap.wait_until(lambda: place.call("KeyService/ListKeys", key=key)[0] == 401)
        tap.contains(place.call("KeyService/ListKeys", key=key)[1]["message"], "expired at")


@tap.test
def a_second_server_on_the_directory_is_refused_by_name():
    with Place() as place:
        place.start()
        for words in (["up"], ["serve", "system"], ["migrate"]):
            result = place.torg(*words)
            tap.equal(result.returncode, 5, words)
            tap.contains(result.stderr, f"locked by process {place.process.pid}")
            tap.contains(result.stderr, "--data names another")
        tap.equal(place.call("SystemService/GetSystem")[0], 200)


@tap.test
def other_machines_are_not_served_without_a_key():
    with Place() as place:
        for words in (["--listen=0.0.0.0:0"], ["--listen=[::]:0"], ["--listen=192.0.2.1:1"],
                      ["--listen=127.0.0.1:0", "--operator-listen=0.0.0.0:0"]):
            result = place.torg("up", *words)
            tap.equal(result.returncode, 3, words)
            tap.contains(result.stderr, "torg key create")
        key = place.torg("key", "create", "k", "--scope", "admin").stdout.strip()
        place.start("up", "--listen=0.0.0.0:0")
        tap.equal(place.start_key, None, "no start key there")
        tap.equal(place.call("KeyService/ListKeys", key=key)[0], 200)
        tap.contains(place.log(), "keys travel unencrypted")
        tap.contains(place.torg("key", "list").stdout, "k ")
        tap.equal(place.stop(), 0)
        key_id = key.split("_")[1]
        tap.equal(place.torg("key", "revoke", key_id).returncode, 0)
        tap.equal(place.torg("up", "--listen=0.0.0.0:0").returncode, 3, "only a revoked key")


@tap.test
def with_a_configuration_file_and_a_key_there_is_no_start_key():
    with Place() as place:
        place.write("torg.toml", "[log]\nlevel = \"info\"\n")
        place.start()
        tap.equal(place.start_key is not None, True)
        place.stop()
        place.torg("key", "create", "k", "--scope", "admin")
        place.start()
        tap.equal(place.start_key, None)


@tap.test
def everything_kept_is_the_users_alone():
    with Place() as place:
        place.start()
        paths = [place.data] + [pathlib.Path(folder, name) for folder, folders, files
                                in os.walk(place.data) for name in (*folders, *files)]
        tap.equal(len(paths) > 5, True, paths)
        for path in paths:
            try:
                mode = stat.S_IMODE(os.lstat(path).st_mode)
            except FileNotFoundError:           # the server goes on beside: a temporary one
                continue
            tap.equal(mode & 0o077, 0, f"{path.name} has mode {mode:o}")
        tap.equal(place.stop(), 0)
        tap.equal((place.data / "operator.key").exists(), False)
        tap.equal((place.data / "server.url").exists(), False)


@tap.test
def health_and_metrics_are_on_the_operators_port():
    with Place() as place:
        place.start()
        tap.equal(fetch(f"{place.operators}/livez")[0], 200)
        tap.wait_until(lambda: fetch(f"{place.operators}/readyz")[0] == 200, what="it is ready")
        tap.equal(fetch(f"{place.operators}/metrics")[0], 200)
        tap.equal(fetch(f"{place.url}/metrics")[0], 404)


TASKS = {"composer", "coordination", "indexer", "keys", "offers-export", "reactor-0", "store-writer",
         "topic-keeper", "watchdog"}


@tap.test
def the_tasks_of_the_process_are_listed():
    with Place() as place:
        place.start()

        def tasks():
            status, page = fetch(f"{place.operators}/debug/tasks")
            tap.equal(status, 200, page)
            return [line.split() for line in page.splitlines()]

        tap.wait_until(lambda: TASKS <= {line[0] for line in tasks()}, what="all of them run")
        tap.wait_until(lambda: {line[1] for line in tasks()} <= {"waits", "works"}, what="none is stalled")
        listed = json.loads(place.torg("status", "--json").stdout)["tasks"]
        tap.equal(TASKS - {task["name"] for task in listed}, set())
        status, answer = place.call("SystemService/GetStatus")
        tap.equal((status, answer["code"]), (401, "unauthenticated"))
        tap.equal("tasks" in place.call("SystemService/GetSystem")[1], False)


WEB = TOP / "web"
WEB_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript",
             ".svg": "image/svg+xml"}


def web_files():
    """(address, file) of everything in web/ that is served."""
    listed = re.findall(r"^  '([^']+)',$", (WEB / "meson.build").read_text(), re.M)
    for name in listed:
        yield "/" + (name.removesuffix(".html") if name != "index.html" else ""), WEB / name


IMPORTED = re.compile(r'^import\b[^;]*?"(\.[^"]+)";\n|^@import "/([^"]+)";\n', re.M)


def is_of_the_tree(body, path):
    """As the file is, or (tools/embed-web) with all that it imports in it."""
    text = path.read_text()
    names = [pathlib.PurePath(script or style).name for script, style in IMPORTED.findall(text)]
    if not names or path.parent != WEB:
        return body == text
    if path.suffix == ".js":
        return not re.search(r"^(import|export)\b", body, re.M) and all(f"// {name}\n" in body for name in names)
    return body == IMPORTED.sub(lambda found: (WEB / found[2]).read_text(), text)


@tap.test
def every_file_of_the_pages_is_served_under_strict_rules():
    files = dict(web_files())
    there = {path for path in WEB.rglob("*") if path.suffix in WEB_TYPES}
    tap.equal(set(files.values()) ^ there, set(), "files in web/ beside its meson.build")
    with Place() as place:
        place.start()
        for address, path in files.items():
            with urllib.request.urlopen(place.url + address, timeout=tap.PATIENCE_S) as answer:
                tap.equal(is_of_the_tree(answer.read().decode(), path), True, f"{address} as in the tree")
                kind = answer.headers["content-type"].split(";")[0]
                tap.equal(kind, WEB_TYPES[path.suffix], address)
                tap.equal(answer.headers["x-content-type-options"], "nosniff")
                rules = answer.headers["content-security-policy"]
                tag = answer.headers["etag"]
            tap.contains(rules, "default-src 'none'")
            tap.equal(re.findall(r"unsafe|https?:|\*", rules), [])
            request = urllib.request.Request(place.url + address, headers={"If-None-Match": tag})
            tap.equal(fetch(request)[0], 304, address)
        status, api = fetch(f"{place.url}/openapi.json")
        tap.equal(status, 200)
        tap.contains(str(list(api["paths"])), "/torg.v1.KeyService/CreateKey")


@tap.test
def the_pages_name_nobody_else_and_only_files_there_are():
    addresses = {address for address, _ in web_files()} | {"/openapi.json"}
    for _, path in web_files():
        text = path.read_text().replace("http://www.w3.org/", "")
        tap.equal(re.findall(r"https?://\w|[\"'(]//\w", text), [], path.name)
        if path.suffix == ".html":
            named = re.findall(r'(?:src|href)="([^"#]+)"', text)
            tap.equal(set(named) - addresses, set(), path.name)
            tap.equal(re.findall(r"<style|\sstyle=|<script>|\son\w+=", text), [], path.name)
        for name in re.findall(r'^(?:import|export)\b[^;(]*?"(\.[^"]+)"', text, re.M):
            tap.equal((path.parent / name).resolve() in {each for _, each in web_files()}, True,
                      f"{path.name}: {name}")


def names_of(block):
    """The names of one language's texts."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', block)
    return set(re.findall(r"(\w+):", bare)) - {"one", "few", "many", "other"}


@tap.test
def the_pages_say_everything_in_both_languages():
    said, used = set(), set()
    for _, path in web_files():
        text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
        for block in re.findall(r"^texts\(\{(.*?)\}\);$", text, re.M | re.S):
            parts = dict(zip(*[iter(re.split(r"\s(ru|en): (?=\{)", block)[1:])] * 2))
            tap.equal(names_of(parts["ru"]), names_of(parts["en"]), path.name)
            said |= names_of(parts["ru"])
        used |= set(re.findall(r'data-(?:text|label|hint|title)="(\w+)"', text))
        used |= set(re.findall(r'\bt\("(\w+)"', text))
    tap.equal(used - said, set(), "texts that are used and not there")


def received(place):
    """Bytes that the server has read, those of this very question with them."""
    text = chain.fetch_text(f"{place.operators}/metrics")
    return chain.metric_sum(text, "torg_net_received_bytes_total")


def half_a_request(place):
    """A call whose body has not come yet: it is in flight until the rest is sent. It was read: a
    signal finds it in flight."""
    begin = (b"POST /torg.v1.SystemService/GetSystem HTTP/1.1\r\nHost: x\r\n"
             b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{")
    first = received(place)
    before = received(place)
    looks = 0

    def is_read():
        nonlocal looks
        looks += 1
        return received(place) - before >= len(begin) + looks * (before - first)

    host, port = place.url.removeprefix("http://").split(":")
    sock = socket.create_connection((host, int(port)), timeout=tap.PATIENCE_S)
    sock.sendall(begin)
    tap.wait_until(is_read, what="half a request read")
    return sock


def before_it_is_refused(act):
    """What act gives of a server with half a request. A machine that stood still for so long that the
    server has refused the half meanwhile says nothing: then again."""
    for _ in range(5):
        with Place() as place:
            place.spelling = False
            place.start("up", "--server.drain=5m")
            began = time.monotonic()
            with half_a_request(place) as sock:
                place.process.send_signal(signal.SIGTERM)
                tap.wait_until(lambda: "server.stop" in place.log(), what="the drain")
                try:
                    got = act(place, sock)
                except OSError as refused:
                    got = refused
            if time.monotonic() - began < BODY_GRACE_S:
                return got
            tap.comment(f"took {time.monotonic() - began:.1f} s: once more")
    raise AssertionError(f"never within {BODY_GRACE_S} s")


@tap.test
def sigterm_finishes_what_is_in_flight():
    def finish(place, sock):
        waits = not place.ended()
        sock.sendall(b"}")
        answer = b""
        while b"\r\n\r\n" not in answer:
            part = sock.recv(4096)
            if not part:
                break
            answer += part
        sock.close()
        return waits, b"200 OK" in answer, place.process.wait(timeout=tap.PATIENCE_S)

    tap.equal(before_it_is_refused(finish), (True, True, 0), "it waits, it answers, its exit code")


@tap.test
def a_call_that_never_ends_does_not_hold_it_for_ever():
    with Place() as place:
        place.start("up", "--server.drain=300ms")
        sock = half_a_request(place)
        tap.equal(place.call("SystemService/GetSystem")[0], 200)
        began = time.monotonic()
        tap.equal(place.stop(), 0)
        tap.equal(time.monotonic() - began < tap.at_load(60), True)
        sock.close()


@tap.test
def who_is_idle_stops_within_a_second():
    """One of many on a busy machine: what waits for time takes as long in all of them."""
    with Place() as place:
        took = []
        for _ in range(20):
            place.start()
            tap.equal(place.call("SystemService/GetSystem")[0], 200)
            began = time.monotonic()
            tap.equal(place.stop(), 0)
            took.append(time.monotonic() - began)
            if took[-1] < 1:
                return
        raise AssertionError(f"20 stops, the shortest of {min(took):.2f} s")


@tap.test
def a_second_signal_ends_it_at_once():
    tap.equal(before_it_is_refused(lambda place, _: place.stop()), 128 + signal.SIGTERM)


@tap.test
def a_start_that_waits_can_be_broken_off():
    with Place() as place, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgres://torg@127.0.0.1:{silent.getsockname()[1]}/torg"
        process = subprocess.Popen([TORG, "up", f"--store.url={url}"], cwd=place.dir,
                                   env=environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            silent.settimeout(tap.PATIENCE_S)
            waiting = silent.accept()[0]  # connected, and now without an answer
            tap.equal(process.poll(), None)
            process.send_signal(signal.SIGINT)
            tap.equal(process.wait(timeout=tap.PATIENCE_S), 128 + signal.SIGINT)
            waiting.close()
        finally:
            process.kill()
            process.wait()


@tap.test
def after_kill_9_it_starts_again_and_nothing_acknowledged_is_lost():
    with Place() as place:
        keys = []
        for number in range(5):
            place.start()
            keys.append(place.torg("key", "create", f"k{number}", "--scope",
                                   "admin").stdout.strip())
            tap.equal(place.stop(signal.SIGKILL), -signal.SIGKILL)
            tap.equal((place.data / "operator.key").exists(), True)
            result = place.torg("key", "list")
            tap.equal(result.returncode, 0, "a stale address does not mislead commands")
            tap.equal(len(result.stdout.splitlines()), number + 1)
        place.start()
        for key in keys:
            tap.equal(place.call("KeyService/ListKeys", key=key)[0], 200)


@tap.test
def status_tells_whether_a_server_runs():
    with Place() as place:
        tap.equal(place.torg("status").returncode, 5)
        place.start()
        result = place.torg("status")
        tap.equal(result.returncode, 0)
        tap.contains(result.stdout, place.url)
        tap.equal(json.loads(place.torg("status", "--json").stdout)["roles"][:2],
                  ["system", "catalog"])
        place.stop(signal.SIGKILL)
        tap.equal(place.torg("status").returncode, 5)


@tap.test
def migrate_is_done_once():
    with Place() as place:
        tap.contains(place.torg("migrate").stdout, "applied")
        tap.equal(place.torg("migrate").stdout, "the store is up to date\n")
        tap.equal(json.loads(place.torg("migrate", "--json").stdout), {"applied": 0})
        actions = [one["action"] for one in
                   json.loads(place.torg("audit", "--json").stdout)["entries"]]
        tap.equal(actions, ["store.migrate"])


@tap.test
def foreign_and_newer_directories_are_left_alone():
    with Place() as place:
        place.data.mkdir()
        (place.data / "letter.txt").write_text("dear")
        result = place.torg("up")
        tap.equal(result.returncode, 3)
        tap.contains(result.stderr, "not a data directory of torg")
        tap.equal(sorted(path.name for path in place.data.iterdir()), ["letter.txt"])
        (place.data / "letter.txt").unlink()
        (place.data / "VERSION").write_text("torg-data 2\n")
        result = place.torg("up")
        tap.equal(result.returncode, 3)
        tap.contains(result.stderr, 'says "torg-data 2"')


@tap.test
def tls_serves_and_local_commands_trust_its_certificate():
    with Place() as place:
        made = tap.run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                       "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                       "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out",
                       "cert.pem", cwd=place.dir)
        tap.equal(made.returncode, 0, made.stderr)
        place.write("torg.toml", "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n")
        place.start()
        tap.contains(place.url, "https://")
        result = place.torg("key", "create", "k", "--scope", "search")
        tap.equal(result.returncode, 0, result.stderr)
        tap.equal(place.torg("status").returncode, 0)


@tap.test
def the_log_is_json_off_a_terminal_and_has_every_action():
    with Place() as place:
        place.start()
        place.torg("key", "create", "k", "--scope", "search")
        place.stop()
        events = [json.loads(line) for line in place.log().splitlines()]
        actions = [one["action"] for one in events if one["event"] == "audit"]
        tap.equal(actions, ["store.migrate", "catalog.apply", "server.start", "key.create",
                            "server.stop"])


@tap.test
def two_starts_at_once_leave_one_server():
    with Place() as place:
        several = [subprocess.Popen([TORG, "up", "--listen=127.0.0.1:0",
                                     "--operator-listen=127.0.0.1:0"], cwd=place.dir,
                                    env=environment(), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for _ in range(4)]
        try:
            tap.wait_until(lambda: sum(one.poll() is not None for one in several) == 3)
            tap.wait_until(lambda: (place.data / "server.url").exists())
            tap.equal(sorted(one.poll() for one in several if one.poll() is not None), [5] * 3)
            tap.equal(place.torg("status").returncode, 0)
        finally:
            for one in several:
                if one.poll() is None:
                    one.terminate()
        tap.equal(sorted(one.wait(timeout=tap.PATIENCE_S) for one in several), [0, 5, 5, 5])


tap.main()
