# SPDX-License-Identifier: MIT
"""How do tests drive Firefox?

In WebDriver BiDi, which is JSON through a WebSocket, so nothing but the browser is needed. Firefox draws WebGL only on
a screen, so it runs on a virtual one, of Xvfb. A page has the methods of `browser.Page` that tests use in both.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from contextlib import suppress
from pathlib import Path
from typing import Any

from browser import HANGS, Asked
from web_socket import WebSocket

__all__ = ["Firefox", "FirefoxPage", "firefox"]

NAMES = ("firefox-esr", "firefox")
# No updates, first pages or reports; no network; light pages that do not move; WebGL with any graphics card.
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "remote.active-protocols": 1,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "ui.prefersReducedMotion": 1,
    "webgl.force-enabled": True,
}
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowRight": "\ue014"}
EVENTS = ["log.entryAdded", "network.beforeRequestSent"]


def firefox() -> str | None:
    """Return the path of Firefox, or None if it or the virtual screen is missing."""
    return next(filter(None, map(shutil.which, NAMES)), None) if shutil.which("Xvfb") else None


class Firefox:
    """A running Firefox, on a screen of its own."""

    def __init__(self, program: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        (self.folder / "user.js").write_text("\n".join(lines))
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        answer, its_output = os.pipe()
        self._screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(its_output), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
            pass_fds=(its_output,),
            **quiet,  # type: ignore[call-overload]
        )
        os.close(its_output)
        with os.fdopen(answer) as line:
            display = line.readline().strip()
        self.process = subprocess.Popen(
            [program, "--no-remote", "--profile", str(self.folder), "--remote-debugging-port", "0", "about:blank"],
            env={**os.environ, "HOME": str(self.folder), "DISPLAY": f":{display}"},
            **quiet,  # type: ignore[call-overload]
        )
        self._number = 0
        self.events: list[dict[str, Any]] = []
        try:
            self._socket = WebSocket(self._port(), "/session", HANGS)
            self.ask("session.new", capabilities={})
            self.ask("session.subscribe", events=EVENTS)
        except BaseException:
            self.close()
            raise

    def _port(self) -> int:
        """Return the port that Firefox writes to its profile."""
        end = time.monotonic() + HANGS
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError, ValueError):  # not written yet, or incomplete
                return int(json.loads((self.folder / "WebDriverBiDiServer.json").read_text())["ws_port"])
            time.sleep(0.05)
        raise ConnectionError("Firefox does not start")

    def close(self) -> None:
        for process in (self.process, self._screen):
            process.terminate()
            try:
                process.wait(HANGS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are kept."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.receive())
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif answer["type"] == "error":
                raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
            else:
                return answer["result"]

    def open(self, path: Path, width: int = 1000, height: int = 700, **media: str) -> FirefoxPage:
        if media.get("prefers_color_scheme", "light") != "light":
            raise ValueError("Firefox has light pages here")
        return FirefoxPage(self, path, width, height)


class FirefoxPage(Asked):
    """An open page."""

    def __init__(self, browser: Firefox, path: Path, width: int, height: int) -> None:
        self.browser = browser
        self.context = browser.ask("browsingContext.create", type="tab")["context"]
        self.ask("browsingContext.setViewport", viewport={"width": width, "height": height})
        self.address = path.as_uri()
        self.ask("browsingContext.navigate", url=self.address, wait="interactive")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.ask(method, context=self.context, **parameters)

    def close(self) -> None:
        self.ask("browsingContext.close")

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        answer = self.browser.ask(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then(value => JSON.stringify(value) ?? 'null')",
            target={"context": self.context},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def move(self, x: float, y: float) -> None:
        self._act("pointer", {"type": "pointerMove", "x": round(x), "y": round(y)})
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def click(self, x: float, y: float) -> None:
        self.move(x, y)
        self._act("pointer", {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        self._act("key", {"type": "keyDown", "value": value}, {"type": "keyUp", "value": value})

    def _act(self, kind: str, *actions: dict[str, Any]) -> None:
        self.ask("input.performActions", actions=[{"type": kind, "id": kind, "actions": list(actions)}])

    def screenshot(self) -> bytes:
        return b64decode(self.ask("browsingContext.captureScreenshot")["data"])

    def requests(self) -> list[str]:
        """Return all requests except for the page and its own data."""
        urls = [each["request"]["url"] for each in self._events("network.beforeRequestSent")]
        return [url for url in urls if url != self.address and not url.startswith(("data:", "blob:"))]

    def complaints(self) -> list[Any]:
        """Return all requests, errors and messages."""
        return [*self.requests(), *self._events("log.entryAdded")]

    def _events(self, method: str) -> list[dict[str, Any]]:
        self.value("1")
        found = [each["params"] for each in self.browser.events if each.get("method") == method]
        return [each for each in found if self.context in (each.get("context"), each.get("source", {}).get("context"))]
