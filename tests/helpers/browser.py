# SPDX-License-Identifier: MIT
"""How do tests drive a browser?

Chromium is started without a window and spoken to through a pair of pipes, in the DevTools protocol: messages in JSON,
each ended by a zero byte. Nothing else is needed. A `Page` has no network, and it collects all requests, messages of
the console and errors, so that a test can require that there are none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

__all__ = ["Asked", "Browser", "Opened", "OpenedFile", "Page", "chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Seconds after which a step counts as hanging.
HANGS = 60.0
FLAGS = (
    *("--headless=new", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--remote-debugging-pipe", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--force-color-profile=srgb"),
)


def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A running Chromium."""

    def __init__(self, program: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        its_input, self._to = os.pipe()
        self._from, its_output = os.pipe()
        flags = [*FLAGS, f"--user-data-dir={self.folder / 'profile'}", *["--no-sandbox"] * (os.geteuid() == 0)]
        # The browser reads from 3 and writes to 4.
        redirect = f'exec "$0" "$@" 3<&{its_input} 4>&{its_output}'
        self.process = subprocess.Popen(
            ["bash", "-c", redirect, program, *flags, "about:blank"],
            pass_fds=(its_input, its_output),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_input)
        os.close(its_output)
        self._rest, self._number = b"", 0
        self.events: list[dict[str, Any]] = []

    def close(self) -> None:
        with suppress(OSError, ConnectionError):
            self.ask("Browser.close")
        try:
            self.process.wait(HANGS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        data = json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select([self._from], [], [], HANGS)[0]:
                raise ConnectionError("the browser does not answer")
            data = os.read(self._from, 1 << 20)
            if not data:
                raise ConnectionError("the browser is gone")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int = 1000, height: int = 700, **media: str) -> Page:
        return Page(self, path, width, height, media)


class Asked:
    """A page that can be asked for values, in any browser."""

    def value(self, expression: str) -> Any:
        raise NotImplementedError

    def call(self, function: str, *arguments: Any) -> Any:
        """Return the value of a JavaScript function of some arguments."""
        return self.value(f"({function})(...{json.dumps(arguments)})")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + HANGS
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"waited for {expression}; the page says {self.value('look && look.log.error')}")
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until the picture is drawn."""
        self.wait("Boolean(globalThis.look && (look.idle || look.log.error))")
        assert self.value("look.log.error") is None


class Frame(Asked):
    """The page in a frame that has a process of its own, or a whole page."""

    def __init__(self, browser: Browser, target: str) -> None:
        self.browser, self.target = browser, target
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.ask(method, self.session, **parameters)

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self.ask("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")


class Page(Frame):
    """An open page; ``media`` are features such as ``prefers_color_scheme="dark"``."""

    def __init__(self, browser: Browser, path: Path, width: int, height: int, media: dict[str, str]) -> None:
        super().__init__(browser, browser.ask("Target.createTarget", url="about:blank")["targetId"])
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.ask("Network.emulateNetworkConditions", **offline)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"prefers_color_scheme": "light", **media}
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in scheme.items()]
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.address = path.as_uri()
        self.ask("Page.navigate", url=self.address)

    def close(self) -> None:
        self.browser.ask("Target.closeTarget", targetId=self.target)

    def frame(self) -> Frame:
        """Return the frame of this page, which has an origin of its own."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end:
            for each in self.browser.ask("Target.getTargets")["targetInfos"]:
                if each["type"] == "iframe":
                    return Frame(self.browser, each["targetId"])
        raise TimeoutError("there is no frame with a process of its own")

    def move(self, x: float, y: float) -> None:
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, x: float, y: float) -> None:
        self.move(x, y)
        button = {"x": x, "y": y, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, **button)

    def press(self, key: str, text: str = "") -> None:
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def screenshot(self) -> bytes:
        return b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def events(self, method: str) -> list[dict[str, Any]]:
        """Return the events of a kind so far."""
        self.value("1")
        found = (each for each in self.browser.events if each.get("sessionId") == self.session)
        return [each["params"] for each in found if each["method"] == method]

    def requests(self) -> list[str]:
        """Return all requests except for the page and its own data, and the requests that its policy forbids."""
        refused = {
            each["requestId"] for each in self.events("Network.loadingFailed") if each.get("blockedReason") == "csp"
        }
        asked = (each for each in self.events("Network.requestWillBeSent") if each["requestId"] not in refused)
        urls = [each["request"]["url"] for each in asked]
        return [url for url in urls if url != self.address and not url.startswith(("data:", "blob:"))]

    def complaints(self) -> list[Any]:
        """Return all requests, errors and messages."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [*self.requests(), *(event for kind in kinds for event in self.events(kind))]


# The fixture of tests/look that writes and opens the page of a partition.
Opened = Callable[..., Page]
# The fixture that opens a file.
OpenedFile = Callable[..., Page]
