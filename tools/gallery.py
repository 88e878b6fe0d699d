"""Draws the pictures of the gallery, docs/gallery/*.png: runs examples, and draws what they have computed.

    python tools/gallery.py       # all, some minutes
    python tools/gallery.py beam  # those named

A picture is drawn from the variables of the example's `main` at its end. Those of notebooks are among
their stored outputs.
"""

import base64
import contextlib
import io
import json
import os
import pathlib
import runpy
import sys
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import matplotlib  # noqa: E402

matplotlib.use("Agg")
import numpy as np  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from PIL import Image  # noqa: E402

import paddle_jax as paddle  # noqa: E402

GALLERY = ROOT / "docs" / "gallery"
Values = dict[str, Any]


def beam(axes: Axes, program: Values, held: Values) -> None:
    axes.plot(held["x"], program["exact"](held["x"]), "k--", label="exact")
    axes.plot(held["x"], held["guess"], label="network")
    axes.set(title="deflection of a beam", xlabel="x")
    axes.legend()


def kuramoto_sivashinsky(axes: Axes, program: Values, held: Values) -> None:
    rows = np.stack([np.asarray(row) for row in held["data"]])
    axes.imshow(rows, aspect="auto", cmap="RdBu", interpolation="bilinear")
    axes.set(title="the observed waves", xlabel="x", ylabel="time step")


def operator_learning(axes: Axes, program: Values, held: Values) -> None:
    for number, color in enumerate(("tab:blue", "tab:orange", "tab:green")):
        order = np.argsort(held["x"][number])
        x = held["x"][number][order]
        axes.plot(x, held["truth"][number][order], "--", color=color)
        axes.plot(x, held["guess"][number][order], color=color)
    axes.set(title="solutions for three new functions", xlabel="x")


def learned_noise(axes: Axes, program: Values, held: Values) -> None:
    times = np.asarray(held["times"].detach())
    axes.plot(times, np.asarray(held["measured"]), ".", color="0.7", label="measured")
    axes.plot(times, program["exact"](times), "k--", label="exact")
    axes.plot(times, np.asarray(held["net"](held["times"])[0].detach()), label="network")
    axes.set(title="a damped oscillation", xlabel="time")
    axes.legend()


def vae(axes: Axes, program: Values, held: Values) -> None:
    with paddle.no_grad():
        model = held["model"]
        codes = paddle.randn([24, held["options"].codes])
        images = np.asarray(model.decode(codes).mean).reshape(3, 8, 8, 8)
    axes.imshow(images.transpose(0, 2, 1, 3).reshape(24, 64), cmap="gray")
    axes.set(title="digits that nobody wrote", xticks=[], yticks=[])


def audio_features(axes: Axes, program: Values, held: Values) -> None:
    rng = np.random.default_rng(3)
    rate = program["RATE"]
    waves = np.concatenate([program["sound"](kind, rng) for kind in program["KINDS"]])
    layer = paddle.audio.features.LogMelSpectrogram(sr=rate, n_fft=256, hop_length=64, n_mels=48)
    spectrum = np.asarray(layer(paddle.to_tensor(waves[None].astype("float32"))))[0]
    axes.imshow(spectrum, origin="lower", aspect="auto", cmap="magma")
    axes.set(title=", ".join(program["KINDS"]), xlabel="frame", ylabel="mel band")


def digits(axes: Axes, program: Values, held: Values) -> None:
    history = np.array(held["history"])
    axes.plot(1 + np.arange(len(history)), history[:, 1], marker="o")
    axes.set(title="accuracy on digits not seen", xlabel="epoch")


# {example: (how it is drawn, its arguments)}
DRAWN: dict[str, tuple[Callable[[Axes, Values, Values], None], list[str]]] = {
    "audio_features": (audio_features, []),
    "beam": (beam, ["--steps", "1500", "--taylor"]),
    "digits": (digits, []),
    "kuramoto_sivashinsky": (kuramoto_sivashinsky, ["--steps", "150", "--iterations", "1"]),
    "learned_noise": (learned_noise, []),
    "operator_learning": (operator_learning, []),
    "vae": (vae, []),
}
NOTEBOOKS = {"derivatives": 0, "pinn_burgers": -1, "shardings": 0}  # which of its pictures


def run(path: pathlib.Path, arguments: list[str]) -> tuple[Values, Values]:
    """(names of an example, variables of its `main` when that ended)"""
    held: Values = {}

    def note(frame: Any, event: str, value: Any) -> None:
        code = frame.f_code
        if event == "return" and code.co_name == "main" and code.co_filename == str(path):
            held.update(frame.f_locals)

    before = sys.argv
    sys.argv = [str(path), *arguments]
    sys.setprofile(note)
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            program = runpy.run_path(str(path), run_name="example")
            program["main"]()
    finally:
        sys.setprofile(None)
        sys.argv = before
        paddle.set_default_dtype("float32")
    return program, held


def draw(name: str) -> None:
    """Draws the picture of an example."""
    function, arguments = DRAWN[name]
    program, held = run(ROOT / "examples" / f"{name}.py", arguments)
    figure = Figure(figsize=(4.2, 2.6), layout="constrained", dpi=100)
    function(figure.subplots(), program, held)
    whole = io.BytesIO()
    figure.savefig(whole)
    store(name, whole.getvalue())


def store(name: str, picture: bytes) -> None:
    """Writes a picture with at most 600 columns and 96 colours, a fifth of its size."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.thumbnail((600, 600))
    image.quantize(96, dither=Image.Dither.NONE).save(GALLERY / f"{name}.png", optimize=True)


def stored_picture(name: str) -> bytes:
    """A picture that a notebook has stored."""
    notebook = json.loads((ROOT / "examples" / f"{name}.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    pictures = [output["data"]["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return base64.b64decode(pictures[NOTEBOOKS[name]])


def main() -> None:
    names = sys.argv[1:] or [*DRAWN, *NOTEBOOKS]
    GALLERY.mkdir(exist_ok=True)
    paddle.install_as_paddle()
    for name in names:
        if name in DRAWN:
            draw(name)
        else:
            store(name, stored_picture(name))
        print(f"docs/gallery/{name}.png: {(GALLERY / f'{name}.png').stat().st_size >> 10} KiB")


if __name__ == "__main__":
    main()
