"""Files of a DistributedStrategy: written and read here, and by the real Paddle.

Unit tests of `fleet.base.prototxt`.
"""

import pytest

import paddle_jax as paddle
from paddle_jax.distributed.fleet.base import prototxt

NAMES = ("amp", "lars", "a_sync", "fuse_grad_size_in_MB", "find_unused_parameters", "sync_nccl_allreduce")


def changed(module):
    strategy = module.distributed.fleet.DistributedStrategy()
    strategy.amp = True
    strategy.amp_configs = {"init_loss_scaling": 64.0, "custom_white_list": ["soft", "max"]}
    strategy.a_sync = True
    strategy.a_sync_configs = {"k_steps": 3}
    strategy.fuse_grad_size_in_MB = 16
    strategy.sync_nccl_allreduce = False
    strategy.lars = True
    strategy.lars_configs = {"exclude_from_weight_decay": [".b_0"]}
    strategy.pipeline_configs = {"accumulate_steps": 4, "schedule_mode": "F-then-B"}
    strategy.hybrid_configs = {"mp_degree": 2, "pp_configs": {"delay_scale_loss": True}}
    return strategy


def settings(strategy):
    """What was changed, and some neighbours."""
    hybrid = strategy.hybrid_configs
    return [getattr(strategy, name) for name in NAMES] + [
        strategy.amp_configs["init_loss_scaling"],
        list(strategy.amp_configs["custom_white_list"]),
        strategy.amp_configs["incr_ratio"],
        strategy.a_sync_configs["k_steps"],
        list(strategy.lars_configs["exclude_from_weight_decay"]),
        strategy.pipeline_configs["accumulate_steps"],
        strategy.pipeline_configs["schedule_mode"],
        [hybrid["dp_degree"], hybrid["mp_degree"], hybrid["pp_configs"].delay_scale_loss],
        hybrid["pp_configs"].dp_comm_overlap,
    ]


def test_both_engines_read_both_files(oracle, tmp_path):
    wanted = settings(changed(oracle))
    for writer in (paddle, oracle):
        file = str(tmp_path / f"{writer.__name__}.prototxt")
        changed(writer).save_to_prototxt(file)
        for reader in (paddle, oracle):
            strategy = reader.distributed.fleet.DistributedStrategy()
            strategy.load_from_prototxt(file)
            assert settings(strategy) == wanted, (writer.__name__, reader.__name__)


def test_defaults(oracle, tmp_path):
    file = tmp_path / "strategy.prototxt"
    paddle.distributed.fleet.DistributedStrategy().save_to_prototxt(str(file))
    assert file.read_text() == ""
    oracle.distributed.fleet.DistributedStrategy().save_to_prototxt(str(file))
    strategy = changed(paddle)
    strategy.load_from_prototxt(str(file))
    assert not strategy.amp and strategy.hybrid_configs["mp_degree"] == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("nonsense: 3", "nonsense: there is no such setting"),
        ("amp_configs { bogus: 3 }", "bogus: there is no such setting"),
        ("amp_configs: 3", "amp_configs: got 3"),
        ("amp {}", "amp: got {}"),
        ("amp_configs { use_pure_fp16: true", "the closing brace is missing"),
        ("amp: true }", "outside of a message"),
        ("amp: ?", "line 1: got '\\?'"),
        ("amp", "a value is missing"),
        ("hybrid_configs { pp_configs { bogus: true } }", "no field 'bogus'"),
    ],
)
def test_refused(tmp_path, text, message):
    file = tmp_path / "strategy.prototxt"
    file.write_text(text)
    strategy = changed(paddle)
    with pytest.raises(ValueError, match=message):
        strategy.load_from_prototxt(str(file))
    # What was there stays.
    assert strategy.amp and strategy.hybrid_configs["mp_degree"] == 2


def test_refused_files(tmp_path):
    strategy = changed(paddle)
    with pytest.raises(FileNotFoundError):
        strategy.load_from_prototxt(str(tmp_path / "absent"))
    strategy.sparse_table_configs = {"table": {"table_parameters.table.shard_num": 3}}
    with pytest.raises(NotImplementedError, match="sparse_table_configs"):
        strategy.save_to_prototxt(str(tmp_path / "file"))


def test_forms_of_the_text():
    text = "# a comment\na: [1, 2], b { c: 'x\\n' d: 1.5e-3 }; e: NAME a: -3"
    assert prototxt.fields_of(text) == {"a": [1, 2, -3], "b": [{"c": ["x\n"], "d": [0.0015]}], "e": ["NAME"]}
