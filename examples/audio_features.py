"""Sounds told apart by their spectrograms: tones, chirps, chords and noise, written as WAV
files and read again.

    python -m paddle_jax examples/audio_features.py  # on JAX
    python examples/audio_features.py                # the same file with the real Paddle

The program writes a folder of short recordings, reads them with `paddle.audio`, turns them into log-mel
spectrograms and cepstral coefficients, and trains a small convolutional network on each.
"""

import argparse
import tempfile
import wave
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

RATE, SECONDS = 8000, 0.5
KINDS = ("tone", "chirp", "chord", "noise")


def sound(kind, rng):
    """Half a second of one kind, between -1 and 1: pitch, loudness and phase are drawn."""
    time = np.arange(int(RATE * SECONDS)) / RATE
    pitch, phase = rng.uniform(200, 1200), rng.uniform(0, 2 * np.pi)
    if kind == "tone":
        signal = np.sin(2 * np.pi * pitch * time + phase)
    elif kind == "chirp":
        signal = np.sin(2 * np.pi * (pitch + rng.uniform(600, 1500) * time) * time + phase)
    elif kind == "chord":
        signal = sum(np.sin(2 * np.pi * pitch * ratio * time + phase) for ratio in (1, 5 / 4, 3 / 2)) / 3
    else:
        signal = rng.uniform(-1, 1, len(time))
    return 0.9 * rng.uniform(0.3, 1) * (signal + 0.1 * rng.uniform(-1, 1, len(time))) / 1.1


def write(folder, count, rng):
    """Writes `count` recordings in 16 bits; their paths and kinds."""
    samples = []
    for number in range(count):
        kind, path = number % len(KINDS), str(Path(folder) / f"{number:04d}.wav")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes((32767 * sound(KINDS[kind], rng)).astype("<i2").tobytes())
        samples.append((path, kind))
    return samples


def read(samples):
    """The recordings as one Tensor [count, time], and their kinds."""
    waves = [paddle.audio.load(path)[0][0] for path, _ in samples]
    return paddle.stack(waves).astype("float32"), paddle.to_tensor([kind for _, kind in samples])


def network(bands):
    """Two convolutions over bands and time, and the mean over both."""
    return nn.Sequential(
        nn.BatchNorm2D(1),
        nn.Conv2D(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2D(2),
        nn.Conv2D(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2D(4 if bands > 16 else 2),
        nn.Flatten(),
        nn.Linear(16 * (16 if bands > 16 else 4), len(KINDS)),
    )


def train(features, waves, kinds, tested, options):
    """Trains a network on features of sounds; the share of the tested ones whose kind it finds."""
    with paddle.no_grad():
        images = features(waves).unsqueeze(1)
    model = network(images.shape[2])
    optimizer = paddle.optimizer.AdamW(3e-3, parameters=model.parameters())
    known, order = len(kinds) - tested, np.random.default_rng(0)
    for _ in range(options.epochs):
        shuffled = order.permutation(known)
        for start in range(0, known, 32):
            chosen = paddle.to_tensor(shuffled[start : start + 32])
            loss = F.cross_entropy(model(images[chosen]), kinds[chosen])
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    model.eval()
    with paddle.no_grad():
        right = model(images[known:]).argmax(1) == kinds[known:]
    return float(loss), float(right.astype("float32").mean())


def main():
    """Writes, reads, trains and tests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sounds", type=int, default=320)
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()
    paddle.seed(0)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        waves, kinds = read(write(folder, options.sounds, rng))
    print(
        f"{len(kinds)} sounds of {waves.shape[1] / RATE:.1f} s, the loudest sample is "
        f"{float(waves.abs().max()):.3f}"
    )
    spectra = paddle.audio.features.LogMelSpectrogram(
        sr=RATE, n_fft=256, hop_length=128, n_mels=32, f_min=50.0
    )
    cepstra = paddle.audio.features.MFCC(sr=RATE, n_mfcc=13, n_fft=256, hop_length=128, n_mels=32, f_min=50.0)
    for name, features in (("log-mel spectrogram", spectra), ("cepstral coefficients", cepstra)):
        loss, right = train(features, waves, kinds, options.sounds // 4, options)
        print(f"{name}: loss {loss:.3f}, right about {right:.0%} of the sounds it has not heard", flush=True)


if __name__ == "__main__":
    main()
