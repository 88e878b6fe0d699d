"""In which order a stage of a pipeline runs its forward and backward steps.

A schedule is a list of Steps for one stage. It is a pure function of the sizes of the pipeline, so all stages
know the schedules of all others. The bubble is the share of a stage's time in which it waits; with p stages,
m micro-batches and v chunks a stage it is (p - 1) / m for FThenB and 1F1B, (p - 1) / (v m) interleaved, and
(p - 1) / (3 m) for ZB-H1. 1F1B and ZB-H1 keep the activations of at most p - stage micro-batches alive.

Sources: Huang et al., GPipe, 2019 (FThenB); Narayanan et al., Efficient Large-Scale Language Model Training
on GPU Clusters Using Megatron-LM, 2021 (1F1B and interleaved); Qi et al., Zero Bubble Pipeline Parallelism,
2023 (ZB-H1); DeepSeek-AI, DualPipe, 2025, and Sea AI Lab, Cut-in-half, 2025 (DualPipeV).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from paddle_jax._core.base.errors import CheckError

FORWARD = "f"
BACKWARD = "b"
WEIGHT = "w"  # the gradients of weights, where BACKWARD gives those of inputs only


class Step(NamedTuple):
    """One step of a stage.

    Attributes:
        kind: FORWARD, BACKWARD or WEIGHT.
        chunk: which of the chunks of the stage runs.
        micro_batch: which part of the batch it runs on.
    """

    kind: str
    chunk: int
    micro_batch: int


class Pipeline(NamedTuple):
    """The sizes of a pipeline.

    Attributes:
        stages: how many processes it has.
        micro_batches: into how many parts a batch is cut.
        chunks: how many parts of the model each stage has.
        is_folded: whether the second of two chunks runs through the stages backwards, as a V.
    """

    stages: int
    micro_batches: int
    chunks: int = 1
    is_folded: bool = False


def forward_then_backward(pipeline: Pipeline, stage: int) -> list[Step]:
    """All forward steps, then all backward steps."""
    forward, backward = _orders(pipeline, [range(pipeline.micro_batches)])
    return forward + backward


def one_forward_one_backward(pipeline: Pipeline, stage: int) -> list[Step]:
    """1F1B: as few forward steps ahead as the stages behind this one need, then in turns."""
    forward, backward = _orders(pipeline, [range(pipeline.micro_batches)])
    return _in_turns(forward, backward, pipeline.stages - stage - 1)


def interleaved(pipeline: Pipeline, stage: int) -> list[Step]:
    """1F1B over several chunks a stage: a group of micro-batches runs through a chunk on all stages before
    the next chunk begins.

    Groups have as many micro-batches as there are stages; the first one takes the rest of the division, too.
    """
    stages, micro_batches, chunks, _ = pipeline
    # What does not divide by the stages goes with the first group, so that the others are full.
    first = min(stages + micro_batches % stages, micro_batches)
    groups = [range(first)]
    groups += [range(start, start + stages) for start in range(first, micro_batches, stages)]
    forward, backward = _orders(pipeline, groups)
    # The first group runs through all chunks but the last; then as in 1F1B, twice, for the way there and
    # back.
    ahead = 2 * (stages - stage - 1) + (chunks - 1) * first
    return _in_turns(forward, backward, ahead)


def zero_bubble(pipeline: Pipeline, stage: int) -> list[Step]:
    """ZB-H1: 1F1B whose backward steps are cut in two. A stage is as many weight steps behind as there are
    stages before it, so that they fill the time in which it would wait at the end."""
    micro_batches = pipeline.micro_batches
    steps = []
    weights = 0
    for step in one_forward_one_backward(pipeline, stage):
        steps.append(step)
        # Later stages have less to wait for, so they keep more weight steps for the end.
        if step.kind == BACKWARD and step.micro_batch - weights >= stage:
            steps.append(Step(WEIGHT, 0, weights))
            weights += 1
    return steps + [Step(WEIGHT, 0, micro_batch) for micro_batch in range(weights, micro_batches)]


def dual_pipe_v(pipeline: Pipeline, stage: int) -> list[Step]:
    """DualPipeV: two chunks a stage, which run through the stages as a V.

    A stage runs the forward steps of one chunk in turns with the backward steps of the other.

    Raises:
        AssertionError: there are fewer than two micro-batches for each stage.
    """
    stages = pipeline.stages
    rest = pipeline.micro_batches - 2 * stages
    if rest < 0:
        raise CheckError(
            f"DualPipeV: accumulate_steps: got {pipeline.micro_batches}; it must be {2 * stages} at least "
            f"for {stages} stages"
        )
    here = stage + 1
    behind = stages - here
    # "s1" is a backward step of chunk 1 that leaves the gradients of weights to a later "w".
    last = ["b1", "b0"] * here
    late = ["s" + step[1] for step in last[here:]]
    plan = ["f0"] * 2 * behind + ["f0", "f1"] * here
    plan += ["s1", "w", "f1"] * behind
    plan += ["f0", "b1", "f1", "b0"] * (rest + here)
    plan += ["b1", "f1", "b0"] * behind + last[:here] + late
    plan += ["w", "s0"] * behind + ["w"] * here
    return _numbered(plan)


def _numbered(plan: list[str]) -> list[Step]:
    """The steps of a plan; each chunk takes the micro-batches in order, and "w" the oldest "s"."""
    counts: dict[str, int] = {}
    waiting: list[Step] = []
    steps = []
    for word in plan:
        if word == "w":
            steps.append(waiting.pop(0))
            continue
        kind = FORWARD if word[0] == "f" else BACKWARD
        chunk = int(word[1])
        number = counts.get(f"{kind}{chunk}", 0)
        counts[f"{kind}{chunk}"] = number + 1
        steps.append(Step(kind, chunk, number))
        if word[0] == "s":
            waiting.append(Step(WEIGHT, chunk, number))
    return steps


def forward_only(pipeline: Pipeline, stage: int) -> list[Step]:
    """The forward steps of an evaluation."""
    # Forward steps come first in that order, so the cut leaves exactly them.
    return forward_then_backward(pipeline, stage)[: pipeline.chunks * pipeline.micro_batches]


def all_stages(pipeline: Pipeline, lists: list[list[Step]]) -> Iterator[tuple[int, Step]]:
    """The steps of all stages in an order in which one thread can run them: stages take turns, and a step
    waits for what it needs.

    Args:
        pipeline: Pipeline.
        lists: the schedule of each stage.
    Returns:
        iterator of (stage, Step).
    Raises:
        AssertionError: no stage can go on, as the lists do not fit each other.
    """
    # Reversed, so that `pop` takes the next step.
    waiting = [list(reversed(steps)) for steps in lists]
    done: set[tuple[str, int, int]] = set()
    while any(waiting):
        before = len(done)
        for stage, steps in enumerate(waiting):
            if not steps or not _is_ready(pipeline, stage, steps[-1], done):
                continue
            step = steps.pop()
            done.add((step.kind, part_of(pipeline, stage, step.chunk), step.micro_batch))
            yield stage, step
        # A schedule that waits for itself would run for ever.
        if len(done) == before:
            stuck = {stage: steps[-1] for stage, steps in enumerate(waiting) if steps}
            raise CheckError(f"pipeline: schedule: no stage can go on; the next steps are {stuck}")


def part_of(pipeline: Pipeline, stage: int, chunk: int) -> int:
    """The number of a chunk of a stage among all parts of the model."""
    # Every second chunk of a V runs from the last stage to the first one.
    place = pipeline.stages - 1 - stage if pipeline.is_folded and chunk % 2 else stage
    return chunk * pipeline.stages + place


def stage_and_chunk(pipeline: Pipeline, part: int) -> tuple[int, int]:
    """(stage, chunk) of a part of the model."""
    chunk, place = divmod(part, pipeline.stages)
    if pipeline.is_folded and chunk % 2:
        return pipeline.stages - 1 - place, chunk
    return place, chunk


def _is_ready(pipeline: Pipeline, stage: int, step: Step, done: set[Any]) -> bool:
    """Whether what a step needs is there: the part before, or the forward step and the part behind."""
    part = part_of(pipeline, stage, step.chunk)
    if step.kind == FORWARD:
        return part == 0 or (FORWARD, part - 1, step.micro_batch) in done
    if step.kind == WEIGHT:
        # Weight steps need the gradients of their own part alone.
        return (BACKWARD, part, step.micro_batch) in done
    last = pipeline.stages * pipeline.chunks - 1
    # The last part begins the backward pass with the loss.
    behind = part == last or (BACKWARD, part + 1, step.micro_batch) in done
    return behind and (FORWARD, part, step.micro_batch) in done


def _orders(pipeline: Pipeline, groups: Sequence[Any]) -> tuple[list[Step], list[Step]]:
    """The forward steps in order, and the backward steps, for groups of micro-batches."""
    chunks = range(pipeline.chunks)
    # A chunk runs a whole group of micro-batches before the next chunk begins.
    forward = [Step(FORWARD, c, i) for group in groups for c in chunks for i in group]
    backward = [Step(BACKWARD, c, i) for group in groups for c in reversed(chunks) for i in group]
    return forward, backward


def _in_turns(forward: list[Step], backward: list[Step], ahead: int) -> list[Step]:
    """Some forward steps ahead, then forward and backward steps in turns, then the other backward steps."""
    # A short batch may have fewer steps than the stages behind would need.
    ahead = min(ahead, len(forward))
    steps = forward[:ahead]
    for following, step in zip(forward[ahead:], backward, strict=False):
        steps += [following, step]
    # Backward steps that no forward step is left to go with.
    return steps + backward[len(forward) - ahead :]


def text(steps: list[Step], chunks: int) -> str:
    """A schedule as Paddle writes it: `f0;f1;b0;b1;`, with `_vp1` for chunk 1 where there are several."""
    if chunks == 1:
        return "".join(f"{step.kind}{step.micro_batch};" for step in steps)
    return "".join(f"{step.kind}{step.micro_batch}_vp{step.chunk};" for step in steps)
