"""A helper of parameter servers that libraries import from here."""


def wait_server_ready(endpoints):
    """Returns at once, as Paddle's does.

    Args:
        endpoints: list of str, "address:port" of parameter servers, of which there are none here.
    """
