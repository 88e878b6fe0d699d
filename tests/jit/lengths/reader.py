"""The real Paddle, in a process of its own: reads jobs from its input, pickles of dicts, and answers with
pickles.

A job has `prefix`, `arrays` (a list of tuples) and, where Paddle saves the program itself, `source`, the path
of a module. The answer has `error`, None or what saving or loading raised, and `results`: for each tuple a
list of arrays, or the text of what it raised.
"""

import contextlib
import importlib.util
import os
import pickle
import sys
import warnings


def shown(error):
    """An exception in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Error" in line and ":" in line] or lines or [""]
    return f"{type(error).__name__}: {told[-1][:300]}"


def arrays_of(value):
    """The arrays that a program gives."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays_of(item)]
    if hasattr(value, "numpy"):
        return [value.numpy()]
    import numpy as np

    return [np.asarray(value)]


def saved(paddle, source, prefix):
    """Has Paddle save a program."""
    spec = importlib.util.spec_from_file_location("program", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    specs = [
        paddle.static.InputSpec([None, None, None], "float32", "x"),
        paddle.static.InputSpec([], "int64", "n"),
    ][: module.program.__code__.co_argcount]
    paddle.jit.save(paddle.jit.to_static(module.program, input_spec=specs), prefix)


def answer(paddle, job):
    """The answer to a job."""
    found = {"error": None, "results": []}
    try:
        if "source" in job:
            saved(paddle, job["source"], job["prefix"])
        loaded = paddle.jit.load(job["prefix"])
    except BaseException as error:
        return found | {"error": shown(error)}
    for arrays in job["arrays"]:
        try:
            found["results"].append(arrays_of(loaded(*map(paddle.to_tensor, arrays))))
        except Exception as error:
            found["results"].append(shown(error))
    return found


def main():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Paddle prints is no answer
    with contextlib.redirect_stdout(sys.stderr):
        warnings.simplefilter("ignore")
        import paddle

        paddle.disable_signal_handler()
        while True:
            try:
                job = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(answer(paddle, job), answers)
            answers.flush()


if __name__ == "__main__":
    main()
