"""What the sockets between processes of one machine share."""


def fill(sock, buffer, error):
    """Fills a buffer with what comes from a socket and returns it; raises `error(text)` when the
    other side has ended."""
    view = memoryview(buffer)
    while view:
        count = sock.recv_into(view)
        if not count:
            raise error("the other process has ended")
        view = view[count:]
    return buffer
