"""Writes docs/model-file-operations.md: which operations of Paddle's model files are read and written.

    python tools/model_file_table.py             saves cases of all functions and writes the page (minutes)
    python tools/model_file_table.py NAME ...    prints what the cases of these functions are written as

What is read is looked up. What is written is found by saving the cases that functions have beside their
declarations, and the models of tests/jit/corpus/expressions.py and detection.py. Names of operations are
those of `c_signatures.txt`. Gradients, and operations with no counterpart here, are left out.
"""

import json
import os
import pathlib
import sys
import tempfile
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("FLAGS_compile_cache", "off")
HOME = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HOME))

import paddle_jax  # noqa: E402
from paddle_jax._core.kernels.op_record import READS, RECORDED  # noqa: E402
from paddle_jax._core.ops.op import OPS  # noqa: E402
from paddle_jax.framework.model_files.c_calls import signatures  # noqa: E402
from paddle_jax.framework.model_files.constant_folding import HOST  # noqa: E402
from paddle_jax.framework.model_files.reading import RULES, rule_of  # noqa: E402
from paddle_jax.framework.model_files.records import parse_record  # noqa: E402

PAGE = HOME / "docs/model-file-operations.md"
HEAD = """# Operations in model files

The table has the operations of Paddle 3.3.1 in [model files](model-files.md). *Read* means that
`paddle.jit.load` runs the operation, *written* that `paddle.jit.save` makes it. Functions that Paddle saves
as several operations are saved as several here. A command writes this page:

    python tools/model_file_table.py

| operation | read | written | why not |
| --- | --- | --- | --- |
"""
# where one of both is missing
REASONS = {
    **dict.fromkeys(
        (
            "nonzero",
            "unique",
            "unique_consecutive",
            "bincount",
            "nms",
            "multiclass_nms3",
            "repeat_interleave_with_tensor_index",
            "class_center_sample",
            "masked_select",
        ),
        "lengths of the results depend on values",
    ),
    **dict.fromkeys(
        (
            "array_length",
            "array_pop",
            "array_read",
            "array_write_",
            "array_to_tensor",
            "create_array",
            "create_array_like",
        ),
        "lists that grow are written as one Tensor",
    ),
    **dict.fromkeys(("expand_as", "broadcast_tensors"), "written as `expand`"),
    **dict.fromkeys(("full_", "fill", "full_batch_size_like", "empty"), "written as `full`"),
    **dict.fromkeys(("eye", "tril_indices", "triu_indices", "logspace"), "written as known numbers"),
    **dict.fromkeys(
        ("memcpy_d2h", "memcpy_h2d", "share_data_", "assign_out_", "trans_layout"), "of Paddle's own passes"
    ),
    **dict.fromkeys(
        (
            "mean_all",
            "l1_norm",
            "squared_l2_norm",
            "frobenius_norm",
            "neg",
            "tanhshrink",
            "rms_norm",
            "accuracy",
            "pinv",
            "gcd",
            "lcm",
            "rot90",
            "crop",
            "increment_",
            "as_strided",
            "rrelu",
            "matrix_rank_atol_rtol",
            "identity_loss",
            "margin_cross_entropy",
            "fused_softmax_mask",
            "fused_softmax_mask_upper_triangle",
        ),
        "written by its parts",
    ),
    **dict.fromkeys(
        ("set_value", "set_value_", "set_value_with_tensor"), "written as `set_value_with_tensor_`"
    ),
    **dict.fromkeys(("view_slice", "view_shape"), "written as `slice` and `reshape`"),
    **dict.fromkeys(("batch_norm", "sync_batch_norm_"), "written as `batch_norm_`"),
    "clip": "written as `maximum` and `minimum`",
    "index_select": "written as `gather`",
    "index_sample": "written as `take_along_axis`",
    "fake_quantize_dequantize_moving_average_abs_max": "of training",
    "conv2d_transpose_bias": "written as `conv2d_transpose` and `add`",
}


_ENDS = {"data", "fetch"}  # of a program; the table has operations
_CONTROL = {"if", "while"}


def names_in(document):
    """The names of all operations in a program, blocks of control flow included."""
    if isinstance(document, list):
        return {name for item in document for name in names_in(item)}
    if not isinstance(document, dict):
        return set()
    found = names_in(list(document.values()))
    kind = document.get("#")
    is_operation = "I" in document and isinstance(kind, str) and kind.startswith("1.")
    return found | {kind.removeprefix("1.")} if is_operation else found


def saved(function, specs):
    """The names of the operations that a function is saved as; none where it is refused."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            paddle_jax.jit.save(function, folder + "/m", input_spec=specs)
        except Exception:  # a case may be one of a refusal
            return set()
        return names_in(json.loads(pathlib.Path(folder + "/m.json").read_text()))


def models(names):
    """(function, InputSpecs) of the cases of functions."""
    from tests.ops.test_ops import find, public_path
    from tests.ops.test_to_static import arguments, call

    for name in names:
        path = public_path(name)
        for case in OPS[name].cases if path else ():
            case = case.lstrip("~ ")
            try:
                given = arguments(case)
            except Exception:  # noqa: S112  refused before there are Tensors
                continue
            specs = [
                paddle_jax.static.InputSpec(list(t.shape), t.dtype, f"v{i}") for i, t in enumerate(given)
            ]
            function = find(paddle_jax, path)
            yield lambda *tensors, f=function, c=case: call(f, c, tensors), specs


def more_models():
    """Those of the tests."""
    from tests.jit.corpus.decomposed_tables import DECOMPOSED, GCD
    from tests.jit.corpus.detection import GROUPS
    from tests.jit.corpus.detection import body as body_of_cases
    from tests.jit.corpus.expression_tables import LAYERS
    from tests.jit.corpus.expressions import body, specs, split, stack

    for inputs, text in [*DECOMPOSED.items(), ("f(-1,3,4)", GCD)]:
        for expression in split(text):
            yield body(paddle_jax, [expression]), specs(paddle_jax, inputs)
    yield quantized, [paddle_jax.static.InputSpec([2, 3], "float32", "x")]
    for inputs in LAYERS:
        yield stack(paddle_jax, inputs), specs(paddle_jax, inputs)
    for cases in GROUPS:
        for expression, values in cases.items():
            yield (
                body_of_cases(paddle_jax, {expression: values}, "one case"),
                [
                    paddle_jax.static.InputSpec(list(v.shape), str(v.dtype), f"v{i}")
                    for i, v in enumerate(values)
                ],
            )


def quantized(x):
    """Rounds to eight bits, as quantized layers do."""
    from paddle_jax.nn.functional.quantization import dequantize_linear, quantize_linear

    scale, zero = paddle_jax.ones([1]), paddle_jax.zeros([1])
    return dequantize_linear(quantize_linear(x, scale, zero), scale, zero)


def is_read(name):
    """Whether `paddle.jit.load` runs an operation."""
    names = name, name.removesuffix("_")
    return name in _CONTROL or any(one in HOST or rule_of(one) is not None for one in names)


def counterparts():
    """The names of Paddle's operations that have a counterpart here, sorted."""
    plain = {name for name in signatures() if name[-1] != "_" and not name.endswith("_grad")}
    read = {name for name in [*READS, *RULES] if "." not in name}
    return sorted(read | {name for name in plain if is_read(name)})


def declared():
    """The names of Paddle's operations that declarations of functions have."""
    return {name for op in RECORDED if op.record.pir for name in parse_record(op.record.pir).names}


def rows():
    """{operation: (read, written, why not)} of the page."""
    found = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[0].startswith("`"):
            found[cells[0].strip("`")] = cells[1] == "yes", cells[2] == "yes", cells[3]
    return found


def page(written):
    """The text of the page."""
    lines = []
    for name in sorted({*counterparts(), *written} - _ENDS):
        both = is_read(name), name in written
        why = "" if all(both) else REASONS.get(name, "")
        lines.append(f"| `{name}` | {' | '.join('yes' if one else 'no' for one in both)} | {why} |")
    return HEAD + "\n".join(lines) + "\n"


def main(names):
    """Writes the page, or prints the operations of some functions."""
    from tests.ops.test_ops import NAMES

    written = set()
    for function, specs in models(names or NAMES):
        written |= saved(function, specs)
    if names:
        print(", ".join(sorted(written)))
        return
    for function, specs in more_models():
        written |= saved(function, specs)
    written = {name for name in written if not name.startswith("paddle_jax.")}
    PAGE.write_text(page(written))


if __name__ == "__main__":
    main(sys.argv[1:])
