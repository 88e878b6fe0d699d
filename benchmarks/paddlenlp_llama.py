"""PaddleNLP's own Trainer and tiny Llama over processes: the losses of every split beside those of one.

`python benchmarks/paddlenlp_llama.py` in an environment that has paddle_jax and PaddleNLP 2.8.1. That release
asks for older libraries than jax does; these go together:

    pip install "numpy>=2,<2.4" "huggingface-hub<0.30" "datasets<3.2" "dill<0.3.5" jieba colorlog colorama \\
        seqeval sentencepiece tqdm regex rich jinja2 pillow scipy typer fastapi uvicorn onnx requests \\
        paddlefsl
    pip install --no-deps paddlenlp==2.8.1

It also imports names from `aistudio_sdk.hub` that later releases of that package lack; any module will do.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# name, processes, rows a process, micro-batches, further options of the Trainer
SPLITS = [
    ("two replicas", 2, 4, 1, ""),
    ("tp 2", 2, 8, 1, "--tensor_parallel_degree 2"),
    ("tp 2, recompute", 2, 8, 1, "--tensor_parallel_degree 2 --recompute"),
    ("pp 2", 2, 4, 2, "--pipeline_parallel_degree 2"),
    ("sharding stage 1", 2, 4, 1, "--sharding stage1"),
    ("sharding stage 2", 2, 4, 1, "--sharding stage2"),
    ("sharding stage 3", 2, 4, 1, "--sharding stage3"),
    ("tp 2, pp 2", 4, 4, 2, "--tensor_parallel_degree 2 --pipeline_parallel_degree 2"),
    ("tp 2, dp 2", 4, 4, 1, "--tensor_parallel_degree 2"),
    (
        "tp 2, sharding 2",
        4,
        4,
        1,
        "--tensor_parallel_degree 2 --sharding stage1 --sharding_parallel_degree 2",
    ),
    (
        "pp 2, sharding 2",
        4,
        2,
        2,
        "--pipeline_parallel_degree 2 --sharding stage1 --sharding_parallel_degree 2",
    ),
    (
        "tp 2, pp 2, sharding 2",
        8,
        2,
        2,
        "--tensor_parallel_degree 2 --pipeline_parallel_degree 2 --sharding stage1 "
        "--sharding_parallel_degree 2",
    ),
    (
        "tp 2, pp 2, dp 2",
        8,
        2,
        2,
        "--tensor_parallel_degree 2 --pipeline_parallel_degree 2",
    ),
    ("stage 2, dp 2", 4, 2, 1, "--sharding stage2 --sharding_parallel_degree 2"),
    ("stage 3, dp 2", 4, 2, 1, "--sharding stage3 --sharding_parallel_degree 2"),
]
STEPS = 12


def llama_config(**more: Any) -> Any:
    """The LlamaConfig of a tiny Llama; more: further settings."""
    from paddlenlp.transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=72,
        hidden_size=40,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        use_flash_attention=False,
        seq_length=16,
        tensor_parallel_output=False,
        **more,
    )


def train() -> None:
    """One process of a job: PaddleNLP's Trainer with the options of the command line."""
    import numpy as np
    import paddle
    from paddlenlp.trainer import PdArgumentParser, Trainer, TrainingArguments
    from paddlenlp.transformers import LlamaForCausalLM, LlamaForCausalLMPipe

    class Rows(paddle.io.Dataset):
        def __init__(self, count: int) -> None:
            self.ids = np.random.default_rng(0).integers(0, 72, (count, 17))

        def __len__(self) -> int:
            return len(self.ids)

        def __getitem__(self, index: int) -> dict[str, np.ndarray]:
            return {"input_ids": self.ids[index, :-1], "labels": self.ids[index, 1:]}

    (arguments,) = PdArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    arguments.report_to = []
    paddle.set_device("cpu")
    config = llama_config(
        tensor_parallel_degree=arguments.tensor_parallel_degree,
        tensor_parallel_rank=arguments.tensor_parallel_rank,
        use_recompute=arguments.recompute,
    )
    weights = Path(arguments.output_dir).parent / "weights"
    if not weights.is_dir():  # the first run of a comparison has one process
        LlamaForCausalLM.from_config(config, dtype="float32").save_pretrained(str(weights))
    kind = LlamaForCausalLMPipe if arguments.pipeline_parallel_degree > 1 else LlamaForCausalLM
    model = kind.from_pretrained(str(weights), config=config, dtype="float32")
    trainer = Trainer(model=model, args=arguments, train_dataset=Rows(64), eval_dataset=Rows(16))
    trainer.train(resume_from_checkpoint=arguments.resume_from_checkpoint)


def losses_of(folder: Path, processes: int, rows: int, micro_batches: int, options: str) -> dict[int, float]:
    """{step: loss} of a job, which saves after half the steps."""
    command = [sys.executable, "-m", "paddle_jax", "-m", "paddle.distributed.launch"]
    command += ["--nproc_per_node", str(processes), "--log_dir", str(folder / "log"), __file__, "--train"]
    command += f"--output_dir {folder / 'out'} --device cpu --do_train --do_eval --logging_steps 1".split()
    command += f"--max_steps {STEPS} --save_steps {STEPS // 2} --learning_rate 1e-3".split()
    command += f"--lr_scheduler_type constant --per_device_train_batch_size {rows}".split()
    command += f"--gradient_accumulation_steps {micro_batches}".split()
    done = subprocess.run([*command, *options.split()], capture_output=True, text=True, timeout=600)
    if done.returncode:
        print((done.stdout + done.stderr)[-2000:])
        raise SystemExit(1)
    found = re.findall(
        r"loss: ([\d.]+), learning_rate: [\d.]+, global_step: (\d+),", done.stdout + done.stderr
    )
    return {int(step): float(loss) for loss, step in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="part of the name of a split")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # one process reads the rows in another order, so replicas are the measure
        losses_of(folder, 1, 8, 1, "")
        expected = losses_of(folder, *SPLITS[0][1:])
        print(f"{SPLITS[0][0]:20}", *expected.values())
        for title, *settings in SPLITS[1:]:
            if only and only not in title:
                continue
            shutil.rmtree(folder / "out", ignore_errors=True)
            found = losses_of(folder, *settings)
            shutil.rmtree(folder / "out" / f"checkpoint-{STEPS}", ignore_errors=True)
            half = folder / "out" / f"checkpoint-{STEPS // 2}"
            resumed = losses_of(folder, *settings[:3], f"{settings[3]} --resume_from_checkpoint {half}")
            far = max(abs(found[step] - expected[step]) for step in expected)
            again = max(abs(resumed[step] - expected[step]) for step in resumed)
            print(f"{title:20} {far:.1e} from it, {again:.1e} for {len(resumed)} steps after a resume")


if __name__ == "__main__":
    if "--train" in sys.argv:
        sys.argv.remove("--train")
        train()
    else:
        main()
