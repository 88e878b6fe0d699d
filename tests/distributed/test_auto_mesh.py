"""ProcessMesh and placements say and raise what the real Paddle's do. No device is used."""

import jax
import numpy as np
import pytest

MESHES = [
    "dist.ProcessMesh([[0, 1, 2, 3], [4, 5, 6, 7]], dim_names=['x', 'y'])",
    "dist.ProcessMesh([0, 1])",
    "dist.ProcessMesh(np.arange(4))",
    "dist.ProcessMesh(shape=[2, 1], process_ids=[0, 1])",
    "dist.ProcessMesh([[[5, 1], [0, 2]]], ['a', 'b', 'c'])",
]
ASKED = [
    "str(m)",
    "m.shape",
    "m.ndim",
    "m.process_ids",
    "m.dim_names",
    "m.mesh.tolist()",
    "m.size",
    "m.contains(1)",
    "m.contains(99)",
    "m.empty()",
    "m == m",
    "m == 3",
    "m == dist.ProcessMesh([0, 1], ['q'])",
    "hash(m) == hash(dist.ProcessMesh(m.mesh, m.dim_names))",
    "m.get_dim_size(m.dim_names[-1])",
    "m.dim_size(m.dim_names[0])",
    "m.get_dim_size('none')",
    "str(m.get_mesh_with_dim(m.dim_names[-1]))",
    "str(m.get_mesh_with_dim('y'))",
    "str(m.get_mesh_with_dim('y', 0))",
    "str(m.get_mesh_with_dim('x', 1))",
    "str(m.get_mesh_with_dim(m.dim_names[0], 0))",
    "str(m.get_submesh_with_dim('x'))",
    "m.get_rank_by_dim_and_process_id(m.dim_names[-1], 1)",
    "m.get_rank_by_dim_and_process_id(m.dim_names[0], 99)",
    "m.get_rank_by_dim_and_process_id('none', 0)",
    "str(m[0])",
    "str(m[0:1])",
]
FIRST = ["str(m[1, 2])", "str(m[:, 1:3])", "str(m['x'])", "str(m[1])", "str(m[:, 1])", "str(m[0, 1:])"]
WRONG = [
    "dist.ProcessMesh([0, 0])",
    "dist.ProcessMesh([0, 1.5])",
    "dist.ProcessMesh([])",
    "dist.ProcessMesh([0, 1], dim_names=['x', 'y'])",
    "dist.ProcessMesh([[0, 1], [2, 3]], dim_names=['x', 'x'])",
    "dist.ProcessMesh([0, -1])",
    "dist.ProcessMesh(3)",
    "dist.ProcessMesh()",
    "dist.ProcessMesh([[0, 1], [2]])",
    "dist.ProcessMesh('ab')",
    "dist.ProcessMesh([0, 1], dim_names='xy')",
    "dist.ProcessMesh([0, 1], dim_names=[1])",
    "dist.Shard('a')",
    "dist.Shard(1.5)",
    "dist.Partial('kRedSum')",
    "dist.Partial(3)",
]
PLACEMENTS = [
    "dist.Shard(0)",
    "dist.Shard(1)",
    "dist.Shard(-1)",
    "dist.Shard(0, split_factor=2)",
    "dist.Replicate()",
    "dist.Partial()",
    "dist.Partial(dist.ReduceType.kRedMax)",
]
OF_PLACEMENTS = [
    "repr(p)",
    "str(p)",
    "p.is_shard()",
    "p.is_shard(0)",
    "p.is_shard(1)",
    "p.is_replicated()",
    "p.is_partial()",
    "p == dist.Shard(0)",
    "p == dist.Partial()",
    "p != dist.Replicate()",
    "p == 3",
    "isinstance(p, dist.Placement)",
    "p.get_dim()",
    "p.reduce_type().name",
]
OF_REDUCTIONS = [
    "repr(dist.ReduceType.kRedSum)",
    "str(dist.ReduceType.kRedMax)",
    "dist.ReduceType(2).name",
    "dist.ReduceType.kRedMin.value",
    "dist.ReduceType.kRedMax == 1",
    "int(dist.ReduceType.kRedProd)",
    "hash(dist.ReduceType.kRedAny)",
]

ATTRIBUTES = [
    "a.dims_mapping",
    "a.sharding_specs",
    "a == dist.DistAttr(m, ['x', None])",
    "a == dist.DistAttr(m, [None, 'x'])",
    "a.process_mesh.shape",
    "a.process_mesh.process_ids",
]
WRONG += [
    "dist.DistAttr(dist.ProcessMesh([0], ['x']), ['z'])",
    "dist.DistAttr(3, ['x'])",
    "dist.DistAttr(dist.ProcessMesh([0], ['x']), 'x')",
    "dist.ProcessMesh([0]).get_group()",
    "dist.ProcessMesh([[0]], ['x', 'y']).get_group('x')",
    "dist.PrepareContextParallel('ring')",
]


def told(dist, text, **names):
    try:
        return eval(text, {"dist": dist, "np": np, **names})
    except Exception as error:
        kind = type(error)
        return next(c.__name__ for c in kind.__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("text", MESHES)
def test_meshes(oracle, paddle, text):
    ours, theirs = (told(engine.distributed, text) for engine in (paddle, oracle))
    for asked in ASKED + (FIRST if text is MESHES[0] else []):
        assert told(paddle.distributed, asked, m=ours) == told(oracle.distributed, asked, m=theirs), asked


@pytest.mark.parametrize("text", WRONG)
def test_what_is_refused(oracle, paddle, text):
    found = told(paddle.distributed, text)
    assert isinstance(found, str)
    assert found == told(oracle.distributed, text)


@pytest.mark.parametrize("text", PLACEMENTS)
def test_placements(oracle, paddle, text):
    ours, theirs = (told(engine.distributed, text) for engine in (paddle, oracle))
    assert ours == told(paddle.distributed, text) and hash(ours) == hash(told(paddle.distributed, text))
    for asked in OF_PLACEMENTS:
        assert told(paddle.distributed, asked, p=ours) == told(oracle.distributed, asked, p=theirs), asked


@pytest.mark.parametrize("specs", ["['x', None]", "[None, 'y']", "[None, None]", "['y', 'x']"])
def test_attributes(oracle, paddle, specs):
    mesh = "dist.ProcessMesh([[0, 1], [2, 3]], ['x', 'y'])"
    ours, theirs = (
        told(engine.distributed, f"dist.DistAttr({mesh}, {specs})") for engine in (paddle, oracle)
    )
    for asked in ATTRIBUTES:
        assert told(paddle.distributed, asked, a=ours, m=ours.process_mesh) == told(
            oracle.distributed, asked, a=theirs, m=eval(mesh, {"dist": oracle.distributed})
        ), asked
    names = ours.process_mesh.dim_names
    assert [p.get_dim() if p.is_shard() else None for p in ours.placements] == [
        ours.sharding_specs.index(n) if n in ours.sharding_specs else None for n in names
    ]


def test_parts(oracle, paddle):
    found = []
    for engine in (paddle, oracle):
        dist = engine.distributed
        state = dist.build_sharded_state_dict(
            {"a": engine.ones([2, 3]), "b": engine.ones([4])}, prefix="net."
        )
        state["w"] = dist.shard_weight("w", engine.ones([2, 3]), 1, dist.new_group([0]))
        net = engine.nn.Sequential(engine.nn.Linear(2, 3), engine.nn.BatchNorm1D(3))
        net.register_buffer("passing", engine.ones([2]), persistable=False)
        state |= net.sharded_state_dict("pre") | net[1].sharded_state_dict()
        assert all(state[f"pre{name}"].local_tensor is tensor for name, tensor in net.state_dict().items())
        found.append(
            [[(k, v) for k, v in vars(part).items() if k != "local_tensor"] for part in state.values()]
            + [list(state)]
        )
        found[-1].append({k: v for k, v in vars(dist.ParallelMode).items() if k.isupper()})
    assert found[0] == found[1]


@pytest.mark.parametrize("text", OF_REDUCTIONS)
def test_reductions(oracle, paddle, text):
    assert told(paddle.distributed, text) == told(oracle.distributed, text)


def test_one_device_prints_as_in_paddle(oracle, paddle):
    texts = []
    for engine in (paddle, oracle):
        dist = engine.distributed
        mesh = dist.ProcessMesh([[0]], dim_names=["x", "y"])
        data = engine.arange(6.0).reshape([3, 2])
        for placements in (
            [dist.Shard(0)],
            [dist.Shard(0), dist.Shard(0)],
            [dist.Partial(), dist.Shard(1)],
            [],
        ):
            texts.append(
                str(dist.shard_tensor(data, mesh, placements)).replace(
                    "placements=[]", "placements=[Replicate(), Replicate()]"
                )
            )
        parameter = engine.create_parameter([2, 2], "float32", name="weights")
        made = dist.shard_tensor(parameter, mesh, [dist.Shard(1)])
        texts.append(
            (
                made.name,
                made.stop_gradient,
                made.trainable,
                type(made).__name__,
                made.is_leaf,
                parameter.is_dist(),
                made.is_dist(),
            )
        )
    assert texts[: len(texts) // 2] == texts[len(texts) // 2 :]
    assert "process_mesh={shape: [1,1], process_ids: [0], dim_names: [x,y]}" in texts[0]


def test_default_mesh(paddle):
    dist = paddle.distributed
    mesh = dist.ProcessMesh([0, 1])
    dist.set_mesh(mesh)
    assert dist.get_mesh() is mesh
    dist.set_mesh(None)
    assert dist.get_mesh() is None


def test_devices_that_are_not_there_are_named(paddle):
    with pytest.raises(ValueError, match="there are 1 devices.*launch"):
        paddle.distributed.shard_tensor(
            [1.0, 2.0], paddle.distributed.ProcessMesh([0, 99]), [paddle.distributed.Replicate()]
        )


def test_meshes_have_numbers(oracle, paddle):
    for dist in (paddle.distributed, oracle.distributed):
        a, b, c, d = (
            dist.ProcessMesh(np.arange(50, 50 + n).reshape(shape))
            for n, shape in ((4, (2, 2)), (4, (2, 2)), (4, (4,)), (2, (2,)))
        )
        assert (
            a.unique_id == b.unique_id
            and len({a.unique_id, c.unique_id, d.unique_id}) == 3
            and type(a.unique_id) is int
        )


def test_a_seed_of_all_devices(paddle):
    seed, drawn = paddle.distributed.auto_parallel.parallel_manual_seed, []
    for number in (5, 5, 6):
        assert seed(number) is None
        drawn.append(paddle.rand([4]).numpy())
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])
    with pytest.raises(ValueError):
        seed("a")


def test_a_layer_that_holds_a_part_says_so(paddle, tmp_path):
    dist = paddle.distributed

    class Cut(paddle.nn.Linear):
        def sharded_state_dict(self, structured_name_prefix=""):
            return dist.build_sharded_state_dict(
                self.state_dict(), {"weight": 0}, structured_name_prefix, dist.new_group([0])
            )

    net, other = paddle.nn.Sequential(Cut(2, 3)), paddle.nn.Sequential(Cut(2, 3))
    assert net.sharded_state_dict()["0.weight"].global_shape == (2, 3)
    dist.save_state_dict(net.sharded_state_dict(), str(tmp_path))
    dist.load_state_dict(other.sharded_state_dict(), str(tmp_path))
    assert np.array_equal(net[0].weight.numpy(), other[0].weight.numpy())


def test_fully_sharded_processes_need_a_mesh(paddle, monkeypatch):
    monkeypatch.setattr(jax, "process_count", lambda: 2)
    with pytest.raises(NotImplementedError, match="got None in a program of 2 processes"):
        paddle.distributed.fsdp.fully_shard(paddle.nn.Linear(2, 2))
