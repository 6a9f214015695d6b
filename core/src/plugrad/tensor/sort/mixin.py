"""The methods that put elements in order, or look for them in one."""

from plugrad.tensor.sort import distinct, order, search, selection


class SortMixin:
    """Sorting, ranks, searching, distinct elements."""

    __slots__ = ()

    # sorting, medians, quantiles
    sort = order.sort
    argsort = order.argsort
    topk = order.topk
    median = order.median
    quantile = order.quantile
    count_nonzero = order.count_nonzero

    # one element of each row
    msort = selection.msort
    kthvalue = selection.kthvalue
    nanmedian = selection.nanmedian
    mode = selection.mode

    # positions of elements
    searchsorted = search.searchsorted
    nonzero = search.nonzero
    argwhere = search.nonzero
    masked_select = search.masked_select
    repeat_interleave = search.repeat_interleave

    # distinct elements and slices
    unique_consecutive = distinct.unique_consecutive
    unique = distinct.unique
    bincount = distinct.bincount
    histc = distinct.histc
