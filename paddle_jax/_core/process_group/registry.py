"""The groups of processes of this program."""


class Groups:
    """known: {number: Group}; number 0 is that of all processes. following: the number of the next one;
    Paddle's own start at 10. channel: the messages of this process, once groups exist."""

    known: dict = {}
    following = 10
    channel = None

    @classmethod
    def numbered(cls) -> int:
        """The next number. All processes count alike, since all of them make all groups,
        in the same order."""
        cls.following += 1
        return cls.following - 1
