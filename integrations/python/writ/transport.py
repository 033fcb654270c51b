# SPDX-License-Identifier: Apache-2.0
"""Sends one request over HTTP and returns one whole reply, or raises TransportError.

The key goes to no other address: no redirect is followed. A request runs in the calling thread, or, for asyncio, in a
thread of its own that ends when the task is cancelled, so that a long wait occupies no thread pool.
"""

import asyncio
import base64
import http.client
import io
import json
import socket
import ssl
import threading
import time
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union

#: The path of a certificate with its key in one file, or the paths of both.
ClientCertificate = Union[str, Tuple[str, str]]


class TransportError(Exception):
    """There is no reply, or only a part of one."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    #: Seconds for the whole exchange, from the connection to the last byte.
    timeout: float


@dataclass(frozen=True)
class Reply:
    status: int
    #: By name in lower case.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: The parsed body; None when it is not JSON.
    body: Any = None


def tls_context(ca_file: Optional[str], client_certificate: Optional[ClientCertificate]) -> ssl.SSLContext:
    """Raises OSError (`ssl.SSLError` included) when a file cannot be read."""
    context = ssl.create_default_context(cafile=ca_file)
    if client_certificate is not None:
        files = (client_certificate,) if isinstance(client_certificate, str) else client_certificate
        context.load_cert_chain(*files)
    return context


class Transport:
    """The way to the service at `url`, through the proxy that the environment names (`HTTPS_PROXY`, `NO_PROXY`)."""

    def __init__(self, url: str, context: Optional[ssl.SSLContext]) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address such as https://writ.example.com")
        self.is_tls = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port or (443 if self.is_tls else 80)
        self.base = parts.path.rstrip("/")
        self.context = (context or ssl.create_default_context()) if self.is_tls else None
        self.proxy = _proxy_for(parts)

    def send(self, request: Request) -> Reply:
        return _Attempt(self, request).run()

    async def send_async(self, request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        reply: "asyncio.Future[Reply]" = loop.create_future()
        attempt = _Attempt(self, request)

        def settle(put: Callable[[Any], None], value: Any) -> None:
            try:
                loop.call_soon_threadsafe(lambda: None if reply.done() else put(value))
            except RuntimeError:
                pass  # The loop has been closed, so nobody awaits the reply.

        def work() -> None:
            try:
                settle(reply.set_result, attempt.run())
            except BaseException as error:
                settle(reply.set_exception, error)

        threading.Thread(target=work, name="writ", daemon=True).start()
        try:
            return await reply
        finally:
            attempt.abort()


class _Attempt:
    """One exchange on a connection of its own. Another thread may abort it."""

    def __init__(self, transport: Transport, request: Request) -> None:
        self._transport = transport
        self._request = request
        self._ends_at = time.monotonic() + request.timeout
        self._connection: Optional[http.client.HTTPConnection] = None
        self._is_aborted = False

    def run(self) -> Reply:
        connection, target, headers = self._connect()
        self._connection = connection
        try:
            connection.connect()
            if self._is_aborted:
                raise TransportError("aborted")
            connection.sock.settimeout(self._seconds_left())
            connection.request(self._request.method, target, self._request.body, headers)
            response = http.client.HTTPResponse(
                _TimedSocket(connection.sock, self._seconds_left),  # type: ignore[arg-type]
                method=self._request.method,
            )
            response.begin()
            sent = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, sent, _json(response.read()))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise TransportError(str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def abort(self) -> None:
        """Ends the exchange in the other thread, if it has not ended."""
        self._is_aborted = True
        connected = None if self._connection is None else self._connection.sock
        if connected is not None:
            try:
                # Past TLS, whose own farewell would disturb the thread that reads.
                socket.socket.shutdown(connected, socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended meanwhile.

    def _connect(self) -> Tuple[http.client.HTTPConnection, str, Dict[str, str]]:
        way, timeout = self._transport, self._seconds_left()
        target = way.base + self._request.path
        headers = {"Connection": "close", **self._request.headers}
        host, port = (way.host, way.port) if way.proxy is None else (way.proxy.host, way.proxy.port)
        if way.context is None:
            if way.proxy is not None:
                name = f"[{way.host}]" if ":" in way.host else way.host
                headers.update({**way.proxy.headers, "Host": f"{name}:{way.port}"})
                target = f"http://{name}:{way.port}{target}"
            return http.client.HTTPConnection(host, port, timeout=timeout), target, headers
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=way.context)
        if way.proxy is not None:
            connection.set_tunnel(way.host, way.port, way.proxy.headers)
        return connection, target, headers

    def _seconds_left(self) -> float:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TransportError(f"no whole answer in {self._request.timeout:g} s")
        return left


class _TimedSocket:
    """What `HTTPResponse` uses of a socket, with one time limit for all reads together."""

    def __init__(self, connected: socket.socket, seconds_left: Callable[[], float]) -> None:
        self._socket = connected
        self._seconds_left = seconds_left

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._socket, self._seconds_left))


class _TimedReader(io.RawIOBase):
    def __init__(self, connected: socket.socket, seconds_left: Callable[[], float]) -> None:
        self._socket = connected
        self._seconds_left = seconds_left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(self._seconds_left())
        return self._socket.recv_into(buffer)


@dataclass(frozen=True)
class _Proxy:
    host: str
    port: int
    headers: Dict[str, str]


def _proxy_for(parts: urllib.parse.SplitResult) -> Optional[_Proxy]:
    proxies = urllib.request.getproxies()
    named = proxies.get(parts.scheme) or proxies.get("all")
    if not named or urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxy = urllib.parse.urlsplit(named if "://" in named else f"http://{named}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise ValueError(f"the proxy {named!r} is no address such as http://proxy.example.com:3128")
    headers = {}
    if proxy.username is not None:
        words = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = "Basic " + base64.b64encode(words.encode()).decode()
    return _Proxy(proxy.hostname, proxy.port or 80, headers)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
