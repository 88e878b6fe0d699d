"""The environment variables that the launcher reads, sets, and keeps from its processes."""

import os

# The process id of the process that the launcher started: what it starts in turn inherits the environment.
MARK = "PADDLE_JAX_TRAINER"

# Variables that are defaults of the launcher's options, as Paddle has them.
DEFAULTS = {
    "POD_IP": "host",
    "PADDLE_MASTER": "master",
    "PADDLE_DEVICES": "devices",
    "PADDLE_NNODES": "nnodes",
    "PADDLE_RUN_MODE": "run_mode",
    "PADDLE_LOG_LEVEL": "log_level",
    "PADDLE_LOG_OVERWRITE": "log_overwrite",
    "PADDLE_SORT_IP": "sort_ip",
    "PADDLE_NPROC_PER_NODE": "nproc_per_node",
    "PADDLE_JOB_ID": "job_id",
    "PADDLE_RANK": "rank",
    "PADDLE_LOG_DIR": "log_dir",
    "PADDLE_MAX_RESTART": "max_restart",
    "PADDLE_ELASTIC_LEVEL": "elastic_level",
    "PADDLE_ELASTIC_TIMEOUT": "elastic_timeout",
    "PADDLE_ELASTIC_TTL": "elastic_ttl",
    "PADDLE_SERVER_NUM": "server_num",
    "PADDLE_TRAINER_NUM": "trainer_num",
    "PADDLE_SERVERS_ENDPOINTS": "servers",
    "PADDLE_TRAINERS_ENDPOINTS": "trainers",
    "PADDLE_GLOO_PORT": "gloo_port",
    "PADDLE_WITH_GLOO": "with_gloo",
    "PADDLE_START_PORT": "start_port",
    "PADDLE_IPS": "ips",
    "PADDLE_AUTO_PARALLEL_CONFIG": "auto_parallel_config",
    "PADDLE_AUTO_CLUSTER": "auto_cluster_config",
}
# What describes another job to its processes. Left in the environment, it would make a process wait for a
# master that is gone, or take a role that it does not have.
_OF_A_JOB = {
    "MASTER_ADDR",
    "MASTER_PORT",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "NODE_RANK",
    "TRAINING_ROLE",
    "PADDLE_CURRENT_ENDPOINT",
    "PADDLE_GLOBAL_RANK",
    "PADDLE_GLOBAL_SIZE",
    "PADDLE_LOCAL_RANK",
    "PADDLE_LOCAL_SIZE",
    "PADDLE_MASTER_ENDPOINT",
    "PADDLE_PORT",
    "PADDLE_RANK_IN_NODE",
    "PADDLE_RESTART_COUNT",
    "PADDLE_ROLE",
    "PADDLE_PS_EVENTS",
    "PADDLE_WORKER_ENDPOINT",
}
_OF_A_JOB_BEGINNING = ("PADDLE_PSERVER", "PADDLE_TRAINER", "PADDLE_HETER_", "PADDLE_COORDINATOR_")


def defaults() -> dict[str, str]:
    """{option: text} of the options that the environment sets."""
    return {option: os.environ[name] for name, option in DEFAULTS.items() if os.environ.get(name)}


def describes_a_job(name: str) -> bool:
    """Whether a variable describes a process of a job, and is no setting of the user's."""
    if name in DEFAULTS:
        return name in (
            "PADDLE_MASTER",
            "PADDLE_NNODES",
            "PADDLE_RANK",
            "PADDLE_JOB_ID",
            "PADDLE_TRAINER_NUM",
        )
    return name in _OF_A_JOB or name.startswith(_OF_A_JOB_BEGINNING)


def inherited(own: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The environment of a process, and the variables of another job that were left out.

    Args:
        own: the variables that the launcher sets for the process.
    """
    kept = {}
    removed = []
    for name, value in os.environ.items():
        if name == MARK or name in own:
            continue
        if describes_a_job(name):
            removed.append(name)
        else:
            kept[name] = value
    # PADDLE_RANK and the like are options of this launcher, not of another job
    return kept | own, sorted(name for name in removed if name not in DEFAULTS)
