"""The methods that read and write elements by position."""

from plugrad.tensor.indexing import advanced, sampling, scatter_views
from plugrad.tensor.indexing import gather as gathers


class IndexingMixin:
    """Indices, gather and scatter, parts of views, samples."""

    __slots__ = ()

    # reading and writing by an index, and writing into a copy
    __getitem__ = advanced.__getitem__
    __setitem__ = advanced.__setitem__
    index_put = advanced.index_put
    take = advanced.take
    index_add = advanced.index_add
    index_copy = advanced.index_copy
    index_fill = advanced.index_fill
    scatter_add = advanced.scatter_add

    # reading and writing along an axis
    gather = gathers.gather
    take_along_axis = gathers.take_along_axis
    index_select = gathers.index_select
    scatter = gathers.scatter
    scatter_reduce = gathers.scatter_reduce

    # views with other elements in a part
    select_scatter = scatter_views.select_scatter
    slice_scatter = scatter_views.slice_scatter
    diagonal_scatter = scatter_views.diagonal_scatter
    masked_scatter = scatter_views.masked_scatter
    take_along_dim = scatter_views.take_along_dim

    # random choices
    randperm = classmethod(sampling.randperm)
    multinomial = sampling.multinomial
