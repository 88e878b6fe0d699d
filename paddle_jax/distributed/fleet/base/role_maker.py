"""Who a process is in its program."""

from paddle_jax._core.world import environment

__all__ = ["PaddleCloudRoleMaker", "Role", "UserDefinedRoleMaker"]


class Role:
    """Numbers for what a process does. Here all are workers: there are no parameter servers."""

    WORKER, SERVER, HETER_WORKER, ALL, COORDINATOR = 1, 2, 3, 4, 5


class RoleMakerBase:
    """Answers of a process about itself; see its subclasses."""

    def __init__(self, is_collective, role, current_id, count, endpoints):
        if not is_collective or role in (Role.SERVER, Role.HETER_WORKER, Role.COORDINATOR):
            raise NotImplementedError(f"{type(self).__name__}: got is_collective={is_collective}, role {role}; there are no parameter servers here, "
                                      "as in Paddle's CPU build; pass is_collective=True and start the program by `python -m "
                                      "paddle_jax.distributed.launch`")
        self._is_collective, self._role, self._current_id, self._count, self._trainers = True, role, current_id, count, list(endpoints)

    def _worker_index(self):
        return self._current_id

    def _worker_num(self):
        return self._count

    def _is_first_worker(self):
        return self._current_id == 0

    def _is_worker(self):
        return True

    def _is_server(self):
        return False

    def _get_trainer_endpoints(self):
        return self._trainers

    def to_string(self):
        """The answers, in a line."""
        return f"role: {self._role}, current_id: {self._current_id}, worker_endpoints: {self._trainers}, server_endpoints: []"


class PaddleCloudRoleMaker(RoleMakerBase):
    """What the launcher has told this process in its environment.

    Args:
        is_collective: True; parameter servers, which False stands for, do not exist here.
        kwargs: accepted.
    Raises:
        NotImplementedError: is_collective is False.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> fleet.PaddleCloudRoleMaker(is_collective=True).to_string()
        "role: 1, current_id: 0, worker_endpoints: ['127.0.0.1:6170'], server_endpoints: []"
    """

    def __init__(self, is_collective=False, **kwargs):
        endpoints = environment.endpoints() if environment.endpoints()[0] else ["127.0.0.1:6170"]
        super().__init__(is_collective, Role.WORKER, environment.rank(), environment.size(), endpoints)


class UserDefinedRoleMaker(RoleMakerBase):
    """What the program says itself about its processes. They still have to be connected: `fleet.init` does it by the launcher's variables.

    Args:
        is_collective: True; parameter servers, which False stands for, do not exist here.
        init_gloo: accepted.
        kwargs: current_id: int, the number of this process. worker_num: int. worker_endpoints: list of str, "host:port" of each process. role:
            Role.WORKER.
    Raises:
        NotImplementedError: is_collective is False, or the role is another one.
    Example:
        >>> from paddle_jax.distributed import fleet
        >>> role = fleet.UserDefinedRoleMaker(is_collective=True, current_id=0, worker_num=1, worker_endpoints=["127.0.0.1:6170"])
        >>> fleet.init(role).worker_num()
        1
    """

    def __init__(self, is_collective=False, init_gloo=False, **kwargs):
        endpoints = kwargs.get("worker_endpoints") or []
        count = kwargs.get("worker_num") or len(endpoints) or environment.size()
        super().__init__(is_collective, kwargs.get("role", Role.WORKER), kwargs.get("current_id", environment.rank()), count, endpoints)
