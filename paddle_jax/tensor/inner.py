"""Names of inner ops."""


def named(name):
    """Gives the inner op of a composite the name of the public function, which error messages and tape nodes then show."""

    def rename(fn):
        fn.__name__ = fn.__qualname__ = name
        return fn

    return rename
