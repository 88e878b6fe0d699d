"""What `fleet.init` has made, for the layers that ask for it."""

from __future__ import annotations

from typing import Any


class Current:
    """What `fleet.init` has made last.

    Attributes:
        hcg: the HybridCommunicateGroup, or None before `fleet.init`.
        fleet: the Fleet.
        servers: the Runtime of a job with parameter servers, else None.
        grid: the DeviceGrid of a process that drives several devices alone, else None.
    """

    hcg = fleet = grid = servers = None

    @classmethod
    def groups(cls) -> Any:
        """The HybridCommunicateGroup.

        Raises:
            AttributeError: `fleet.init` was not called.
        """
        if cls.hcg is None:
            raise AttributeError("fleet: it is not initialized; call fleet.init(is_collective=True) first")
        return cls.hcg
