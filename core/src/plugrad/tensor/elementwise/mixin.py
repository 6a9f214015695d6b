"""The methods of elements: operators, arithmetic, and functions of one or several operands."""

from __future__ import annotations

from plugrad.dtype import Number
from plugrad.tensor.base import Tensor
from plugrad.tensor.elementwise import (
    activations,
    arithmetic,
    bits,
    choices,
    comparing,
    complex_numbers,
    elementwise,
    formulas,
    operators,
    special,
)


class ElementwiseMixin:
    """Operators, arithmetic, comparisons, and functions of elements."""

    __slots__ = ()

    # Python's operators
    __add__ = operators.__add__
    __radd__ = operators.__radd__
    __sub__ = arithmetic.sub
    __rsub__ = operators.__rsub__
    __mul__ = arithmetic.mul
    __rmul__ = operators.__rmul__
    __truediv__ = arithmetic.div
    __rtruediv__ = operators.__rtruediv__
    __floordiv__ = arithmetic.floordiv
    __rfloordiv__ = operators.__rfloordiv__
    __mod__ = arithmetic.mod
    __rmod__ = operators.__rmod__
    __divmod__ = operators.__divmod__
    __rdivmod__ = operators.__rdivmod__
    __pow__ = operators.__pow__
    __rpow__ = operators.__rpow__
    __and__ = bits.bitwise_and
    __rand__ = bits.bitwise_and
    __or__ = bits.bitwise_or
    __ror__ = bits.bitwise_or
    __xor__ = bits.bitwise_xor
    __rxor__ = bits.bitwise_xor
    __invert__ = bits.bitwise_not
    __lshift__ = bits.lshift
    __rlshift__ = operators.__rlshift__
    __rshift__ = bits.rshift
    __rrshift__ = operators.__rrshift__
    __lt__ = comparing.lt
    __gt__ = comparing.gt
    __le__ = comparing.le
    __ge__ = comparing.ge
    __iadd__ = operators.in_place("__iadd__", __add__)
    __isub__ = operators.in_place("__isub__", __sub__)
    __imul__ = operators.in_place("__imul__", __mul__)
    __itruediv__ = operators.in_place("__itruediv__", __truediv__)
    __ifloordiv__ = operators.in_place("__ifloordiv__", __floordiv__)
    __imod__ = operators.in_place("__imod__", __mod__)
    __ipow__ = operators.in_place("__ipow__", __pow__)
    __iand__ = operators.in_place("__iand__", __and__)
    __ior__ = operators.in_place("__ior__", __or__)
    __ixor__ = operators.in_place("__ixor__", __xor__)
    __ilshift__ = operators.in_place("__ilshift__", __lshift__)
    __irshift__ = operators.in_place("__irshift__", __rshift__)

    # tensors are keys by identity
    __hash__ = object.__hash__

    # these two stand here, or the checker takes their types from `object`
    def __eq__(self: Tensor, other: Tensor | Number) -> Tensor:  # pyright: ignore
        return self.eq(other) if operators.may_be_numbers(other) else NotImplemented

    def __ne__(self: Tensor, other: Tensor | Number) -> Tensor:  # pyright: ignore
        return self.ne(other) if operators.may_be_numbers(other) else NotImplemented

    # arithmetic
    add = arithmetic.add
    sub = arithmetic.sub
    mul = arithmetic.mul
    div = arithmetic.div
    floordiv = arithmetic.floordiv
    mod = arithmetic.mod
    pow = arithmetic.pow

    # comparisons and logic
    eq = comparing.eq
    ne = comparing.ne
    lt = comparing.lt
    le = comparing.le
    gt = comparing.gt
    ge = comparing.ge
    less = comparing.lt
    less_equal = comparing.le
    greater = comparing.gt
    greater_equal = comparing.ge
    not_equal = comparing.ne
    equal = comparing.equal
    logical_not = comparing.logical_not
    logical_and = comparing.logical_and
    logical_or = comparing.logical_or
    logical_xor = comparing.logical_xor

    # choices and limits
    where = choices.where
    masked_fill = choices.masked_fill
    maximum = choices.maximum
    minimum = choices.minimum
    clamp = choices.clamp
    clip = choices.clamp

    # bits
    bitwise_and = bits.bitwise_and
    bitwise_or = bits.bitwise_or
    bitwise_xor = bits.bitwise_xor
    bitwise_not = bits.bitwise_not
    lshift = bits.lshift
    rshift = bits.rshift

    # complex numbers and their parts
    complex = classmethod(complex_numbers.complex)
    polar = classmethod(complex_numbers.polar)
    real = complex_numbers.real
    imag = complex_numbers.imag
    conj = complex_numbers.conj
    angle = complex_numbers.angle
    view_as_real = complex_numbers.view_as_real
    view_as_complex = complex_numbers.view_as_complex
    mH = complex_numbers.mH
    H = complex_numbers.H

    # exponentials, roots, rounding, signs
    exp2 = elementwise.exp2
    exp = elementwise.exp
    log2 = elementwise.log2
    log = elementwise.log
    log10 = elementwise.log10
    sqrt = elementwise.sqrt
    rsqrt = elementwise.rsqrt
    reciprocal = elementwise.reciprocal
    square = elementwise.square
    sin = elementwise.sin
    cos = elementwise.cos
    tan = elementwise.tan
    trunc = elementwise.trunc
    floor = elementwise.floor
    ceil = elementwise.ceil
    round = elementwise.round
    __round__ = elementwise.__round__
    neg = elementwise.neg
    __neg__ = elementwise.neg
    __pos__ = elementwise.positive
    abs = elementwise.abs
    __abs__ = elementwise.abs
    sign = elementwise.sign
    isnan = elementwise.isnan
    isinf = elementwise.isinf
    isfinite = elementwise.isfinite

    # angles, hyperbolic and special functions
    expm1 = special.expm1
    log1p = special.log1p
    sinh = special.sinh
    cosh = special.cosh
    asinh = special.asinh
    acosh = special.acosh
    atanh = special.atanh
    asin = special.asin
    acos = special.acos
    atan = special.atan
    atan2 = special.atan2
    erf = special.erf
    erfc = special.erfc
    erfinv = special.erfinv
    lgamma = special.lgamma
    digamma = special.digamma
    hypot = special.hypot
    logaddexp = special.logaddexp
    copysign = special.copysign
    fmod = special.fmod
    remainder = arithmetic.mod
    lerp = special.lerp
    nan_to_num = special.nan_to_num
    allclose = special.allclose
    isclose = special.isclose

    # functions of several operations
    frac = formulas.frac
    signbit = formulas.signbit
    isposinf = formulas.isposinf
    isneginf = formulas.isneginf
    heaviside = formulas.heaviside
    fmax = formulas.fmax
    fmin = formulas.fmin
    deg2rad = formulas.deg2rad
    rad2deg = formulas.rad2deg
    sinc = formulas.sinc
    logit = formulas.logit
    xlogy = formulas.xlogy
    ldexp = formulas.ldexp
    logaddexp2 = formulas.logaddexp2
    float_power = formulas.float_power
    addcmul = formulas.addcmul
    addcdiv = formulas.addcdiv

    # other names
    subtract = arithmetic.sub
    multiply = arithmetic.mul
    divide = arithmetic.div
    true_divide = arithmetic.div
    floor_divide = arithmetic.floordiv
    negative = elementwise.neg
    positive = elementwise.positive
    absolute = elementwise.abs
    sgn = elementwise.sign
    fix = elementwise.trunc
    clamp_min = choices.clamp_min
    clamp_max = choices.clamp_max
    bitwise_left_shift = bits.lshift
    bitwise_right_shift = bits.rshift
    arcsin = special.asin
    arccos = special.acos
    arctan = special.atan
    arcsinh = special.asinh
    arccosh = special.acosh
    arctanh = special.atanh
    arctan2 = special.atan2

    # activations
    relu = activations.relu
    relu6 = activations.relu6
    leaky_relu = activations.leaky_relu
    sigmoid = activations.sigmoid
    logsigmoid = activations.logsigmoid
    tanh = activations.tanh
    silu = activations.silu
    swish = activations.silu
    gelu = activations.gelu
    quick_gelu = activations.quick_gelu
    elu = activations.elu
    selu = activations.selu
    celu = activations.celu
    softplus = activations.softplus
    mish = activations.mish
    softsign = activations.softsign
    hardtanh = activations.hardtanh
    hardsigmoid = activations.hardsigmoid
    hardswish = activations.hardswish

    # gates, thresholds, learned slopes
    glu = activations.glu
    prelu = activations.prelu
    threshold = activations.threshold
    hardshrink = activations.hardshrink
    softshrink = activations.softshrink
    tanhshrink = activations.tanhshrink
