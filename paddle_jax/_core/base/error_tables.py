"""Facts about Paddle 3.3.1: the operations that find a sort of mistake in Python, where messages have no kind
in front (see error_kinds.py).

Found by calling each of them with 72 000 sorts of wrong arguments. `operand x`: what is no Tensor in place of
x; `argument`: another argument of a wrong type; else by the class of the exception. `add` stands for an
operation as a whole, `add:alpha` for the messages about one argument; what `COMPILED` has is found in C++
though most of that operation is not.
"""

PYTHON = {
    name: frozenset(text.split())
    for name, text in {
        "IndexError": """
        chunk cosine_similarity cumulative_trapezoid diff fftn frame hfftn ifftn ihfftn irfftn
        margin_cross_entropy narrow rfftn rnnt_loss select_scatter tensordot trapezoid
    """,
        "RuntimeError": "dropout1d scatter_add scatter_reduce select_scatter take_along_axis",
        "TypeError": """
        adaptive_avg_pool3d adaptive_log_softmax_with_loss adaptive_max_pool2d adaptive_max_pool3d
        alpha_dropout arange argwhere as_tensor asarray assign atleast_1d atleast_2d atleast_3d
        bartlett_window batch_norm bincount binomial bitwise_invert bitwise_left_shift bitwise_not
        bitwise_right_shift blackman_window box_coder broadcast_shape broadcast_shapes broadcast_tensors
        channel_shuffle cholesky chunk class_center_sample column_stack combinations cosine_similarity crop
        cumulative_trapezoid diag_embed diagonal_scatter diff dropout dropout1d dropout2d dropout3d dsplit
        dstack einsum eye feature_alpha_dropout fftfreq fill_diagonal_tensor flash_attn_qkvpacked frac
        fractional_max_pool2d fractional_max_pool3d frexp from_numpy full full_like gammainc gammaincc
        gather_nd gaussian_nll_loss getitem glu hann_window:window_length histogram_bin_edges histogramdd
        hsigmoid_loss hsplit hstack increment index_fill interpolate inv is_complex is_floating_point
        is_integer kaiser_window label_smooth local_response_norm logspace lp_pool2d lstsq lu lu_unpack
        margin_cross_entropy masked_fill matrix_norm max_unpool1d max_unpool2d max_unpool3d median moveaxis
        multiplex nanmedian nanquantile narrow negative nll_loss norm pad pca_lowrank pdist pinv pixel_shuffle
        pixel_unshuffle polygamma positive put_along_axis quantile rand_like randperm rank ravel rfftfreq
        rot90 row_stack scaled_dot_product_attention scatter scatter_add scatter_nd scatter_nd_add
        scatter_reduce select_scatter selu sgn shard_index slice slice_scatter softmax_with_cross_entropy
        softshrink split strided_slice svd_lowrank take tensordot to_tensor tolist trapezoid tril_indices
        triplet_margin_loss triplet_margin_with_distance_loss triu_indices unflatten upsample vander var
        view_as_complex view_as_real vsplit vstack
    """,
        "ValueError": """
        adaptive_avg_pool1d adaptive_avg_pool2d:x adaptive_avg_pool3d adaptive_log_softmax_with_loss
        adaptive_max_pool1d adaptive_max_pool2d:x adaptive_max_pool3d addmm alpha_dropout arange:got as_tensor
        asarray avg_pool1d avg_pool2d:padding avg_pool2d:stride avg_pool3d:padding avg_pool3d:stride baddbmm
        bartlett_window blackman_window block_diag:got bucketize:sorted_sequence cartesian_prod cdist
        channel_shuffle cholesky_inverse chunk class_center_sample combinations cond conv1d
        conv1d_transpose:groups conv1d_transpose:padding conv1d_transpose:x conv2d:groups conv2d:padding
        conv2d:weight conv2d:x conv2d_transpose:got conv2d_transpose:groups conv2d_transpose:padding
        conv2d_transpose:x conv3d conv3d_transpose corrcoef cosine_embedding_loss cov cross_entropy:got
        cross_entropy:ignore_index cross_entropy:input cross_entropy:label_smoothing cross_entropy:weight
        cumulative_trapezoid diff:n
        divide:rounding_mode dropout dropout1d dropout2d dropout3d dsplit eigh eigvals embedding:padding_idx
        empty:got empty_like eye feature_alpha_dropout fft fft2 fftfreq fftn flash_attn_qkvpacked:dropout
        flatten fold:padding fractional_max_pool2d fractional_max_pool3d frame full:got full_like gammainc
        gammaincc gather_tree gaussian_nll_loss glu hamming_window hann_window hfft hfft2 hfftn
        histogram_bin_edges histogramdd:bins hsigmoid_loss hsplit ifft ifft2 ifftn ihfft ihfft2 ihfftn
        index_fill inner interpolate irfft irfft2 irfftn istft:hop_length istft:window kaiser_window
        label_smooth layer_norm:normalized_shape linspace:got local_response_norm lp_pool1d:padding
        lp_pool1d:stride lp_pool1d:x lp_pool2d lstsq lu_solve margin_cross_entropy:label matrix_exp
        matrix_norm:p matrix_rank:tol matrix_transpose max_pool1d max_pool2d max_pool3d:padding
        max_unpool1d:kernel_size max_unpool2d max_unpool2d:got max_unpool3d median meshgrid:indexing moveaxis
        multi_label_margin_loss multi_label_soft_margin_loss multi_margin_loss nanmedian nanquantile
        nll_loss:input norm ones:got ones_like overlap_add pca_lowrank pixel_unshuffle poisson_nll_loss
        polygamma prior_box:steps put_along_axis:indices quantile rand:got rand_like randint randint:low
        randint_like randn:got randn_like randperm range renorm rfft rfft2 rfftfreq rfftn rot90
        scaled_dot_product_attention scatter_add:indices scatter_reduce:indices selu sigmoid_focal_loss
        slice:axes soft_margin_loss softmax_with_cross_entropy:input softshrink solve:y standard_normal stft
        svd_lowrank t take take_along_axis:indices tensor_split to_tensor trapezoid triplet_margin_loss
        triplet_margin_with_distance_loss unbind uniform:got unstack upsample vander var:got vector_norm:p
        vsplit where:x zeros:got zeros_like
    """,
        "argument": """
        arange as_tensor asarray avg_pool1d avg_pool2d avg_pool3d bartlett_window blackman_window cast chunk
        conv1d conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose cummax cummin cumprod cumsum
        cumulative_trapezoid diagonal_scatter empty empty_like eye fftfreq fftshift fill_diagonal_tensor
        flatten fractional_max_pool2d fractional_max_pool3d full full_like gather:index gather_nd
        hamming_window hann_window index_add index_fill index_sample index_select kaiser_window linspace
        log_softmax logcumsumexp logspace lp_pool1d lp_pool2d matrix_norm max_pool1d max_pool2d max_pool3d
        max_unpool1d max_unpool2d max_unpool3d mean:got narrow norm normal:shape ones:got ones_like permute
        prod put_along_axis rand rand_like randint:shape randint_like randn randn_like randperm range reshape
        rfftfreq scatter scatter_add scatter_reduce select_scatter sequence_mask softmax split standard_normal
        take take_along_axis tensor_split:axis to_tensor trapezoid tril_indices triu_indices unbind unflatten
        uniform unique unique_consecutive unstack vector_norm view where zeros:got zeros_like
    """,
        "operand M": "svd_lowrank",
        "operand angle": "polar",
        "operand aweights": "cov",
        "operand bias": "scale",
        "operand dx": "cumulative_trapezoid",
        "operand ids": "gather_tree",
        "operand input": """
        hinge_embedding_loss histogram_bin_edges multi_label_margin_loss multi_label_soft_margin_loss
        multi_margin_loss rnnt_loss t unbind
    """,
        "operand input1": "cosine_embedding_loss",
        "operand inputs": "block_diag",
        "operand label": "dice_loss kl_div poisson_nll_loss soft_margin_loss",
        "operand label_lengths": "ctc_loss",
        "operand labels": "npair_loss",
        "operand logit": "binary_cross_entropy_with_logits",
        "operand mask": "masked_fill",
        "operand normalizer": "sigmoid_focal_loss",
        "operand operands": "einsum",
        "operand other": "view_as",
        "operand pivots": "lu_solve",
        "operand positive": "triplet_margin_loss",
        "operand tau": "householder_product",
        "operand theta": "affine_grid",
        "operand tol": "matrix_rank",
        "operand weight": "conv1d conv1d_transpose conv2d conv3d prelu",
        "operand weights": "histogramdd",
        "operand x": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d atan2 avg_pool1d baddbmm cartesian_prod channel_shuffle cholesky cholesky_inverse
        clip clone cond conv2d_transpose conv3d_transpose corrcoef cumsum deg2rad diagflat diff eigh eigvals
        eigvalsh fft fft2 fftn flatten fold frac frame frexp gammainc glu hfft hfft2 hfftn hypot ifft ifft2
        ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn isin isneginf isposinf isreal layer_norm ldexp lerp
        local_response_norm lp_pool1d lp_pool2d lu_unpack matrix_exp matrix_rank matrix_transpose max_pool1d
        multigammaln nan_to_num nanmean nansum negative norm outer pad pdist pixel_unshuffle positive rad2deg
        ravel renorm repeat_interleave reshape rfft rfft2 rfftn rot90 sgn signbit sinc trapezoid unstack
        vander vecdot vector_norm
    """,
        "operand x1": "cosine_similarity",
        "operand y": """
        addmm cdist copysign cumulative_trapezoid equal gammainc gammaincc gcd hypot inner lcm ldexp ormqr
        pow
    """,
    }.items()
}

COMPILED = {
    name: frozenset(text.split())
    for name, text in {
        "TypeError": """
        arange:step cosine_similarity:got logspace:stop median:axis tril_indices:offset triu_indices:offset
    """,
        "ValueError": """
        adaptive_avg_pool3d:output_size adaptive_log_softmax_with_loss:shapes
        adaptive_log_softmax_with_loss:the adaptive_max_pool3d:output_size cartesian_prod:Need
        chunk:num_or_sections conv1d:bias conv1d:dilation conv1d:stride conv1d:weight conv3d:bias
        conv3d:dilation conv3d:stride conv3d_transpose:bias conv3d_transpose:output_padding
        conv3d_transpose:stride cosine_embedding_loss:shapes cumulative_trapezoid:shapes dropout:got
        fractional_max_pool2d:output_size fractional_max_pool3d:output_size full_like:fill_value
        gammainc:igamma gammaincc:igammac gaussian_nll_loss:shapes multi_margin_loss:label glu:x
        hamming_window:mul hfft:x hfftn:x histogram_bin_edges:bins hsigmoid_loss:label index_fill:index
        irfft:x irfftn:x local_response_norm:power local_response_norm:unsupported lstsq:unsupported
        max_pool1d:kernel_size max_pool2d:kernel_size max_pool2d:stride max_pool2d:x max_unpool2d:indices
        multi_label_soft_margin_loss:shapes nanmedian:axis norm:axis norm:zero overlap_add:x range:end
        range:start range:step scaled_dot_product_attention:shapes sigmoid_focal_loss:shapes
        sigmoid_focal_loss:power svd_lowrank:shapes take:index trapezoid:shapes
        triplet_margin_loss:unsupported
    """,
        "argument": """
        empty:shape full:shape index_select:axis logspace:num norm:axis normal:x rand:shape randint:high
        randint:low randint:shape randint_like:low randn:shape randperm:n select_scatter:index
        split:num_or_sections standard_normal:shape unflatten:shape uniform:shape unique:axis
        unique_consecutive:axis vector_norm:axis view:shape_or_dtype
    """,
    }.items()
}
