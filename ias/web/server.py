"""Serves the API on a Unix socket and a TCP port; signals are the daemon's business."""

import contextlib
import errno
import os
import socket
from collections.abc import Generator
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from ias.errors import ConfigError, StateError

BACKLOG = 128
DRAIN = 5  # seconds that open requests get when the server stops
PATH_MAX = 100  # bytes; Linux takes 107 in a socket's address


class Server(uvicorn.Server):
    """uvicorn without its signal handlers."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals alone."""
        yield


def make_server(app: FastAPI) -> Server:
    """Make the server; serve it with `await server.serve(sockets)`, stop it with `server.should_exit`."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=DRAIN,
        server_header=False,
        ws="none",
        http="h11",
    )
    return Server(config)


def bind_tcp(host: str, port: int) -> socket.socket:
    """Bind the TCP port.

    Raises:
        StateError: It is in use.
        ConfigError: The address is not one of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise StateError(f"port {port} of {host} is in use; set api.port in config.yaml, or use --port") from error
        raise ConfigError(f"api.host {host!r} cannot be served on: {error.strerror}") from error
    listener.listen(BACKLOG)
    return listener


def bind_unix(path: Path) -> socket.socket:
    """Bind the Unix socket (mode 0600); a file left by a process that died is replaced.

    Raises:
        ConfigError: The path is too long for a socket's address, or something else is there.
    """
    if len(os.fsencode(path)) > PATH_MAX:
        raise ConfigError(
            f"the socket's path {str(path)!r} is longer than {PATH_MAX} bytes; choose another with --socket"
        )
    if path.exists() and not path.is_socket():
        raise ConfigError(f"{str(path)!r} is there and no socket; choose another path with --socket")
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    except OSError as error:
        listener.close()
        raise ConfigError(f"no socket can be made at {str(path)!r}: {error.strerror}; see --socket") from error
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    return listener
