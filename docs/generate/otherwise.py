"""Names of other libraries that plugrad has not as methods: what to write, or why there is nothing.

`migrating.py` makes tables of both. Names that come to `names/` leave these: a test looks.
"""

from typing import NamedTuple


class Row(NamedTuple):
    """What to write in place of names, with what shows it; migrating.py prints the first two."""

    names: str
    """The others' names, separated by spaces."""
    write: str
    """Each part in backticks is code that runs; so says tests/integration/test_migrating.py."""
    theirs: tuple[str, ...]
    """For each of those parts, what has its value there, with `f` for each name; a bare name has no value."""
    given: str = ""
    """What names in the code stand for, as keyword arguments, where they are not in the test's list."""


#: Where plugrad has no method of that name.
OTHERWISE: tuple[Row, ...] = (
    Row("torch.Tensor.add_", "`x += y`", ("f(x, y)",)),
    Row("torch.Tensor.index_put_", "`x[index] = y`", ("f(x, (index,), y)",), "index=k.long()"),
    Row(
        "torch.Tensor.masked_fill_",
        "`x[mask] = y`, or `x.assign(x.masked_fill(mask, y))`",
        ("f(x, mask, y)", "f(x, mask, y)"),
        "mask=b, y=2",
    ),
    Row(
        "torch.nn.ParameterList torch.nn.ParameterDict",
        '`[v, w]`, or `{"v": v, "w": w}` as an attribute: both are looked through, and names are the same',
        ("list(torch.nn.ParameterList([v, w]))", 'dict(torch.nn.ParameterDict({"v": v, "w": w}))'),
    ),
    Row("torch.nn.Softmax2d", "`nn.Softmax(-3)`", ("f()",)),
    Row("torch.nn.UpsamplingNearest2d", "`nn.Upsample(size)`", ("f(size)",), "size=(8, 12)"),
    Row(
        "torch.nn.UpsamplingBilinear2d",
        '`nn.Upsample(size, mode="bilinear", align_corners=True)`',
        ("f(size)",),
        "size=(8, 12)",
    ),
    Row(
        "torch.optim.lr_scheduler.MultiplicativeLR",
        "`nn.schedulers.LambdaLR(optimizer, product)` of the products",
        ("f(optimizer, lambda step: 0.5)",),
        "product=lambda step: 0.5**step",
    ),
    Row("torch.allclose", "`x.allclose(y)`", ("f(x, y)",), "y=x"),
    Row("torch.tensor np.array np.asanyarray", "`Tensor(data)`", ("f(data)",), "data=[[1, 2], [3, 4]]"),
    Row("torch.from_numpy", "`Tensor(array, copy=False)`", ("f(array)",), "array=np.ones((2, 3))"),
    Row(
        "torch.cuda.synchronize", "`Device[name].synchronize()`", ("torch.cuda.synchronize",), "name='PYTHON'"
    ),
    Row("torch.Tensor.xpu", "`x.to(device)`", ("torch.Tensor.xpu",), "device='PYTHON'"),
    Row("torch.Tensor.get_device", "`x.device`", ("torch.Tensor.get_device",)),
    Row("torch.Tensor.type np.astype", "`x.cast(dtype)`", ("f(x, dtype)",), "dtype=int32"),
    Row("np.row_stack", "`Tensor.vstack(x, y)`", ("f((x, y))",)),
    Row("np.append", "`Tensor.cat(x, y, axis=0)`", ("f(x, y, 0)",)),
    Row("np.vecmat", "`x @ y`", ("f(x, y)",), "x=v[:3]"),
    Row("np.vecdot", "`(x * y).sum(-1)`", ("f(x, y)",)),
    Row("torch.Tensor.pinverse", "`x.pinv()`", ("f(x)",)),
    Row("torch.sigmoid", "`x.sigmoid()`, or `nn.functional.sigmoid(x)`", ("f(x)", "f(x)")),
    Row("np.fabs", "`x.abs()`", ("f(x)",)),
    Row(
        "np.acos np.asin np.atan np.acosh np.asinh np.atanh",
        "`x.acos()`, `x.asin()`, `x.atan()`, `x.acosh()`, `x.asinh()`, `x.atanh()`",
        ("np.acos(x)", "np.asin(x)", "np.atan(x)", "np.acosh(x)", "np.asinh(x)", "np.atanh(x)"),
    ),
    Row("np.atan2", "`y.atan2(x)`", ("f(y, x)",)),
    Row(
        "np.rint np.around",
        "`x.round()`, `x.round(decimals)`",
        ("np.rint(x)", "np.around(x, decimals)"),
        "decimals=1",
    ),
    Row("np.modf", "`x.frac()`, `x.trunc()`", ("f(x)[0]", "f(x)[1]")),
    Row("np.cbrt", "`x.sign() * x.abs() ** (1 / 3)`", ("f(x)",)),
    Row("np.radians np.degrees", "`x.deg2rad()`, `x.rad2deg()`", ("np.radians(x)", "np.degrees(x)")),
    Row("torch.Tensor.nextafter np.nextafter", "`plugrad.array_api.nextafter(x, y)`", ("f(x, y)",)),
    Row("np.divmod", "`divmod(x, y)`", ("f(x, y)",)),
    Row("np.pow", "`x ** y`", ("f(x, y)",), "x=p"),
    Row("np.bitwise_not np.bitwise_invert", "`~x`", ("f(x)",), "x=i"),
    Row("np.permute_dims", "`x.permute(axes)`", ("f(x, axes)",), "axes=(1, 0)"),
    Row("np.rollaxis", "`x.movedim(a, b)`", ("f(x, a, b)",), "x=u, a=2, b=0"),
    Row(
        "np.cumulative_sum np.cumulative_prod",
        "`x.cumsum(axis)`, `x.cumprod(axis)`",
        ("np.cumulative_sum(x, axis=axis)", "np.cumulative_prod(x, axis=axis)"),
        "axis=1",
    ),
    Row("np.average", "`(x * weights).sum() / weights.sum()`", ("f(x, weights=weights)",), "weights=p"),
    Row("np.ediff1d", "`x.flatten().diff()`", ("f(x)",)),
    Row("np.trapezoid", "`((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1])).sum()`", ("f(y, x)",), "x=v, y=w"),
    Row(
        "np.broadcast_arrays np.unstack np.isdtype",
        "`array_api.broadcast_arrays(x, y)`, `array_api.unstack(x)`, `array_api.isdtype(x.dtype, kind)`",
        ("np.broadcast_arrays(x, y)", "np.unstack(x)", "np.isdtype(x.dtype, kind)"),
        'y=v, kind="integral"',
    ),
    Row(
        "np.unique_values np.unique_counts np.unique_inverse np.unique_all",
        "`array_api.unique_values(x)` and its like; `x.unique(return_counts=True)`, "
        "`x.unique(return_inverse=True)`",
        ("np.sort(np.unique_values(x))", "np.unique_counts(x)", "np.unique_inverse(x)"),
        "x=j",
    ),
    Row("torch.Tensor.sum_to_size", "`x.sum(axes, keepdim=True)`", ("f(x, (1, 4))",), "axes=0"),
    Row(
        "torch.Tensor.narrow_copy torch.Tensor.index",
        "`x[:, a:b]`, `x[index]`",
        ("torch.Tensor.narrow_copy(x, 1, a, b - a)", "torch.Tensor.index"),
        "a=1, b=3, index=k.long()",
    ),
    Row("np.compress", "`x[mask]`", ("f(mask, x, 0)",), "mask=[True, False, True]"),
    Row("np.choose", "`Tensor.stack(x, y).gather(0, index[None])[0]`", ("f(index, (x, y))",), "index=b * 1"),
    Row(
        "torch.Tensor.put",
        "`x.flatten().scatter(0, index, y)`",
        ("f(x, index, y).flatten()",),
        "index=k.long(), y=v[:3]",
    ),
    Row("np.place np.putmask", "`x[mask] = y`", ("[f(x, mask, y), x][1]",), "mask=b, y=2"),
    Row(
        "torch.Tensor.index_reduce",
        "`x.scatter_reduce(axis, index, y, how)`, with `index.expand(*y.shape)` for positions of whole rows",
        ("f(x, axis, k.long(), y, how)", "k[:, None].expand(3, 4)"),
        'axis=0, how="amax", index=k[:, None].expand(3, 4)',
    ),
    Row("np.flatnonzero", "`x.flatten().nonzero()`", ("f(x)[:, None]",), "x=b"),
    Row("torch.Tensor.nonzero_static", "`x.nonzero(size=n)`", ("f(x, size=n)",), "x=b, n=6"),
    Row(
        "np.digitize",
        "`bins.searchsorted(x, right=True)`",
        ("f(x, bins)",),
        "x=v, bins=p.flatten().cumsum(0)",
    ),
    Row("np.isin", "`(x.unsqueeze(-1) == y).any(-1)`", ("f(x, y)",), "x=i, y=k"),
    Row("np.percentile", "`x.quantile(q / 100)`", ("f(x, q)",), "q=30"),
    Row(
        "np.nanprod np.nancumprod np.nancumsum",
        "`x.masked_fill(x.isnan(), 1).prod(axis)`, `x.masked_fill(x.isnan(), 1).cumprod(axis)`, "
        "`x.masked_fill(x.isnan(), 0).cumsum(axis)`",
        ("np.nanprod(x, axis)", "np.nancumprod(x, axis)", "np.nancumsum(x, axis)"),
        "x=n[:, :2], axis=1",
    ),
    Row(
        "np.nanmax np.nanmin np.nanargmax np.nanargmin",
        '`x.masked_fill(x.isnan(), -float("inf")).max(axis)`, '
        '`x.masked_fill(x.isnan(), float("inf")).min(axis)`; or their `argmax`, `argmin`',
        ("np.nanmax(x, axis)", "np.nanmin(x, axis)", "np.nanargmax", "np.nanargmin"),
        "x=n[:, :2], axis=1, argmax=x.argmax, argmin=x.argmin",
    ),
    Row(
        "torch.Tensor.split_with_sizes",
        "`x.split(sizes, axis)`",
        ("f(x, sizes, axis)",),
        "sizes=(1, 3), axis=1",
    ),
    Row(
        "torch.Tensor.unsafe_split torch.Tensor.unsafe_split_with_sizes torch.Tensor.unsafe_chunk",
        "`x.split(2)`, `x.split((1, 2))`, `x.chunk(2)`",
        (
            "torch.Tensor.unsafe_split(x, 2)",
            "torch.Tensor.unsafe_split_with_sizes(x, (1, 2))",
            "torch.Tensor.unsafe_chunk(x, 2)",
        ),
    ),
    Row("np.identity", "`Tensor.eye(n)`", ("f(n)",), "n=3"),
    Row(
        "np.geomspace",
        "`Tensor.linspace(math.log(a), math.log(b), n).exp()`",
        ("f(a, b, n)",),
        "a=1, b=8, n=4",
    ),
    Row(
        "np.tril_indices np.triu_indices",
        "`Tensor.ones(n, n).tril().nonzero()`, `Tensor.ones(n, n).triu().nonzero()`",
        ("np.stack(np.tril_indices(n), 1)", "np.stack(np.triu_indices(n), 1)"),
        "n=3",
    ),
    Row(
        "np.tril_indices_from np.triu_indices_from",
        "`x.ones_like().tril().nonzero()`, `x.ones_like().triu().nonzero()`",
        ("np.stack(np.tril_indices_from(x), 1)", "np.stack(np.triu_indices_from(x), 1)"),
    ),
    Row("np.polyval", "`y = y * x + c` for each coefficient", ("f([y, c], x)",), "y=2, c=5"),
    Row(
        "np.lexsort",
        "`argsort` by each key, the last one first, as it is stable: `(o := a.argsort())[b[o].argsort()]`",
        ("np.lexsort", "f((a, b))"),
        "a=v[[0, 1, 2, 0]], b=v[[1, 0, 1, 0]], argsort=v.argsort",
    ),
    Row(
        "np.load np.fromfile np.loadtxt np.genfromtxt np.fromregex np.fromstring",
        "`Tensor(np.load(path))`, and so on; `Tensor(pathlib.Path(path))` for bytes",
        ("np.load(path)", "np.fromfile(path, np.uint8)"),
        'path=folder / "array.npy"',
    ),
    Row(
        "np.savez np.savez_compressed np.savetxt",
        "`nn.state.safe_save(tensors, path)`; `np.savetxt(path, x.numpy())`",
        ("np.savez(path, **tensors)", "np.savetxt(path, x)"),
        'tensors={"x": x}, path=folder / "saved"',
    ),
    Row(
        "np.apply_along_axis np.apply_over_axes np.fromfunction np.fromiter np.frompyfunc np.piecewise",
        "`transforms.vmap(function)(x)`, for functions of tensors",
        ("np.apply_along_axis(function, 1, x)",),
        "function=lambda row: row.sum()",
    ),
    Row(
        "np.random.default_rng",
        "`Tensor.manual_seed(n)`, then `Tensor.rand(3, 4)` and its like",
        ("np.random.default_rng", "np.random.default_rng"),
        "n=3",
    ),
    Row(
        "np.promote_types np.result_type np.can_cast",
        "`array_api.result_type(a, b)`, `array_api.can_cast(a, b)`",
        ("np.promote_types(a, b)", "np.can_cast(a, b)"),
        "a=i.dtype, b=b.dtype",
    ),
    Row(
        "torch.nn.functional.bilinear",
        '`nn.Bilinear(4, 4, 2)`, or `Tensor.einsum("bi,oij,bj->bo", x, w, y)`',
        ("torch.nn.functional.bilinear", "f(x, y, w)"),
        "w=u.reshape(2, 3, 4)[:, [0, 1, 2, 0]]",
    ),
    Row(
        "torch.nn.functional.channel_shuffle",
        "`x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)`",
        ("f(x, groups)",),
        "x=image, groups=2",
    ),
    Row(
        "torch.nn.functional.gumbel_softmax",
        "`((x - (-Tensor.rand(*x.shape).log()).log()) / tau).softmax(-1)`",
        ("torch.nn.functional.gumbel_softmax",),
        "tau=1.0",
    ),
    Row(
        "torch.nn.functional.upsample torch.nn.functional.upsample_nearest",
        "`x.interpolate(size)`",
        ("f(x, size)",),
        "x=image, size=(6, 8)",
    ),
    Row(
        "torch.nn.functional.upsample_bilinear",
        '`x.interpolate(size, mode="bilinear", align_corners=True)`',
        ("f(x, size)",),
        "x=image, size=(6, 8)",
    ),
    Row(
        "torch.nn.functional.margin_ranking_loss",
        "`(margin - y * (a - b)).relu().mean()`",
        ("f(a, b, y, margin)",),
        "a=x, b=p, y=x.sign(), margin=0.5",
    ),
    Row(
        "torch.nn.functional.hinge_embedding_loss",
        "`(y == 1).where(x, (margin - x).relu()).mean()`",
        ("f(x, y, margin)",),
        "y=y.sign(), margin=1.0",
    ),
    Row("torch.nn.functional.soft_margin_loss", "`(-y * x).softplus().mean()`", ("f(x, y)",), "y=y.sign()"),
    Row("torch.nn.functional.poisson_nll_loss", "`(x.exp() - y * x).mean()`", ("f(x, y)",), "y=p"),
    Row(
        "torch.nn.functional.gaussian_nll_loss",
        "`0.5 * (v.log() + (x - y) ** 2 / v).mean()`",
        ("f(x, y, v)",),
        "v=p",
    ),
    Row(
        "torch.nn.functional.multilabel_soft_margin_loss",
        "`x.binary_cross_entropy_with_logits(y)`",
        ("f(x, y)",),
        "y=b * 1.0",
    ),
    Row(
        "torch.nn.functional.triplet_margin_with_distance_loss",
        "`(distance(a, p) - distance(a, n) + margin).relu().mean()`",
        ("f(a, p, n, distance_function=distance, margin=margin)",),
        "a=x, p=y, n=p, margin=0.5, distance=lambda x, y: (x - y).abs().sum(-1)",
    ),
    Row(
        "torch.nn.functional.lp_pool1d torch.nn.functional.lp_pool2d torch.nn.functional.lp_pool3d",
        "`((x ** p).avg_pool1d(k) * k) ** (1 / p)`, `((x ** p).avg_pool2d(k) * k * k) ** (1 / p)`, and so on",
        ("torch.nn.functional.lp_pool1d(x, p, k)", "torch.nn.functional.lp_pool2d(x, p, k)"),
        "x=image[0].abs(), p=3.0, k=2",
    ),
    Row(
        "torch.nn.functional.multi_head_attention_forward",
        "`nn.MultiheadAttention(4, 2)`",
        ("torch.nn.functional.multi_head_attention_forward",),
    ),
)


_COMPLEX = "of complex numbers there are the parts, angles and conjugates"
_MEMORY = "how elements lie in memory is the compiler's affair"
#: What there is nothing for: the reason, and the names.
NOT_HERE: dict[str, str] = {
    _COMPLEX: (
        "torch.Tensor.adjoint torch.Tensor.cdouble torch.Tensor.cfloat torch.Tensor.chalf "
        "torch.Tensor.conj_physical torch.Tensor.is_conj torch.Tensor.is_neg torch.Tensor.isreal "
        "torch.Tensor.resolve_conj torch.Tensor.resolve_neg torch.Tensor.eig np.conjugate "
        "np.real_if_close np.iscomplex np.iscomplexobj np.isreal "
        "np.isrealobj np.sort_complex "
        "np.roots np.unwrap"
    ),
    _MEMORY: (
        "torch.Tensor.as_strided torch.Tensor.as_strided_scatter torch.Tensor.const_data_ptr "
        "torch.Tensor.data_ptr "
        "torch.Tensor.dim_order torch.Tensor.is_contiguous torch.Tensor.is_pinned torch.Tensor.is_set_to "
        "torch.Tensor.is_shared torch.Tensor.layout torch.Tensor.new_empty_strided torch.Tensor.pin_memory "
        "torch.Tensor.resize torch.Tensor.resize_as torch.Tensor.slice_inverse torch.Tensor.storage "
        "torch.Tensor.storage_offset torch.Tensor.storage_type torch.Tensor.stride "
        "torch.Tensor.untyped_storage "
        "np.asfortranarray np.isfortran np.may_share_memory np.shares_memory np.require np.resize"
    ),
    "no sparse or nested tensors": (
        "torch.Tensor.ccol_indices torch.Tensor.coalesce torch.Tensor.col_indices torch.Tensor.crow_indices "
        "torch.Tensor.dense_dim torch.Tensor.indices torch.Tensor.is_coalesced torch.Tensor.is_nested "
        "torch.Tensor.is_sparse torch.Tensor.is_sparse_csr torch.Tensor.row_indices torch.Tensor.smm "
        "torch.Tensor.sparse_dim torch.Tensor.sparse_mask torch.Tensor.sspaddmm torch.Tensor.to_dense "
        "torch.Tensor.to_padded_tensor torch.Tensor.to_sparse torch.Tensor.to_sparse_bsc "
        "torch.Tensor.to_sparse_bsr torch.Tensor.to_sparse_coo torch.Tensor.to_sparse_csc "
        "torch.Tensor.to_sparse_csr torch.Tensor.values"
    ),
    "no quantized tensors: GGUF files are dequantized": (
        "torch.Tensor.dequantize torch.Tensor.int_repr torch.Tensor.is_quantized "
        "torch.Tensor.q_per_channel_axis torch.Tensor.q_per_channel_scales "
        "torch.Tensor.q_per_channel_zero_points torch.Tensor.q_scale torch.Tensor.q_zero_point "
        "torch.Tensor.qscheme torch.nn.functional.scaled_mm torch.nn.functional.scaled_grouped_mm"
    ),
    "gradients are graphs that are asked for: no tape, no hooks": (
        "torch.Tensor.grad_dtype torch.Tensor.grad_fn torch.Tensor.is_inference torch.Tensor.is_leaf "
        "torch.Tensor.output_nr torch.Tensor.register_hook torch.Tensor.register_post_accumulate_grad_hook "
        "torch.Tensor.reinforce torch.Tensor.retain_grad torch.Tensor.retains_grad torch.Tensor.volatile"
    ),
    "PyTorch's own machinery": (
        "torch.Tensor.as_subclass torch.Tensor.hash_tensor torch.Tensor.ipu torch.Tensor.is_cpu "
        "torch.Tensor.is_cuda torch.Tensor.is_distributed torch.Tensor.is_ipu torch.Tensor.is_maia "
        "torch.Tensor.is_meta torch.Tensor.is_mkldnn torch.Tensor.is_mps torch.Tensor.is_mtia "
        "torch.Tensor.is_nonzero torch.Tensor.is_same_size torch.Tensor.is_signed torch.Tensor.is_vulkan "
        "torch.Tensor.is_xla torch.Tensor.is_xpu torch.Tensor.module_load "
        "torch.Tensor.mtia torch.Tensor.name "
        "torch.Tensor.new torch.Tensor.record_stream torch.Tensor.to_mkldnn "
        "torch.nn.functional.assert_int_or_pair torch.nn.functional.boolean_dispatch "
        "torch.nn.functional.handle_torch_function torch.nn.functional.has_torch_function "
        "torch.nn.functional.has_torch_function_unary torch.nn.functional.has_torch_function_variadic "
        "torch.nn.functional.native_channel_shuffle torch.nn.functional.linear_cross_entropy "
        "torch.nn.functional.grouped_mm torch.nn.functional.conv_tbc "
        "torch.nn.functional.adaptive_max_pool1d_with_indices "
        "torch.nn.functional.adaptive_max_pool2d_with_indices "
        "torch.nn.functional.adaptive_max_pool3d_with_indices torch.nn.functional.max_pool1d_with_indices "
        "torch.nn.functional.max_pool2d_with_indices torch.nn.functional.max_pool3d_with_indices"
    ),
    "NumPy's own machinery: text, dates, error states, structured dtypes": (
        "np.array2string np.array_repr np.array_str np.asarray_chkfinite np.asmatrix np.bmat np.base_repr "
        "np.binary_repr np.busday_count np.busday_offset np.common_type "
        "np.datetime_as_string np.datetime_data "
        "np.einsum_path np.format_float_positional np.format_float_scientific np.get_include "
        "np.get_printoptions np.getbufsize np.geterr np.geterrcall np.info np.is_busday np.isnat np.isscalar "
        "np.issubdtype np.iterable np.min_scalar_type np.mintypecode np.nested_iters np.printoptions "
        "np.set_printoptions np.setbufsize np.seterr np.seterrcall np.show_config np.show_runtime np.test "
        "np.typename np.array_equiv np.broadcast_shapes np.mask_indices np.ix_"
    ),
    "special functions that are not here": (
        "torch.Tensor.digamma torch.Tensor.erfinv torch.Tensor.i0 torch.Tensor.igamma torch.Tensor.igammac "
        "torch.Tensor.lgamma torch.Tensor.mvlgamma torch.Tensor.polygamma "
        "torch.Tensor.frexp torch.Tensor.gcd "
        "torch.Tensor.lcm np.frexp np.gcd np.lcm np.i0 np.spacing np.bitwise_count np.packbits np.unpackbits"
    ),
    "factorizations and products of matrices that are not here": (
        "torch.Tensor.cholesky_inverse torch.Tensor.cholesky_solve torch.Tensor.geqrf torch.Tensor.lu "
        "torch.Tensor.lu_solve torch.Tensor.matrix_exp torch.Tensor.orgqr torch.Tensor.ormqr "
        "torch.Tensor.symeig torch.Tensor.triangular_solve"
    ),
    "statistics, sets and signals that are not here": (
        "torch.Tensor.corrcoef torch.Tensor.cov torch.Tensor.histogram torch.Tensor.mode "
        "torch.Tensor.nanmedian torch.Tensor.nanquantile torch.Tensor.renorm torch.Tensor.stft "
        "torch.Tensor.istft torch.Tensor.unique_consecutive np.bartlett np.blackman np.convolve np.corrcoef "
        "np.correlate np.cov np.gradient np.hamming np.hanning np.histogram2d np.histogram_bin_edges "
        "np.histogramdd np.interp np.intersect1d np.kaiser np.nanmedian np.nanpercentile np.nanquantile "
        "np.nanstd np.nanvar np.setdiff1d np.setxor1d np.union1d np.poly np.polyadd np.polyder np.polydiv "
        "np.polyfit np.polyint np.polymul np.polysub"
    ),
    "index arithmetic that `where`, `cat` and indexing are enough for": (
        "torch.Tensor.diagflat torch.Tensor.diagonal_scatter torch.Tensor.masked_scatter np.block np.delete "
        "np.diag_indices np.diag_indices_from np.diagflat np.fill_diagonal np.indices np.insert "
        "np.ravel_multi_index np.select np.trim_zeros np.unravel_index"
    ),
    "layers and losses that are not here": (
        "torch.nn.functional.affine_grid torch.nn.functional.embedding_bag torch.nn.functional.fold "
        "torch.nn.functional.fractional_max_pool2d torch.nn.functional.fractional_max_pool2d_with_indices "
        "torch.nn.functional.fractional_max_pool3d torch.nn.functional.fractional_max_pool3d_with_indices "
        "torch.nn.functional.local_response_norm torch.nn.functional.multi_margin_loss "
        "torch.nn.functional.multilabel_margin_loss torch.nn.functional.pdist torch.nn.functional.rrelu"
    ),
}
