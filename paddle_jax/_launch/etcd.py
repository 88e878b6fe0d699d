"""The address of a job's store in etcd, for `--master etcd://host:port`.

One launcher keeps the store and holds a lease on the key with its address. When its machine dies the lease
ends, and the launcher that creates the key first keeps the store from then on. So any machine may be lost.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

_RETRY = 0.5  # seconds between two questions to etcd


class RegistryError(Exception):
    """etcd cannot be used; the text says why."""


class Registry:
    """Where the store of one job is.

    Attributes:
        endpoint: "host:port" of etcd.
        key: the key with the address of the store.
        seconds: for how long the address stays without a renewal.
    """

    def __init__(self, endpoint: str, job: str, seconds: float) -> None:
        self.endpoint = endpoint
        self.key = f"/paddle_jax/{job}/store"
        # Leases of etcd last whole seconds.
        self.seconds = max(1, round(seconds))
        self._client = _client(endpoint)
        self._lease: Any = None
        self._held = threading.Event()

    def find(self) -> str | None:
        """The address of the store; None if nobody keeps it.

        Raises:
            RegistryError: etcd does not answer.
        """
        values = self._ask(lambda: self._client.get(self.key))
        if not values:
            return None
        return values[0].decode()

    def claim(self, address: str, on_loss: Callable[[], None]) -> bool:
        """Makes this launcher the one that keeps the store; False if another one was faster.

        Args:
            address: "host:port" of the store.
            on_loss: called when the lease has ended though it was renewed: others may keep the store then.
        """
        lease = self._ask(lambda: self._client.lease(self.seconds))
        if not self._ask(lambda: self._client.create(self.key, address, lease)):
            with contextlib.suppress(Exception):  # it would end without that
                lease.revoke()
            return False
        self._lease = lease
        self._held = threading.Event()
        self._held.set()
        threading.Thread(target=self._renew, args=(lease, self._held, on_loss), daemon=True).start()
        return True

    def _renew(self, lease: Any, held: threading.Event, on_loss: Callable[[], None]) -> None:
        """Renews the lease until it is released, or lost."""
        renewed = time.monotonic()
        while held.is_set() and time.monotonic() - renewed < self.seconds:
            # Four tries in the time of a lease: one may fail.
            time.sleep(self.seconds / 4)
            with contextlib.suppress(Exception):  # etcd may be back in time
                if lease.refresh() > 0:
                    renewed = time.monotonic()
        if held.is_set():
            on_loss()

    def release(self) -> None:
        """Lets another launcher keep the store."""
        self._held.clear()
        if self._lease is not None:
            with contextlib.suppress(Exception):  # it ends by time then
                self._lease.revoke()
            self._lease = None

    def _ask(self, question: Callable[[], Any]) -> Any:
        """The answer of etcd, which may take some tries."""
        limit = time.monotonic() + self.seconds
        while True:
            try:
                return question()
            except Exception as error:  # the library hands on what several others raise
                if time.monotonic() > limit:
                    raise RegistryError(
                        f"no etcd answers at {self.endpoint} ({error}); start it, or correct --master"
                    ) from error
                time.sleep(_RETRY)


def _client(endpoint: str) -> Any:
    try:
        from etcd3gw.client import Etcd3Client
    except ImportError as error:
        raise RegistryError(
            "--master etcd://host:port needs etcd3gw: pip install 'paddle_jax[etcd]'"
        ) from error
    host, _, port = endpoint.rpartition(":")
    return Etcd3Client(host=host, port=int(port), timeout=5)
