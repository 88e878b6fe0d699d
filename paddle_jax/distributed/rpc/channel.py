"""Servers and connections on gRPC, for remote calls and for parameter servers."""

from __future__ import annotations

import concurrent.futures
import hmac
from collections.abc import Callable, Iterator, Mapping
from typing import Any

THREADS = 16  # calls that a process answers at once; those that wait for others hold one each
LAST_WORDS = 5.0  # seconds in which a server that stops answers what is under way
OPTIONS = [
    # no limit: arguments may be whole models
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # a port in use is an error, and no second server behind it
    ("grpc.so_reuseport", 0),
    # a lost machine is found out within seconds
    ("grpc.keepalive_time_ms", 2000),
    ("grpc.keepalive_timeout_ms", 3000),
    # gRPC waits for the longer of the two, and this one is a minute by default
    ("grpc.http2.ping_timeout_ms", 3000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 500),
    # A busy server reads several pings at once, and must not take them for an attack.
    ("grpc.http2.max_ping_strikes", 0),
    # processes of a job reach each other directly
    ("grpc.enable_http_proxy", 0),
]


def grpc_module(user: str = "paddle.distributed.rpc", extra: str = "rpc") -> Any:
    """The library that carries the calls.

    Args:
        user: what needs it.
        extra: the extra that has it.
    Raises:
        ImportError: it is not installed.
    """
    try:
        import grpc
    except ImportError as error:
        raise ImportError(f"{user} needs gRPC: pip install 'paddle_jax[{extra}]'") from error
    return grpc


def serve(
    service: str,
    token: str,
    address: str,
    methods: Mapping[str, Callable[[bytes, Any], bytes]],
    streams: Mapping[str, Callable[[bytes, Any], Any]] | None = None,
    *,
    caller: str = "init_rpc",
    local: str | None = None,
    threads: int = THREADS,
    largest: int = -1,
) -> tuple[Any, int]:
    """A running server, and its port.

    Args:
        service: its name.
        token: what callers must know.
        address: "host:port"; port 0 takes a free one.
        methods: {name: function of (bytes, context) that gives bytes}.
        streams: {name: function of (bytes, context) that gives an iterator}.
        caller: what its errors begin with.
        local: path of a Unix socket at which it is reached as well.
        threads: how many requests are answered at once.
        largest: bytes that a request may have; -1: any number.
    Raises:
        RuntimeError: the address cannot be used.
    """
    grpc = grpc_module()

    def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(request: Any, context: Any) -> Iterator[Any] | bytes:
            given = dict(context.invocation_metadata()).get("token", "")
            # In constant time: a plain comparison shows by its time how much fits.
            if not hmac.compare_digest(str(given).encode(), token.encode()):
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not that of this job")
            return function(request, context)

        return call

    handlers = {name: grpc.unary_unary_rpc_method_handler(guarded(f)) for name, f in methods.items()}
    handlers |= {
        name: grpc.unary_stream_rpc_method_handler(guarded(f)) for name, f in (streams or {}).items()
    }
    pool = concurrent.futures.ThreadPoolExecutor(threads, service)
    limited = [("grpc.max_receive_message_length", largest)]
    # In place of the second option, which sets no limit.
    server = grpc.server(pool, options=[*OPTIONS[:1], *limited, *OPTIONS[2:]])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    try:
        port = server.add_insecure_port(address)
        if local is not None:
            server.add_insecure_port(f"unix:{local}")
    except RuntimeError as error:
        raise RuntimeError(f"{caller}: {address}: the port is in use, or the address is not ours") from error
    server.start()
    return server, port
