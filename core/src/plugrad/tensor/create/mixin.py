"""The methods that make tensors of nothing, of a shape, or of random numbers."""

from plugrad.tensor.create import creation, draws, likeness


class CreateMixin:
    """Constants, ranges, random numbers, tensors like others."""

    __slots__ = ()

    # constants and ranges
    full = classmethod(creation.full)
    zeros = classmethod(creation.zeros)
    ones = classmethod(creation.ones)
    empty = classmethod(creation.empty)
    arange = classmethod(creation.arange)
    linspace = classmethod(creation.linspace)
    logspace = classmethod(creation.logspace)
    eye = classmethod(creation.eye)

    # shapes and dtypes of others
    full_like = likeness.full_like
    zeros_like = likeness.zeros_like
    ones_like = likeness.ones_like
    empty_like = likeness.empty_like
    new_full = likeness.new_full
    new_zeros = likeness.new_zeros
    new_ones = likeness.new_ones
    new_empty = likeness.new_empty
    new_tensor = likeness.new_tensor
    rand_like = likeness.rand_like
    randn_like = likeness.randn_like
    randint_like = likeness.randint_like

    # random numbers
    manual_seed = classmethod(draws.manual_seed)
    rand = classmethod(draws.rand)
    randn = classmethod(draws.randn)
    bernoulli = draws.bernoulli
    randint = classmethod(draws.randint)
    uniform = classmethod(draws.uniform)
    normal = classmethod(draws.normal)
    scaled_uniform = classmethod(draws.scaled_uniform)
    glorot_uniform = classmethod(draws.glorot_uniform)
    kaiming_uniform = classmethod(draws.kaiming_uniform)
    kaiming_normal = classmethod(draws.kaiming_normal)
