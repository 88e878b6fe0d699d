"""What `fleet.init` has made, for the layers that ask for it."""


class Current:
    """hcg: the HybridCommunicateGroup, or None before `fleet.init`. fleet: the Fleet."""

    hcg = fleet = None

    @classmethod
    def groups(cls):
        """The HybridCommunicateGroup.

        Raises:
            AttributeError: `fleet.init` was not called.
        """
        if cls.hcg is None:
            raise AttributeError("fleet: it is not initialized; call fleet.init(is_collective=True) first")
        return cls.hcg
