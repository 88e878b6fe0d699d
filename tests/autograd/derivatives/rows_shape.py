"""Rows of functions that move, take and put elements, of creation, windows, Fourier transforms and frames."""

from tests.autograd.derivatives.engine import Row as R
from tests.autograd.derivatives.inputs import a, c, k, n, u

VALUES = "the shape of its result depends on values"

ROWS = [
    R("reshape", "p.reshape(x, [3, 2])", (n(2, 3),)), R("flatten", "p.flatten(x)", (n(2, 3),)), R("ravel", "p.ravel(x)", (n(2, 3),)),
    R("view", "p.view(x, [3, 2])", (n(2, 3),)), R("view_as", "p.view_as(x, y)", (n(2, 3), k([[0.0] * 2] * 3))),
    R("unflatten", "p.unflatten(x, 0, [2, 2])", (n(4),)), R("squeeze", "p.squeeze(x, 0)", (n(1, 3),)), R("unsqueeze", "p.unsqueeze(x, 0)", (n(3),)),
    R("transpose", "p.transpose(x, [1, 0])", (n(2, 3),)), R("t", "p.t(x)", (n(2, 3),)), R("matrix_transpose", "p.matrix_transpose(x)", (n(2, 3),)),
    R("permute", "p.permute(x, [1, 0])", (n(2, 3),)), R("moveaxis", "p.moveaxis(x, 0, 1)", (n(2, 3),)), R("flip", "p.flip(x, 0)", (n(3),)),
    R("roll", "p.roll(x, 1)", (n(3),)), R("rot90", "p.rot90(x)", (n(2, 3),)), R("expand", "p.expand(x, [2, 3])", (n(3),)),
    R("expand_as", "p.expand_as(x, y)", (n(3), k([[0.0] * 3] * 2))), R("tile", "p.tile(x, [2])", (n(3),)),
    R("broadcast_to", "p.broadcast_to(x, [2, 3])", (n(3),)), R("broadcast_tensors", "p.broadcast_tensors([x, y])", (n(3), n(2, 1))),
    R("repeat_interleave", "p.repeat_interleave(x, 2, 0)", (n(3),)), R("clone", "p.clone(x)", (n(3),)), R("assign", "p.assign(x)", (n(3),)),
    R("concat", "p.concat([x, y])", (n(2), n(3))), R("stack", "p.stack([x, y])", (n(3), n(3))), R("hstack", "p.hstack([x, y])", (n(2), n(3))),
    R("vstack", "p.vstack([x, y])", (n(3), n(3))), R("dstack", "p.dstack([x, y])", (n(3), n(3))), R("row_stack", "p.row_stack([x, y])", (n(3), n(3))),
    R("column_stack", "p.column_stack([x, y])", (n(3), n(3))), R("block_diag", "p.block_diag([x, y])", (n(2), n(1, 2))),
    R("cartesian_prod", "p.cartesian_prod([x, y])", (n(2), n(2))), R("combinations", "p.combinations(x)", (n(3),)),
    R("meshgrid", "p.meshgrid(x, y)", (n(2), n(3))), *[R(f"atleast_{d}d", f"p.atleast_{d}d(x)", (n(3),)) for d in (1, 2, 3)],
    R("split", "p.split(x, 2)", (n(4),)), R("chunk", "p.chunk(x, 2)", (n(4),)), R("tensor_split", "p.tensor_split(x, 2)", (n(4),)),
    R("hsplit", "p.hsplit(x, 2)", (n(4),)), R("vsplit", "p.vsplit(x, 2)", (n(2, 2),)), R("dsplit", "p.dsplit(x, 2)", (n(1, 1, 4),)),
    R("unbind", "p.unbind(x)", (n(2, 2),)), R("unstack", "p.unstack(x)", (n(2, 2),)), R("narrow", "p.narrow(x, 0, 1, 2)", (n(4),)),
    R("slice", "p.slice(x, [0], [1], [3])", (n(4),)), R("strided_slice", "p.strided_slice(x, [0], [0], [4], [2])", (n(4),)),
    R("crop", "p.crop(x, [2], [1])", (n(4),)), R("as_strided", "p.as_strided(x, [3, 2], [1, 2])", (n(6),)),
    R("unfold", "p.unfold(x, 0, 3, 1)", (n(5),)), R("getitem", "x[1:, 0]", (n(3, 2),)), R("getitem", "x[y]", (n(3, 2), k([0, 2, 0]))),
    R("diag", "p.diag(x)", (n(3),)), R("diagflat", "p.diagflat(x)", (n(3),)), R("diagonal", "p.diagonal(x)", (n(3, 3),)),
    R("diag_embed", "p.diag_embed(x)", (n(3),)), R("tril", "p.tril(x)", (n(3, 3),)), R("triu", "p.triu(x)", (n(3, 3),)),
    R("diagonal_scatter", "p.diagonal_scatter(x, y)", (n(2, 2), n(2))), R("fill_diagonal_tensor", "x.fill_diagonal_tensor(y)", (n(2, 2), n(2))),
    # taking
    R("gather", "p.gather(x, y)", (n(3, 2), k([0, 2, 0]))), R("gather_nd", "p.gather_nd(x, y)", (n(3, 2), k([[0, 1], [2, 0]]))),
    R("take", "p.take(x, y)", (n(5), k([0, 3, 3]))), R("index_select", "p.index_select(x, y)", (n(3, 2), k([0, 2, 0]))),
    R("index_sample", "p.index_sample(x, y)", (n(2, 3), k([[0, 2], [1, 1]]))),
    R("take_along_axis", "p.take_along_axis(x, y, 1)", (n(2, 3), k([[0, 2], [1, 1]]))),
    R("multiplex", "p.multiplex([x, y], z)", (n(2, 2), n(2, 2), k([[1], [0]], "int32"))),
    R("masked_select", "p.masked_select(x, y)", (n(4), k([True, False, True, True]))),
    R("where", "p.where(z, x, y)", (n(3), n(3), k([True, False, True]))), R("unique", "p.unique(x)", (a(4),), eager=VALUES),
    R("unique_consecutive", "p.unique_consecutive(x)", (a(4),), eager=VALUES),
    # putting
    R("scatter", "p.scatter(x, y, z)", (n(3, 2), k([2, 0]), n(2, 2))),
    R("scatter", "p.scatter(x, y, z, overwrite=False)", (n(3, 2), k([2, 2]), n(2, 2))),
    R("scatter_add", "p.scatter_add(x, 0, y, z)", (n(3, 2), k([[2, 0]]), n(1, 2))),
    R("scatter_nd", "p.scatter_nd(y, x, [4])", (n(3), k([[1], [3], [1]]))),
    R("scatter_nd_add", "p.scatter_nd_add(x, y, z)", (n(3), k([[1], [1]]), n(2))),
    R("scatter_reduce", "p.scatter_reduce(x, 0, y, z, 'prod')", (n(3), k([0, 0, 2]), n(3))),
    R("scatter_reduce", "p.scatter_reduce(x, 0, y, z, 'amax')", (u(0, 1, 3), k([0, 0, 2]), a(3))),
    R("put_along_axis", "p.put_along_axis(x, y, z, 0)", (n(3), k([0, 2]), n(2))),
    R("put_along_axis", "p.put_along_axis(x, y, z, 0, 'mul')", (n(3), k([0, 0]), n(2))),
    R("put_along_axis", "p.put_along_axis(x, y, z, 0, 'mean')", (n(3), k([0, 0]), n(2))),
    R("index_add", "p.index_add(x, y, 0, z)", (n(3, 2), k([0, 0]), n(2, 2))), R("index_put", "p.index_put(x, (y,), z)", (n(3), k([0, 2]), n(2))),
    R("index_fill", "p.index_fill(x, y, 0, 2.0)", (n(3), k([0]))), R("masked_fill", "p.masked_fill(x, y, z)", (n(3), k([True, False, True]), n())),
    R("masked_scatter", "p.masked_scatter(x, y, z)", (n(3), k([True, False, True]), n(3))),
    R("select_scatter", "p.select_scatter(x, y, 0, 1)", (n(2, 2), n(2))),
    R("slice_scatter", "p.slice_scatter(x, y, [0], [0], [2], [1])", (n(3), n(2))),
    # creation
    R("normal", "p.normal(x, y)", (n(3), u(0.5, 1, 3))),
    # Fourier transforms, frames
    *[R(f"fft.{name}", f"p.fft.{name}(x)", (c(4),)) for name in ("fft", "ifft", "irfft", "hfft")],
    *[R(f"fft.{name}", f"p.fft.{name}(x)", (n(4),)) for name in ("rfft", "ihfft", "fftshift", "ifftshift")],
    *[R(f"fft.{name}", f"p.fft.{name}(x)", (c(2, 2),)) for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn", "hfft2", "hfftn")],
    *[R(f"fft.{name}", f"p.fft.{name}(x)", (n(2, 3),)) for name in ("rfft2", "rfftn", "ihfft2", "ihfftn")],
    R("signal.frame", "p.signal.frame(x, 3, 1)", (n(6),)), R("signal.overlap_add", "p.signal.overlap_add(x, 1)", (n(3, 2),)),
    R("signal.stft", "p.signal.stft(x, 4, window=y)", (n(8), n(4))), R("signal.istft", "p.signal.istft(x, 4, 2, window=y)", (c(3, 5), u(0.5, 1, 4))),
]
