"""Attributes of Tensors that are True or False."""


def checked(name, value) -> bool:
    """A value that is assigned to such an attribute."""
    if not isinstance(value, bool):
        raise TypeError(f"(InvalidType) Tensor.{name}: got {type(value).__name__}; assign a bool")
    return value


def attach(kind, name, slot, doc):
    """Gives a class a property that holds a bool, None counts as False. It is read in C; code of this package
    that runs for each operation reads and writes the slot."""

    def assign(self, value):
        slot.__set__(self, value is not None and checked(name, value))

    setattr(kind, name, property(slot.__get__, assign, doc=doc))
