"""Who a process is in its program."""

import os

from paddle_jax._core.base import launch_variables

__all__ = ["PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker"]


class Role:
    """Numbers for what a process does. `fleet.init` takes workers only: there are no parameter servers."""

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class RoleMakerBase:
    """Answers of a process about itself; see its subclasses."""

    def __init__(self, is_collective, role, current_id, count, endpoints, servers=()):
        self._is_collective = bool(is_collective)
        self._role = role
        self._current_id = current_id
        self._count = count
        self._trainers, self._servers = list(endpoints), list(servers)

    def refuse_servers(self):
        """Raises NotImplementedError where the answers ask for parameter servers, or for processes that
        are not connected."""
        lonely = launch_variables.size() == 1 and self._count == 1 and not self._servers
        if not self._is_worker() or not (self._is_collective or lonely):
            raise NotImplementedError(
                f"fleet.init: role_maker: got is_collective={self._is_collective}, "
                f"role {self._role}, {self._count} workers, {len(self._servers)} "
                "servers; there are no parameter servers here, and several workers are "
                "collective; pass is_collective=True and start the program by `python "
                "-m paddle_jax.distributed.launch`"
            )

    def _worker_index(self):
        return self._current_id

    def _worker_num(self):
        return self._count

    def _is_first_worker(self):
        return self._is_worker() and self._current_id == 0

    def _is_worker(self):
        return self._role not in (Role.SERVER, Role.HETER_WORKER, Role.COORDINATOR)

    def _is_server(self):
        return self._role == Role.SERVER

    def _server_index(self):
        if self._is_server():
            return self._current_id
        return 0

    def _server_num(self):
        return len(self._servers)

    def _get_pserver_endpoints(self):
        return self._servers

    def _get_trainer_endpoints(self):
        return self._trainers

    def to_string(self):
        """The answers, in a line."""
        return (
            f"role: {self._role}, current_id: {self._current_id}, worker_endpoints: {self._trainers}, "
            f"server_endpoints: {self._servers}"
        )


class PaddleCloudRoleMaker(RoleMakerBase):
    """What the variables of the launcher say of this process.

    Args:
        is_collective: True for processes that all do the same. False, for programs with parameter servers,
            makes sense for a process alone, which has none; `fleet.init` refuses it where there are more.
        kwargs: accepted.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.PaddleCloudRoleMaker(is_collective=True).to_string()
        "role: 1, current_id: 0, worker_endpoints: ['127.0.0.1:6170'], server_endpoints: []"
    """

    def __init__(self, is_collective=False, **kwargs):
        alone = ["127.0.0.1:6170"] if is_collective else []
        if launch_variables.endpoints()[0]:
            endpoints = launch_variables.endpoints()
        else:
            endpoints = alone
        if is_collective:
            servers = []
        else:
            servers = _listed("PADDLE_PSERVERS_IP_PORT_LIST")
        role = _training_role() if servers else Role.WORKER
        if role == Role.SERVER:
            number = _place_of_server(servers)
        else:
            number = launch_variables.rank()
        super().__init__(is_collective, role, number, launch_variables.size(), endpoints, servers)


def _listed(name):
    """A list of addresses from the environment."""
    return [each for each in os.environ.get(name, "").split(",") if each]


def _training_role():
    """What this process does in a job with parameter servers.

    Raises:
        ValueError: TRAINING_ROLE is missing, or names no role.
    """
    name = os.environ.get("TRAINING_ROLE")
    roles = {"TRAINER": Role.WORKER, "PSERVER": Role.SERVER, "HETER_TRAINER": Role.HETER_WORKER}
    if name not in roles:
        raise ValueError(
            f"TRAINING_ROLE: got {name!r} in the environment; with PADDLE_PSERVERS_IP_PORT_LIST it must be "
            f"one of {', '.join(roles)}"
        )
    return roles[name]


def _place_of_server(servers):
    """The place of this server in the list of all.

    Raises:
        ValueError: POD_IP or PADDLE_PORT is missing, or they name none of them.
    """
    for name in ("POD_IP", "PADDLE_PORT"):
        if not os.environ.get(name):
            raise ValueError(f"Can not find {name}: a parameter server needs it in its environment")
    own = f"{os.environ['POD_IP']}:{os.environ['PADDLE_PORT']}"
    if own not in servers:
        raise ValueError(f"POD_IP and PADDLE_PORT: got {own}; PADDLE_PSERVERS_IP_PORT_LIST has {servers}")
    return servers.index(own)


class UserDefinedRoleMaker(RoleMakerBase):
    """What the program says itself about its processes. They still have to be connected: `fleet.init` does it
    by the launcher's variables.

    Args:
        is_collective: True for processes that all do the same; False as for `PaddleCloudRoleMaker`.
        init_gloo: accepted.
        kwargs: current_id: int, the number of this process. worker_num: int. worker_endpoints and
            server_endpoints: lists of str, "host:port" of each process. role: a number of Role; what is no
            worker can be asked, but `fleet.init` refuses it.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> role = fleet.UserDefinedRoleMaker(is_collective=True, current_id=0, worker_num=1,
        ...                                   worker_endpoints=["127.0.0.1:6170"])
        >>> fleet.init(role).worker_num()
        1
    """

    def __init__(self, is_collective=False, init_gloo=False, **kwargs):
        endpoints = kwargs.get("worker_endpoints") or []
        count = kwargs.get("worker_num") or len(endpoints) or launch_variables.size()
        super().__init__(
            is_collective,
            kwargs.get("role", Role.WORKER),
            kwargs.get("current_id", launch_variables.rank()),
            count,
            endpoints,
            kwargs.get("server_endpoints") or [],
        )
