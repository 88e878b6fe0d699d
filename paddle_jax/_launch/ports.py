"""Ports, and names and addresses of this machine."""

import socket


def free_ports(count: int) -> list[int]:
    # All sockets stay open until each has its port, so no two are the same.
    """Ports that nobody listens on."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def is_free(port: int) -> bool:
    """Whether nobody listens on a port."""
    with socket.socket() as probe:
        # A port of connections that have just ended counts as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def own_names() -> set[str]:
    """The name of this machine, and the addresses that it stands for; the loopback address without one."""
    name = socket.gethostname()
    try:
        # A machine has several addresses; another one may know it by any of them.
        return {name} | {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        return {name, "127.0.0.1"}


def own_address(endpoint: str) -> str:
    """The address of this machine on the network over which it reaches an endpoint, "host:port"."""
    host, _, port = endpoint.rpartition(":")
    family, kind, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind) as probe:  # it sends nothing
        probe.connect(address)
        return probe.getsockname()[0]
