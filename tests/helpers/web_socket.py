# SPDX-License-Identifier: MIT
"""How are messages sent to and received from a browser through a WebSocket?

RFC 6455, as far as a browser on this machine needs it: a request to upgrade the connection, then frames. Frames of a
client are masked, as the standard requires.
"""

from __future__ import annotations

import os
import socket
import struct
from base64 import b64encode

__all__ = ["WebSocket"]

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class WebSocket:
    """A connection to a server on this machine."""

    def __init__(self, port: int, path: str, seconds: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), seconds)
        key = b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        )
        self._socket.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        self._rest = b""
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, _, self._rest = self._rest.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(f"the browser refuses the connection: {head!r}")

    def send(self, text: str) -> None:
        self._frame(TEXT, text.encode())

    def receive(self) -> str:
        """Return the next message; pings are answered meanwhile."""
        whole = b""
        while True:
            head = self._take(2)
            size = head[1] & 127
            if size > 125:
                (size,) = struct.unpack(">H" if size == 126 else ">Q", self._take(2 if size == 126 else 8))
            data, kind = self._take(size), head[0] & 15
            if kind == CLOSE:
                raise ConnectionError("the browser has closed the connection")
            if kind == PING:
                self._frame(PONG, data)
            elif kind != PONG:
                whole += data
                if head[0] & 128:  # the last frame of a message
                    return whole.decode()

    def close(self) -> None:
        self._socket.close()

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        long = struct.pack(">BH", 254, size) if 125 < size < 1 << 16 else struct.pack(">BQ", 255, size)
        head = bytes([128 | kind]) + (bytes([128 | size]) if size < 126 else long)
        mask = os.urandom(4)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(size, "big")
        self._socket.sendall(head + mask + masked)

    def _take(self, size: int) -> bytes:
        while len(self._rest) < size:
            self._more()
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken

    def _more(self) -> None:
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the browser is gone")
        self._rest += data
