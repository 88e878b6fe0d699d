"""Who a process is in its program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from paddle_jax._core.base import launch_variables
from paddle_jax._core.base.errors import CheckError

__all__ = ["PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker"]


class Role:
    """Numbers for what a process does. `fleet.init` takes workers and servers.

    Example:
        >>> Role = paddle.distributed.fleet.Role
        >>> Role.WORKER, Role.SERVER
        (1, 2)
    """

    WORKER = 1
    SERVER = 2
    HETER_WORKER = 3
    ALL = 4
    COORDINATOR = 5


class RoleMakerBase:
    """Answers of a process about itself; see its subclasses.

    Attributes:
        _role, _current_id, _count: as given.
        _is_collective: bool, whether there are no servers.
        _trainers, _servers: lists of endpoints.
    """

    def __init__(
        self,
        is_collective: bool,
        role: Any,
        current_id: Any,
        count: Any,
        endpoints: Sequence[str],
        servers: Sequence[str] = (),
    ) -> None:
        self._is_collective = bool(is_collective)
        self._role = role
        self._current_id = current_id
        self._count = count
        self._trainers, self._servers = list(endpoints), list(servers)

    def check_role(self) -> None:
        """Raises NotImplementedError for roles that there are none of, and for several workers without
        servers that are not connected."""
        if self._role not in (Role.WORKER, Role.SERVER, Role.ALL):
            raise NotImplementedError(
                f"fleet.init: role_maker: got role {self._role}; there are workers ({Role.WORKER}) and "
                f"servers ({Role.SERVER}); TRAINING_ROLE must be TRAINER or PSERVER"
            )
        if self._is_collective and self._is_server():
            raise NotImplementedError(
                "fleet.init: role_maker: got a server with is_collective=True; pass is_collective=False"
            )
        # A process alone needs neither servers nor collectives.
        lonely = launch_variables.size() == 1 and self._count == 1
        if not self._is_collective and not self._servers and not lonely:
            raise NotImplementedError(
                f"fleet.init: role_maker: got is_collective=False, {self._count} workers and no servers; "
                "start the program with --server_num, or pass is_collective=True, by `python -m "
                "paddle_jax.distributed.launch`"
            )

    def _worker_index(self) -> int:
        return self._current_id

    def _worker_num(self) -> int:
        return self._count

    def _is_first_worker(self) -> bool:
        return self._is_worker() and self._current_id == 0

    def _is_worker(self) -> bool:
        return self._role not in (Role.SERVER, Role.HETER_WORKER, Role.COORDINATOR)

    def _is_server(self) -> bool:
        return self._role == Role.SERVER

    def _server_index(self) -> int:
        return self._current_id

    def _server_num(self) -> int:
        return len(self._servers)

    def _get_pserver_endpoints(self) -> list[Any]:
        return self._servers

    def _get_trainer_endpoints(self) -> list[Any]:
        return self._trainers

    def to_string(self) -> str:
        """The answers, in a line."""
        return (
            f"role: {self._role}, current_id: {self._current_id}, worker_endpoints: {self._trainers}, "
            f"server_endpoints: {self._servers}"
        )


class PaddleCloudRoleMaker(RoleMakerBase):
    """What the variables of the launcher say of this process.

    Args:
        is_collective: True for processes that all do the same. False for a job with parameter servers, where
            PADDLE_PSERVERS_IP_PORT_LIST names them, and for a process alone.
        kwargs: accepted.
    Raises:
        ValueError: a variable of a job with parameter servers is missing, or has no meaning.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.PaddleCloudRoleMaker(is_collective=True).to_string()
        "role: 1, current_id: 0, worker_endpoints: ['127.0.0.1:6170'], server_endpoints: []"
    """

    def __init__(self, is_collective: bool = False, **kwargs: Any) -> None:
        # A collective job has no servers, whatever the environment says.
        servers = [] if is_collective else _listed("PADDLE_PSERVERS_IP_PORT_LIST")
        # A list of servers makes it a job with parameter servers.
        if servers:
            super().__init__(False, *_role_among(servers), servers)
            return
        # Paddle's address of a program without a launcher.
        endpoints = ["127.0.0.1:6170"] if is_collective else []
        if launch_variables.endpoints()[0]:
            endpoints = launch_variables.endpoints()
        rank = launch_variables.rank()
        super().__init__(is_collective, Role.WORKER, rank, launch_variables.size(), endpoints)


def _role_among(servers: Sequence[str]) -> tuple[int, int | Any, int, list[str]]:
    """(role, number, how many workers, their addresses) of this process in a job with servers."""
    count = int(_needed("PADDLE_TRAINERS_NUM", str.isdigit, "a number"))
    role = _training_role()
    number = 0
    if role == Role.WORKER:
        number = int(_needed("PADDLE_TRAINER_ID", str.isdigit, "a number"))
        if number >= count:
            raise ValueError(f"PADDLE_TRAINER_ID: got {number}; PADDLE_TRAINERS_NUM says {count}")
    elif role == Role.SERVER:
        number = _place_of_server(servers)
    return role, number, count, _listed("PADDLE_TRAINER_ENDPOINTS")


def _needed(name: str, is_valid: Any, what: str) -> str:
    """The text of a variable.

    Raises:
        ValueError: it is missing, or another one.
    """
    text = os.environ.get(name)
    if not text:
        raise ValueError(f"Can not find {name}, please check your environment: a job with servers needs it")
    if not is_valid(text):
        raise ValueError(f"{name}: got {text!r} in the environment; it must be {what}")
    return text


def _listed(name: str) -> list[str]:
    """A list of addresses from the environment."""
    # Without the filter an empty variable would give one empty address.
    return [each for each in os.environ.get(name, "").split(",") if each]


def _training_role() -> int:
    """What this process does in a job with parameter servers.

    Raises:
        ValueError: TRAINING_ROLE is missing, or names no role.
    """
    roles = {
        "TRAINER": Role.WORKER,
        "PSERVER": Role.SERVER,
        "HETER_TRAINER": Role.HETER_WORKER,
        "COORDINATOR": Role.COORDINATOR,
    }
    return roles[_needed("TRAINING_ROLE", roles.__contains__, f"one of {', '.join(roles)}")]


def _place_of_server(servers: Sequence[str]) -> int:
    """The place of this server in the list of all.

    Raises:
        ValueError: POD_IP or PADDLE_PORT is missing, or they name none of them.
    """
    port = _needed("PADDLE_PORT", str.isdigit, "a number")
    own = f"{_needed('POD_IP', bool, 'an address')}:{port}"
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
            server_endpoints: lists of str, "host:port" of each process. role: a number of Role.
    Raises:
        AssertionError: a job with servers has neither worker_num nor worker_endpoints.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> role = fleet.UserDefinedRoleMaker(is_collective=True, current_id=0, worker_num=1,
        ...                                   worker_endpoints=["127.0.0.1:6170"])
        >>> fleet.init(role).worker_num()
        1
    """

    def __init__(self, is_collective: bool = False, init_gloo: bool = False, **kwargs: Any) -> None:
        endpoints = kwargs.get("worker_endpoints") or []
        if kwargs.get("server_endpoints") and not is_collective and not kwargs.get("worker_num", endpoints):
            raise CheckError("UserDefinedRoleMaker: worker_num: got none; give it, or worker_endpoints")
        count = kwargs.get("worker_num") or len(endpoints) or launch_variables.size()
        super().__init__(
            is_collective,
            kwargs.get("role", Role.WORKER),
            kwargs.get("current_id", launch_variables.rank()),
            count,
            endpoints,
            kwargs.get("server_endpoints") or [],
        )
