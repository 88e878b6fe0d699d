"""Public code bases, unmodified, under paddle_jax and under the real Paddle: losses, memory and time.

    python benchmarks/code_bases.py [NAME...]        # all of CASES without a name

Each package is installed with `pip install --no-deps` into a folder of its own below `build/code_bases`.
Its models are built from their classes at a small size. Both engines begin with the same weights, take the
same steps on the same random data without dropout, and evaluate. A line says how far losses and results
differ. Where a loss differs by more than 1e-5, the real Paddle runs again from weights that differ by one
rounding: what that changes is beside it.

Modules that a package imports and that its model does not use are stand-ins, the same for both engines.
The packages want these besides:

    pip install six tqdm scipy sympy pyyaml easydict einops matplotlib pandas opencv-python-headless \\
        colorlog regex jinja2 sentencepiece huggingface-hub==0.25.2
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import inspect
import json
import resource
import subprocess
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "build/code_bases"
STEPS = 6
ROUNDING = 1.2e-7  # relative, of float32


class Case:
    """A model of a code base, and how it is trained.

    Attributes:
        package: str, what pip installs.
        absent: names of modules that the model does not use.
        build: function (paddle) that makes the Training.
        inside: str, the folder below that of the package in which its modules are.
    """

    def __init__(self, package: str, absent: str, build: Callable[[Any], Training], inside: str = "") -> None:
        self.package = package
        self.absent = absent.split()
        self.build = build
        self.inside = inside


class Training:
    """The parts of a training.

    Attributes:
        layers: {name: Layer}, whose weights are shared by the engines.
        optimizer: one, or a function that makes it when the weights are there.
        loss: function without arguments of a Tensor.
        evaluate: function without arguments of a Tensor.
    """

    def __init__(
        self,
        layers: dict[str, Any],
        optimizer: Any,
        loss: Callable[[], Any],
        evaluate: Callable[[], Any],
    ) -> None:
        self.layers = layers
        self.optimizer = optimizer
        self.loss = loss
        self.evaluate = evaluate


# the code bases ---------------------------------------------------------------------------------------------


def _segmentation(paddle: Any) -> Training:
    from paddleseg.models import BiSeNetV2

    net = BiSeNetV2(num_classes=4)
    x = paddle.to_tensor(np.random.rand(4, 3, 128, 128).astype("float32"))
    labels = np.random.randint(0, 4, (4, 128, 128))
    labels[:, :4] = 255
    y = paddle.to_tensor(labels)
    optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters(), weight_decay=4e-5)
    return Training(
        {"net": net},
        optimizer,
        lambda: sum(paddle.nn.functional.cross_entropy(out, y, ignore_index=255, axis=1) for out in net(x)),
        lambda: net(x)[0],
    )


def _metric_learning(paddle: Any) -> Training:
    from ppcls.arch.backbone.legendary_models.swin_transformer import SwinTransformer
    from ppcls.arch.gears.arcmargin import ArcMargin

    net = SwinTransformer(
        img_size=56,
        patch_size=2,
        embed_dim=24,
        depths=[2, 2],
        num_heads=[2, 4],
        class_num=32,
        drop_path_rate=0.0,
    )
    head = ArcMargin(embedding_size=32, class_num=6, margin=0.15, scale=30)
    x = paddle.to_tensor(np.random.rand(6, 3, 56, 56).astype("float32"))
    y = paddle.to_tensor([0, 0, 1, 1, 2, 3])
    optimizer = paddle.optimizer.AdamW(
        0.001,
        parameters=net.parameters() + head.parameters(),
        grad_clip=paddle.nn.ClipGradByGlobalNorm(5.0),
    )
    return Training(
        {"net": net, "head": head},
        optimizer,
        lambda: paddle.nn.functional.cross_entropy(head(net(x), y), y),
        lambda: net(x),
    )


def _flow(paddle: Any) -> Training:
    import ppsci
    from ppsci.equation import NavierStokes

    net = ppsci.arch.MLP(("x", "y"), ("u", "v", "p"), 4, 20, "tanh", weight_norm=True)
    equations = ppsci.lambdify(list(NavierStokes(0.01, 1.0, 2, False).equations.values()), net)
    points = np.random.rand(2, 32, 1).astype("float32")

    def inputs() -> dict[str, Any]:
        return {
            name: paddle.to_tensor(value, stop_gradient=False)
            for name, value in zip("xy", points, strict=True)
        }

    def loss() -> Any:
        given = inputs()
        found = sum((equation(given) ** 2).sum() for equation in equations)
        ppsci.autodiff.clear()
        return found

    optimizer = ppsci.optimizer.Adam(1e-3)(net)
    return Training({"net": net}, optimizer, loss, lambda: net(inputs())["u"])


def _speaker(paddle: Any) -> Training:
    from ppvector.loss.aamloss import AAMLoss
    from ppvector.models.ecapa_tdnn import EcapaTdnn
    from ppvector.models.fc import SpeakerIdentification

    body = EcapaTdnn(
        20, embd_dim=24, channels=[32, 32, 32, 32, 96], attention_channels=16, se_channels=16, res2net_scale=4
    )
    net = paddle.nn.Sequential(body, SpeakerIdentification(24, 5))
    x = paddle.to_tensor(np.random.randn(8, 60, 20).astype("float32"))
    y = paddle.to_tensor(np.random.randint(0, 5, (8,)))
    criterion = AAMLoss(label_smoothing=0.05)
    optimizer = paddle.optimizer.Adam(0.002, parameters=net.parameters(), weight_decay=1e-5)
    return Training({"net": net}, optimizer, lambda: criterion(net(x), y), lambda: body(x))


def _stochastic(paddle: Any) -> Training:
    import paddlesde

    class Equation(paddle.nn.Layer):
        noise_type = "diagonal"
        sde_type = "ito"

        def __init__(self) -> None:
            super().__init__()
            self.drift = paddle.nn.Sequential(
                paddle.nn.Linear(3, 16), paddle.nn.Tanh(), paddle.nn.Linear(16, 3)
            )
            self.spread = paddle.nn.Linear(3, 3)

        def f(self, t: Any, y: Any) -> Any:
            return self.drift(y)

        def g(self, t: Any, y: Any) -> Any:
            return 0.1 * paddle.nn.functional.sigmoid(self.spread(y))

    class Motion:
        """The same random increments in both engines."""

        shape = (4, 3)
        dtype = paddle.float32
        place = device = "cpu"
        levy_area_approximation = "none"

        def __call__(self, start: Any, end: Any = None, **more: Any) -> Any:
            drawn = np.random.RandomState(round(float(start) * 1e4)).randn(4, 3).astype("float32")
            return paddle.to_tensor(drawn) * (float(end) - float(start)) ** 0.5

    net = Equation()
    y0 = paddle.to_tensor(np.random.randn(4, 3).astype("float32"))
    times = paddle.linspace(0, 1, 5)

    def solve() -> Any:
        return paddlesde.sdeint(net, y0, times, bm=Motion(), dt=0.1, method="euler")

    optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())
    return Training({"net": net}, optimizer, lambda: (solve() ** 2).mean(), solve)


def _vocoder(paddle: Any) -> Training:
    from parakeet.models.waveflow import ConditionalWaveFlow, WaveFlowLoss

    net = ConditionalWaveFlow(
        upsample_factors=[4, 4], n_flows=2, n_layers=8, n_group=16, channels=8, n_mels=10, kernel_size=[3, 3]
    )
    mel = paddle.to_tensor(np.random.rand(2, 10, 8).astype("float32"))
    wave = paddle.to_tensor(np.random.randn(2, 128).astype("float32") * np.float32(0.1))
    criterion = WaveFlowLoss()
    optimizer = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    return Training({"net": net}, optimizer, lambda: criterion(*net(wave, mel)), lambda: net(wave, mel)[0])


def _audio(paddle: Any) -> Training:
    from ppAudio.Spectrogram import MelSpectrogram

    front = MelSpectrogram(sr=8000, n_fft=128, n_mels=16, hop_length=32, trainable_mel=True)
    net = paddle.nn.Linear(16, 3)
    x = paddle.to_tensor(np.random.randn(2, 800).astype("float32"))
    y = paddle.to_tensor([0, 2])
    trained = [p for layer in (front, net) for p in layer.parameters() if not p.stop_gradient]
    optimizer = paddle.optimizer.Adam(1e-3, parameters=trained)
    return Training(
        {"front": front, "net": net},
        optimizer,
        lambda: paddle.nn.functional.cross_entropy(net(front(x).mean(-1)), y),
        lambda: front(x),
    )


def _language(paddle: Any) -> Training:
    from paddleformers.transformers import Qwen3Config, Qwen3ForCausalLM

    net = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=100,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=64,
            max_position_embeddings=64,
            head_dim=8,
        )
    )
    ids = paddle.to_tensor(np.random.randint(3, 100, (4, 12)))

    def run(**labels: Any) -> Any:
        found = net(input_ids=ids, **labels)
        return found[0] if isinstance(found, tuple) else found

    optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters(), weight_decay=0.1)
    return Training({"net": net}, optimizer, lambda: run(labels=ids), run)


def _proposals(paddle: Any) -> Training:
    from paddlevideo.modeling.backbones.bmn import BMN

    net = BMN(tscale=16, dscale=16, prop_boundary_ratio=0.5, num_sample=8, num_sample_perbin=3, feat_dim=20)
    x = paddle.to_tensor(np.random.randn(2, 20, 16).astype("float32"))
    y = paddle.to_tensor(np.random.rand(2, 2, 16, 16).astype("float32"))
    optimizer = paddle.optimizer.Momentum(0.01, parameters=net.parameters())
    return Training(
        {"net": net},
        optimizer,
        lambda: paddle.nn.functional.mse_loss(net(x)[0], y),
        lambda: net(x)[0],
    )


CASES = {
    "paddleseg": Case("paddleseg==2.8.0", "visualdl filelock", _segmentation),
    "paddleclas": Case("paddleclas==2.6.0", "visualdl faiss", _metric_learning, "paddleclas"),
    "paddlesci": Case(
        "paddlesci==1.4.0",
        "visualdl wandb h5py pyvista pyevtk seaborn meshio omegaconf hydra skopt tensorboardX swanlab",
        _flow,
    ),
    "ppvector": Case("ppvector==1.1.5", "yeaudio visualdl librosa soundcard resampy pydub loguru", _speaker),
    "paddlesde": Case("paddlesde==0.2.5", "boltons trampoline ppdiffusers", _stochastic),
    "paddle-parakeet": Case(
        "paddle-parakeet==0.3.1",
        "librosa visualdl paddle.fluid g2p_en g2pM inflect nltk pypinyin unidecode",
        _vocoder,
    ),
    "paddle-nnaudio": Case("paddle-nnaudio==0.0.3", "visualdl", _audio),
    "paddleformers": Case(
        "paddleformers==0.4.0",
        "visualdl datasets aistudio_sdk rich tiktoken librosa accelerate seqeval modelscope ray",
        _language,
    ),
    "ppvideo": Case(
        "ppvideo==2.3.1", "av decord SimpleITK lmdb visualdl paddle.fluid", _proposals, "ppvideo"
    ),
}


# one engine -------------------------------------------------------------------------------------------------


class _Absent(types.ModuleType):
    """A stand-in for a module: its names are classes and objects that do nothing."""

    __path__: list[str] = []
    __version__ = "99.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name[:1].isupper():
            return type(name, (), {"__init__": lambda self, *args, **kwargs: None})
        return MagicMock(name=name)


class _AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds stand-ins for modules that are not installed."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if any(name == one or name.startswith(one + ".") for one in self._names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _prepare(case: Case, name: str) -> None:
    """Makes the packages of a code base importable, also those that older Pythons and NumPys ran."""
    sys.path.insert(0, str(FOLDER / name / case.inside))
    sys.meta_path.append(_AbsentFinder(case.absent))
    typeguard = types.ModuleType("typeguard")
    typeguard.typechecked = lambda function=None, **kwargs: function or (lambda given: given)
    typeguard.check_argument_types = lambda *args: True
    sys.modules["typeguard"] = typeguard
    inspect.getargspec = inspect.getfullargspec


def _share_weights(training: Training, name: str, engine: str) -> None:
    """The real Paddle writes its weights; the others read them."""
    path = FOLDER / f"{name}.weights.npz"
    tensors = {
        f"{part}/{key}": tensor
        for part, layer in training.layers.items()
        for key, tensor in layer.state_dict().items()
    }
    if engine == "paddle":
        np.savez(path, **{key: tensor.numpy() for key, tensor in tensors.items()})
        return
    weights = np.load(path)
    random = np.random.RandomState(7)
    for key, tensor in tensors.items():
        value = weights[key]
        if engine == "perturbed" and value.dtype.kind == "f":
            noise = (random.rand(*value.shape) - 0.5) * ROUNDING
            value = (value * (1 + noise)).astype(value.dtype)
        tensor.set_value(value)


def _without_dropout(training: Training) -> None:
    """Engines draw other random numbers."""
    for layer in training.layers.values():
        for part in layer.sublayers(include_self=True):
            if type(part).__name__.startswith("Dropout"):
                part.p = 0.0


def run(name: str, engine: str) -> None:
    """Trains and evaluates a case in this process, and writes what came out.

    Args:
        name: a key of CASES.
        engine: "paddle", "perturbed" (the real Paddle from weights changed by a rounding) or "ours".
    """
    _prepare(CASES[name], name)
    import paddle

    np.random.seed(0)
    paddle.seed(0)
    training = CASES[name].build(paddle)
    _share_weights(training, name, engine)
    _without_dropout(training)
    losses = []
    seconds = []
    for _ in range(STEPS):
        start = time.perf_counter()
        loss = training.loss()
        loss.backward()
        training.optimizer.step()
        training.optimizer.clear_grad()
        losses.append(float(loss))
        seconds.append(time.perf_counter() - start)
    for layer in training.layers.values():
        layer.eval()
    with paddle.no_grad():
        result = training.evaluate().numpy()
    np.savez(FOLDER / f"{name}.{engine}.npz", losses=losses, result=result)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = {"memory": memory, "step": float(np.median(seconds[1:]))}
    (FOLDER / f"{name}.{engine}.json").write_text(json.dumps(found))


# both engines -----------------------------------------------------------------------------------------------


def _child(name: str, engine: str) -> None:
    command = [sys.executable]
    if engine == "ours":
        command += ["-m", "paddle_jax"]
    command += [str(Path(__file__).resolve()), name, "--engine", engine]
    # Some packages write files where they run.
    subprocess.run(command, check=True, capture_output=True, cwd=FOLDER)


def _difference(name: str, engine: str) -> tuple[float, float]:
    """The largest relative differences of the losses and of the result to those of the real Paddle."""
    expected = np.load(FOLDER / f"{name}.paddle.npz")
    found = np.load(FOLDER / f"{name}.{engine}.npz")
    losses = np.abs(found["losses"] - expected["losses"]) / np.abs(expected["losses"])
    result = np.abs(found["result"] - expected["result"]).max() / np.abs(expected["result"]).max()
    return float(losses.max()), float(result)


def compare(name: str) -> str:
    """Installs and runs a case in both engines; returns a line of a table."""
    folder = FOLDER / name
    if not folder.exists():
        install = ["install", "-q", "--no-deps", "--target", str(folder), CASES[name].package]
        subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    for engine in ("paddle", "ours"):
        _child(name, engine)
    losses, result = _difference(name, "ours")
    beside = ""
    if losses > 1e-5:
        _child(name, "perturbed")
        beside = f" ({_difference(name, 'perturbed')[0]:.0e})"
    read = {
        engine: json.loads((FOLDER / f"{name}.{engine}.json").read_text()) for engine in ("ours", "paddle")
    }
    memory = " / ".join(f"{one['memory']:.0f}" for one in read.values())
    step = " / ".join(f"{1000 * one['step']:.0f}" for one in read.values())
    return f"| {CASES[name].package} | {losses:.0e}{beside} | {result:.0e} | {memory} | {step} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    parser.add_argument("--engine", choices=["paddle", "perturbed", "ours"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine:
        run(arguments.names[0], arguments.engine)
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("| package | loss (of one rounding) | result | MiB, ours / Paddle | ms a step, ours / Paddle |")
    print("| --- | --- | --- | --- | --- |")
    for name in arguments.names or CASES:
        try:
            print(compare(name), flush=True)
        except subprocess.CalledProcessError as error:
            print(f"| {CASES[name].package} | {(error.stderr or b'').decode()[-300:]!r} |", flush=True)


if __name__ == "__main__":
    main()
