"""Names of other libraries that plugrad has not as methods: what to write, or why there is nothing.

`migrating.py` makes tables of both. Names that come to `names/` leave these by themselves.
"""

#: Where plugrad has no method of that name: (the others' names, what to write).
OTHERWISE: tuple[tuple[str, str], ...] = (
    ("torch.Tensor.add_", "`x += y`"),
    ("torch.Tensor.index_put_", "`x[index] = y`"),
    ("torch.Tensor.masked_fill_", "`x[mask] = y`, or `x.assign(x.masked_fill(mask, y))`"),
    (
        "torch.nn.ParameterList torch.nn.ParameterDict",
        "a list or a dict as an attribute: both are looked through, and names are the same",
    ),
    ("torch.nn.Softmax2d", "`nn.Softmax(-3)`"),
    ("torch.nn.UpsamplingNearest2d", "`nn.Upsample(size)`"),
    ("torch.nn.UpsamplingBilinear2d", '`nn.Upsample(size, mode="bilinear", align_corners=True)`'),
    ("torch.optim.lr_scheduler.MultiplicativeLR", "`nn.schedulers.LambdaLR` of the products"),
    ("torch.allclose", "`x.allclose(y)`"),
    ("torch.tensor np.array np.asanyarray", "`Tensor(data)`"),
    ("torch.from_numpy", "`Tensor(array, copy=False)`"),
    ("torch.cuda.synchronize", "`Device[name].synchronize()`"),
    ("torch.Tensor.xpu", "`x.to(device)`"),
    ("torch.Tensor.get_device", "`x.device`"),
    ("torch.Tensor.type np.astype", "`x.cast(dtype)`"),
    ("np.row_stack", "`Tensor.vstack(x, y)`"),
    ("np.concatenate np.concat np.append", "`Tensor.cat(x, y, axis=0)`"),
    ("np.vecmat", "`x @ y`"),
    ("np.vecdot", "`(x * y).sum(-1)`"),
    ("torch.Tensor.pinverse", "`x.pinv()`"),
    ("torch.sigmoid", "`x.sigmoid()`, or `nn.functional.sigmoid(x)`"),
    ("np.fabs", "`x.abs()`"),
    ("np.acos np.asin np.atan np.acosh np.asinh np.atanh", "the methods of these names"),
    ("np.atan2", "`y.atan2(x)`"),
    ("np.rint np.around", "`x.round()`, `x.round(decimals)`"),
    ("np.modf", "`x.frac()`, `x.trunc()`"),
    ("np.cbrt", "`x.sign() * x.abs() ** (1 / 3)`"),
    ("np.radians np.degrees", "`x.deg2rad()`, `x.rad2deg()`"),
    ("torch.Tensor.nextafter np.nextafter", "`plugrad.array_api.nextafter`"),
    ("np.divmod", "`divmod(x, y)`"),
    ("np.pow", "`x ** y`"),
    ("np.bitwise_not np.bitwise_invert", "`~x`"),
    (
        "np.transpose np.permute_dims",
        "`x.permute(...)`; `x.T` for a matrix, `x.mT` for several",
    ),
    ("np.rollaxis", "`x.movedim(a, b)`"),
    ("np.sum", "`x.sum(axis)`"),
    ("np.cumulative_sum np.cumulative_prod", "`x.cumsum(axis)`, `x.cumprod(axis)`"),
    ("np.average", "`(x * weights).sum() / weights.sum()`"),
    ("np.dot", "`x.dot(y)`"),
    ("np.ravel torch.Tensor.ravel", "`x.flatten()`"),
    ("np.ediff1d", "`x.flatten().diff()`"),
    ("np.trapezoid", "`((y[1:] + y[:-1]) / 2 * (x[1:] - x[:-1])).sum()`"),
    ("np.broadcast_arrays np.unstack np.isdtype", "the functions of `plugrad.array_api`"),
    (
        "np.unique_all np.unique_counts np.unique_inverse np.unique_values",
        "`x.unique(...)`; `plugrad.array_api`",
    ),
    ("torch.Tensor.sum_to_size", "`x.sum(axes, keepdim=True)`"),
    ("torch.Tensor.narrow_copy torch.Tensor.select torch.Tensor.index", "`x[:, a:b]`, `x[:, i]`, `x[index]`"),
    ("torch.Tensor.take np.compress np.extract np.choose", "`x.flatten()[index]`; `x[mask]`"),
    ("torch.Tensor.put np.place np.putmask", "`x.flatten().scatter(0, index, y)`; `x[mask] = y`"),
    ("torch.Tensor.index_reduce", "`x.scatter_reduce(axis, index, y, how)`"),
    ("np.flatnonzero", "`x.flatten().nonzero()`"),
    ("torch.Tensor.nonzero_static", "`x.nonzero(size=n)`"),
    ("np.digitize", "`bins.searchsorted(x, right=True)`"),
    ("np.isin", "`(x.unsqueeze(-1) == y).any(-1)`"),
    ("np.percentile", "`x.quantile(q / 100)`"),
    (
        "np.nanprod np.nancumsum np.nancumprod",
        "`x.masked_fill(x.isnan(), 1).prod(axis)`; 0 for sums",
    ),
    ("np.nanmax np.nanmin np.nanargmax np.nanargmin", '`x.isnan().where(-float("inf"), x).max(axis)`'),
    (
        "torch.Tensor.split_with_sizes",
        "`x.split(sizes, axis)`, `x.chunk(n, axis)`",
    ),
    (
        "torch.Tensor.unsafe_split torch.Tensor.unsafe_chunk torch.Tensor.unsafe_split_with_sizes",
        "`x.split(...)`",
    ),
    ("np.identity", "`Tensor.eye(n)`"),
    ("np.geomspace", "`Tensor.linspace(math.log(a), math.log(b), n).exp()`"),
    (
        "np.tril_indices np.triu_indices np.tril_indices_from np.triu_indices_from",
        "`Tensor.ones(n, n).tril().nonzero()`",
    ),
    ("np.polyval", "one `y = y * x + c` a coefficient"),
    ("np.lexsort", "`argsort` by each key, the last one first: it is stable"),
    (
        "np.load np.loadtxt np.genfromtxt np.fromregex np.fromstring np.fromfile",
        "`Tensor(np.load(path))`; `Tensor(pathlib.Path(path))` for bytes",
    ),
    (
        "np.savez np.savez_compressed np.savetxt",
        "`nn.state.safe_save(tensors, path)`; `np.savetxt(path, x.numpy())`",
    ),
    (
        "np.fromfunction np.fromiter np.frompyfunc np.apply_along_axis np.apply_over_axes np.piecewise",
        "`transforms.vmap(function)`, for functions of tensors",
    ),
    ("np.random.default_rng", "`Tensor.manual_seed(n)`, then `Tensor.rand` and its like"),
    ("np.promote_types np.result_type np.can_cast", "`plugrad.array_api.result_type(a, b)`, `can_cast`"),
    ("torch.nn.functional.embedding", "`nn.Embedding`, or `weight[index]`"),
    ("torch.nn.functional.bilinear", '`nn.Bilinear`, or `Tensor.einsum("bi,oij,bj->bo", x, w, y)`'),
    ("torch.nn.functional.channel_shuffle", "`x.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)`"),
    (
        "torch.nn.functional.gumbel_softmax",
        "`((x - (-Tensor.rand(*x.shape).log()).log()) / tau).softmax(-1)`",
    ),
    (
        "torch.nn.functional.upsample torch.nn.functional.upsample_nearest "
        "torch.nn.functional.upsample_bilinear",
        "`x.interpolate(size, mode=...)`",
    ),
    ("torch.nn.functional.margin_ranking_loss", "`(margin - y * (a - b)).relu().mean()`"),
    ("torch.nn.functional.hinge_embedding_loss", "`(y == 1).where(x, (margin - x).relu()).mean()`"),
    ("torch.nn.functional.soft_margin_loss", "`(-y * x).softplus().mean()`"),
    ("torch.nn.functional.poisson_nll_loss", "`(x.exp() - y * x).mean()`"),
    ("torch.nn.functional.gaussian_nll_loss", "`0.5 * (v.log() + (x - y) ** 2 / v).mean()`"),
    ("torch.nn.functional.multilabel_soft_margin_loss", "`x.binary_cross_entropy_with_logits(y)`"),
    ("torch.nn.functional.triplet_margin_with_distance_loss", "`(f(a, p) - f(a, n) + margin).relu().mean()`"),
    (
        "torch.nn.functional.lp_pool1d torch.nn.functional.lp_pool2d torch.nn.functional.lp_pool3d",
        "`((x ** p).avg_pool2d(k) * k * k) ** (1 / p)`",
    ),
    ("torch.nn.functional.multi_head_attention_forward", "`nn.MultiheadAttention`"),
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
