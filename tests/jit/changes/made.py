"""Objects that the function makes itself, of classes that change."""

from tests.jit.changes.cases import case


def replaced(cls, name, value):
    """A change that replaces a member of a class."""
    return lambda: setattr(cls, name, value)


@case
def class_attribute_read_while_it_is_made():
    class Held:
        by = 1.0

        def __init__(self):
            self.twice = self.by * 2

    return lambda x: x * Held().twice, replaced(Held, "by", 5.0)


@case
def class_attribute_of_a_base_read_while_it_is_made():
    class Base:
        by = 1.0

        def __init__(self):
            self.twice = self.by * 2

    class Held(Base):
        def __init__(self):
            super().__init__()

    return lambda x: x * Held().twice, replaced(Base, "by", 5.0)


@case
def method_of_what_is_made():
    class Held:
        def scaled(self, x):
            return x * 2

    return lambda x: Held().scaled(x), replaced(Held, "scaled", lambda self, x: x * 3)


@case
def property_of_what_is_made():
    class Held:
        @property
        def by(self):
            return 2.0

    return lambda x: x * Held().by, replaced(Held, "by", property(lambda self: 3.0))


@case
def bases_of_what_is_made():
    class First:
        by = 1.0

    class Second:
        by = 2.0

    class Held(First):
        pass

    return lambda x: x * Held().by, replaced(Held, "__bases__", (Second,))


@case
def table_of_the_class_of_what_is_made():
    class Held:
        table = {"by": 1.0}

        def by(self):
            return self.table["by"]

    return lambda x: x * Held().by(), lambda: Held.table.update(by=4.0)


@case
def dataclass_that_is_made():
    import dataclasses

    @dataclasses.dataclass
    class Held:
        by: float = 2.0
        times = 3.0

        def product(self):
            return self.by * self.times

    return lambda x: x * Held().product(), replaced(Held, "times", 5.0)


@case
def text_of_a_docstring():
    def helper():
        """one"""

    def change():
        helper.__doc__ = "three"

    return lambda x: x * len(helper.__doc__), change
