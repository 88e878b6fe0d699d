"""Samples of slots are written as the real Paddle writes them, and refused as there; a process alone may be a
worker without servers."""

import contextlib
import io
import warnings

import pytest

import paddle_jax
from paddle_jax.distributed import fleet

SAMPLES = {
    "two samples": [[("w", [1, 2, 3]), ("l", [0])], [("w", [4]), ("l", [1])]],
    "tuple of slots": [(("w", [1, 2]), ("l", [0]))],
    "float": [[("w", [1.5, 2]), ("l", [0])], [("w", [4]), ("l", [1])]],
    "texts": [[("w", ["1", "2"]), ("l", ["0"])]],
    "no values": [[("w", []), ("l", [0])]],
    "a slot less": [[("w", [1]), ("l", [0])], [("w", [1])]],
    "another slot": [[("w", [1])], [("x", [1])]],
    "name no str": [[(3, [1])]],
    "tuple of values": [[("w", (1, 2))]],
    "None among them": [None, [("w", ["1"])], [("w", ["2"])]],
    "no sample": ["abc"],
    "many": [[("w", [str(i)])] for i in range(5)],
}


def written(base, samples, batch=None, stdin=None):
    """What a generator prints, and the class of the exception that ends it."""

    class Generator(base):
        def generate_sample(self, line):
            return lambda: iter(samples if stdin is None else [[("w", line.split())]])

        def generate_batch(self, samples):
            return lambda: iter([samples[-1], samples[0]] if batch else samples)

    generator, out, raised = Generator(), io.StringIO(), None
    generator.set_batch(batch or 32)
    try:
        with contextlib.redirect_stdout(out):
            generator.run_from_memory() if stdin is None else generator.run_from_stdin()
    except (ValueError, TypeError) as error:
        raised = type(error)
    return out.getvalue(), raised


@pytest.mark.parametrize("kind", ["MultiSlotDataGenerator", "MultiSlotStringDataGenerator"])
def test_prints_what_the_oracle_prints(oracle, kind, monkeypatch):
    ours, theirs = getattr(fleet, kind), getattr(oracle.distributed.fleet, kind)
    for name, samples in SAMPLES.items():
        assert written(ours, samples) == written(theirs, samples), name
    texts = SAMPLES["many"] if "String" in kind else [[("w", [i])] for i in range(5)]
    assert written(ours, texts, batch=2) == written(theirs, texts, batch=2)
    answers = []
    for base in (ours, theirs):
        monkeypatch.setattr("sys.stdin", io.StringIO("7 8\n9\n"))
        answers.append(written(base, None, stdin=True))
    assert answers[0] == answers[1]


def test_what_is_not_overridden_says_so():
    with pytest.raises(NotImplementedError, match="generate_sample: it is not overridden"):
        fleet.MultiSlotDataGenerator().run_from_memory()
    with pytest.raises(NotImplementedError, match="how samples are written"):
        fleet.data_generator.DataGenerator()._gen_str([("w", ["1"])])


def test_a_process_alone_is_a_worker_without_servers():
    fleet.init()
    assert (fleet.is_worker(), fleet.is_server(), fleet.is_first_worker(), fleet.worker_num()) == (
        True,
        False,
        True,
        1,
    )
    assert (fleet.server_num(), fleet.server_index(), fleet.server_endpoints(), fleet.worker_endpoints()) == (
        0,
        0,
        "",
        [],
    )
    for name in ("init_worker", "init_server", "run_server", "stop_worker"):
        with pytest.warns(UserWarning, match=f"{name}: there are no parameter servers"):
            assert getattr(fleet, name)() is None
    net = paddle_jax.nn.Linear(2, 2)
    optimizer = paddle_jax.optimizer.SGD(0.1, parameters=net.parameters())
    assert fleet.distributed_optimizer(optimizer) is optimizer


def test_workers_that_are_not_connected_are_refused():
    with pytest.raises(NotImplementedError, match="role_maker: got is_collective=False"):
        fleet.init(fleet.UserDefinedRoleMaker(current_id=0, worker_num=2))


def test_a_server_must_know_the_number_of_workers():
    with pytest.raises(AssertionError, match="worker_num: got none"):
        fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.SERVER, server_endpoints=["127.0.0.1:6171"])


def test_settings_are_those_of_the_oracle(oracle):
    ours, theirs = fleet.DistributedStrategy(), oracle.distributed.fleet.DistributedStrategy()
    for strategy in (ours, theirs):
        strategy.a_sync, strategy.localsgd = True, True
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            strategy.asp = 1  # no bool
        strategy.localsgd_configs, strategy.qat_configs = {"k_steps": 4}, {"weight_bits": 4}
        with pytest.raises(AssertionError):
            strategy.dgc_configs = {"no_such_key": 1}
    for name in (
        "a_sync",
        "adaptive_localsgd",
        "asp",
        "auto",
        "dgc",
        "elastic",
        "localsgd",
        "qat",
        "semi_auto",
        "split_data",
        "auto_search",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("a_sync", "adaptive_localsgd", "dgc", "localsgd", "qat"):
        expected = getattr(theirs, f"{name}_configs")
        expected = (
            expected
            if isinstance(expected, dict)
            else {field.name: getattr(expected, field.name) for field in expected.DESCRIPTOR.fields}
        )
        found = getattr(ours, f"{name}_configs")
        if name == "a_sync":
            assert found.pop("backup_workers") == 0  # a setting of ours
        assert found == {
            key: list(value) if hasattr(value, "append") else value for key, value in expected.items()
        }
    with pytest.warns(UserWarning, match="asp: got 1, which is no bool; it stays False"):
        ours.asp = 1
    with pytest.warns(UserWarning, match="localsgd act on"):
        fleet.init(strategy=ours)
