# SPDX-License-Identifier: Apache-2.0
"""browser.py - headless Chromium for tests of the pages, driven by its DevTools protocol.

The protocol runs over two pipes (--remote-debugging-pipe): messages are JSON with a zero byte
between them. A page has a context of its own: nothing is remembered from the one before.

    with Browser() as browser:
        page = browser.page(f"{place.url}/", width=390, height=800, language="ru")
        page.click("#more")
        page.wait("document.querySelectorAll('.offer-item').length > 24", "the second page")
"""
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import zlib

from kit import tap

SHELL = "chromium-headless-shell"       # the same without its windows: a page of its own takes it a tenth of the work
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome")
CLOSE_S = 10
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "Backspace": (8, ""),
        "ArrowDown": (40, ""), "ArrowUp": (38, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, "")}


def find_chromium():
    """Its path. Without one the test is skipped, or fails when TORG_REQUIRE names chromium."""
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    if "chromium" in os.environ.get("TORG_REQUIRE", "").split(","):
        raise AssertionError("TORG_REQUIRE names chromium, and there is none: ./dev setup --test")
    raise tap.Skip("NO CHROMIUM: the pages are not tested")


def words_for(path):
    """What every one is started with: only a whole browser is told to have no window."""
    words = [path, "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    return words if path.endswith(SHELL) else [*words, "--headless=new"]


def packed_well(png):
    """The same picture, with its data packed as small as zlib can."""
    head, at, data, rest = png[:8], 8, b"", []
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        else:
            rest.append((kind, png[at + 8:at + 8 + size]))
        at += size + 12
    smallest = zlib.compress(zlib.decompress(data), 9)
    chunks = [*rest[:-1], (b"IDAT", smallest), rest[-1]]
    return head + b"".join(struct.pack(">I", len(body)) + kind + body
                           + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)


class Browser:
    """The process, and the pipes to it."""

    def __enter__(self):
        path = find_chromium()
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="torg-chromium-"))
        self.number, self.rest, self.answers, self.pages = 0, b"", {}, {}
        read_theirs, self.to = os.pipe()
        self.out, write_theirs = os.pipe()
        try:
            self.process = self.start(path, read_theirs, write_theirs)
            self.call("Browser.getVersion")
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, path, read_theirs, write_theirs):
        # Away from 3 and 4, which is where Chromium looks for them.
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (read_theirs, write_theirs)]
        os.close(read_theirs)
        os.close(write_theirs)

        def place_pipes():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        words = [*words_for(path), "--remote-debugging-pipe", "--no-default-browser-check",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-extensions", "--hide-scrollbars", "--mute-audio",
                 "--force-color-profile=srgb", f"--user-data-dir={self.dir}"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")
        with open(self.dir / "log", "w") as log:
            process = subprocess.Popen([*words, "about:blank"], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, preexec_fn=place_pipes,
                                       pass_fds=(3, 4), start_new_session=True,
                                       env={**os.environ, "HOME": str(self.dir)})
        for each in high:
            os.close(each)
        return process

    def __exit__(self, *_):
        """Ended in order it tells what it has worked, which a run counts; who does not end is killed."""
        process = getattr(self, "process", None)
        if process:
            try:
                os.write(self.to, b'{"id": 0, "method": "Browser.close"}\0')
                process.wait(CLOSE_S)
            except (OSError, subprocess.TimeoutExpired):
                pass
            try:
                os.killpg(process.pid, signal.SIGKILL)      # with its renderers
            except ProcessLookupError:
                pass
            process.wait()
        os.close(self.to)
        os.close(self.out)
        shutil.rmtree(self.dir, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        number, deadline = self.number, time.monotonic() + tap.PATIENCE_S
        while number not in self.answers:
            self.read(deadline, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def read(self, deadline, what):
        """Takes what has come: answers by number, events to their page."""
        ready, _, _ = select.select([self.out], [], [], max(0, deadline - time.monotonic()))
        data = os.read(self.out, 1 << 20) if ready else b""
        if not data:
            log = (self.dir / "log").read_text(errors="replace")[-2000:]
            raise AssertionError(f"chromium did not answer {what} in {tap.PATIENCE_S} s: {log}")
        *whole, self.rest = (self.rest + data).split(b"\0")
        for each in whole:
            message = json.loads(each)
            if "id" in message:
                self.answers[message["id"]] = message
            elif message.get("sessionId") in self.pages:
                self.pages[message["sessionId"]].take(message["method"], message["params"])

    def page(self, url, **options):
        return Page(self, url, **options)


def is_replaced(error):
    """An expression had no value, because its document was being replaced."""
    return "context" in str(error) or "navigat" in str(error)


class Page:
    """A tab of its own: what it asked for, and what went wrong in it, are written down."""

    def __init__(self, browser, url, width=1280, height=900, language="en", dark=False,
                 place=None, scale=1):
        self.browser, self.requests, self.errors, self.held = browser, [], [], []
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank",
                              browserContextId=context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        agent = browser.call("Browser.getVersion")["userAgent"]
        self.call("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=language)
        self.resize(width, height, scale)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        if place:
            browser.call("Browser.grantPermissions", permissions=["geolocation"],
                         browserContextId=context)
            self.call("Emulation.setGeolocationOverride", latitude=place[0], longitude=place[1],
                      accuracy=10)
        self.go(url)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def take(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Fetch.requestPaused":
            self.held.append(params["requestId"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str([each.get("value") for each in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=width < 600)

    def hold(self, pattern):
        """Requests for such addresses wait until they are let go: what is seen without their answers stays."""
        self.call("Fetch.enable", patterns=[{"urlPattern": pattern}])

    def let_go(self):
        self.call("Runtime.evaluate", expression="0")       # what was held until now is known
        for each in self.held:
            self.call("Fetch.continueRequest", requestId=each)
        self.held = []
        self.call("Fetch.disable")

    def go(self, url):
        self.js("window.isLeft = true")
        if "loaderId" in self.call("Page.navigate", url=url):     # else it is in the same document
            self.wait_for_document(url)

    def reload(self):
        self.js("window.isLeft = true; location.reload()")
        self.wait_for_document("the page again")

    def wait_for_document(self, what):
        """Another one than the one that was left: that one answers, too, until it is replaced."""
        self.wait("!window.isLeft && document.readyState === 'complete'", what)

    def js(self, expression):
        """The value of an expression, promises awaited; what it throws fails the test."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression, what=None, seconds=tap.PATIENCE_S):
        """Until the expression is true; a document that is being replaced has no values."""
        def holds():
            try:
                return self.js(f"Boolean({expression})")
            except AssertionError as error:
                if is_replaced(error):
                    return False
                raise
        try:
            return tap.wait_until(holds, seconds, what or expression)
        except AssertionError as error:
            raise AssertionError(f"{error}; errors of the page: {self.errors}") from None

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def texts(self, selector):
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})]"
                       ".map((each) => each.innerText)")

    def click(self, selector):
        """With the mouse, in the middle of it. What the page moves away or replaces between the look and the
        press, or between press and release, was not clicked: as a person would, it is tried again."""
        self.wait(f"document.querySelector({json.dumps(selector)})", selector)
        tap.wait_until(lambda: self.is_clicked_at(selector), what=f"a click at {selector}")

    def is_clicked_at(self, selector):
        """Where it stands is looked at when it has stood still for two frames, as a page that is still being
        filled moves it away. False: the document has seen a press and a release, and no click of it."""
        x, y = self.js(f"""(async () => {{
            const selector = {json.dumps(selector)};
            const frame = () => new Promise((done) => requestAnimationFrame(done));
            for (let last = null, still = 0; ; await frame()) {{
                const node = document.querySelector(selector);
                if (!node) continue;
                node.scrollIntoView({{block: "center", inline: "center", behavior: "instant"}});
                const box = node.getBoundingClientRect();
                const spot = [box.x + box.width / 2, box.y + box.height / 2];
                still = last && spot.every((each, i) => each === last[i]) ? still + 1 : 0;
                last = spot;
                if (still >= 2) {{
                    window.isClickAwaited = true;
                    addEventListener("click", (event) => {{
                        const control = event.target.closest("label")?.control;
                        const hit = event.target.closest(selector) || control?.matches(selector);
                        window.isClickAwaited = !hit;
                    }}, {{capture: true, once: true}});
                    return spot;
                }}
            }}
        }})()""")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        try:
            return not self.js("window.isClickAwaited === true")
        except AssertionError as error:
            if is_replaced(error):              # by the document that the click leads to
                return True
            raise

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key):
        code, text = KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def nameless(self):
        """Roles of what a screen reader cannot name."""
        named = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "listbox",
                 "dialog", "navigation", "group", "image", "table"}
        return [node["role"]["value"] for node in self.call("Accessibility.getFullAXTree")["nodes"]
                if not node.get("ignored") and node["role"]["value"] in named
                and not node.get("name", {}).get("value", "").strip()]

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(packed_well(base64.b64decode(data)))
