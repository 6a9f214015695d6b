"""The methods of reductions: over one axis, several, or all."""

from plugrad.tensor.reduce import norms, reduce, scan, softmaxes, statistics


class ReduceMixin:
    """Sums, extremes, moments, norms, statistics and scans."""

    __slots__ = ()

    # sums, extremes, moments, softmax
    sum = reduce.sum
    prod = reduce.prod
    max = reduce.max
    min = reduce.min
    any = reduce.any
    all = reduce.all
    mean = reduce.mean
    var = reduce.var
    std = reduce.std
    argmax = reduce.argmax
    argmin = reduce.argmin
    softmax = softmaxes.softmax
    log_softmax = softmaxes.log_softmax
    logsumexp = softmaxes.logsumexp

    # norms, and statistics in pairs
    norm = norms.norm
    normalize = norms.normalize
    softmin = norms.softmin
    var_mean = norms.var_mean
    std_mean = norms.std_mean
    amax = norms.amax
    amin = norms.amin
    aminmax = norms.aminmax
    ptp = norms.ptp

    # differences, covariances, choices, what leaves NaN out
    diff = statistics.diff
    cov = statistics.cov
    corrcoef = statistics.corrcoef
    dist = statistics.dist
    vander = statistics.vander
    cartesian_prod = statistics.cartesian_prod
    combinations = statistics.combinations
    nansum = statistics.nansum
    nanmean = statistics.nanmean

    # running sums, products, extremes
    cumsum = scan.cumsum
    cumprod = scan.cumprod
    cummax = scan.cummax
    cummin = scan.cummin
    logcumsumexp = scan.logcumsumexp
