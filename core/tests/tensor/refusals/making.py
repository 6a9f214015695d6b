"""Errors of making tensors, and what becomes of them outside."""

import torch

from plugrad import Tensor
from plugrad.errors import (
    ArgumentError,
    DeviceNotFound,
    DownloadError,
    DtypeError,
    GradientError,
    ShapeError,
    SharingError,
)
from refusals.case import Case

CASES: list[Case] = [
    ("nbytes", ShapeError, lambda t: t.symbolic.nbytes(), "nbytes: the shape (size,) is symbolic"),
    (
        "static_shape",
        ShapeError,
        lambda t: t.symbolic.static_shape(),
        "static_shape: the shape (size,) is symbolic",
    ),
    ("cast", DtypeError, lambda t: t.floats.cast("float33"), "'float33' is not a dtype"),
    (
        "bitcast",
        ShapeError,
        lambda t: Tensor.ones(3, dtype="int8").bitcast("int16"),
        "bitcast of shape (3,) from int8 to int16: the last axis must be a multiple of 2",
    ),
    (
        "bitcast",
        DtypeError,
        lambda t: t.bools.bitcast("int32"),
        "bitcast from bool to int32: bools have no bits of their own",
    ),
    (
        "full",
        DtypeError,
        lambda t: Tensor.full((2,), 300, dtype="uint8"),
        "300 does not fit uint8, which holds 0..255",
    ),
    ("arange", ArgumentError, lambda t: Tensor.arange(0, 3, 0), "arange(0, 3, 0) never ends"),
    ("arange", DtypeError, lambda t: Tensor.arange("3"), "arange with '3' (str)"),
    ("linspace", ShapeError, lambda t: Tensor.linspace(0, 1, -1), "linspace: (-1,) has a negative size"),
    ("rand", DtypeError, lambda t: Tensor.rand(2, dtype="int32"), "rand of int32: it takes a float dtype"),
    ("randn", DtypeError, lambda t: Tensor.randn(2, dtype="int32"), "randn of int32: it takes a float dtype"),
    (
        "randint",
        DtypeError,
        lambda t: Tensor.randint(2, high=300, dtype="int8"),
        "299 does not fit int8, which holds -128..127",
    ),
    (
        "randint",
        ArgumentError,
        lambda t: Tensor.randint(2, low=3, high=3),
        "randint: there is no integer from 3 to below 3",
    ),
    (
        "randint_like",
        DtypeError,
        lambda t: t.floats.randint_like(),
        "randint_like of float32: it takes an integer dtype",
    ),
    (
        "randint_like",
        ArgumentError,
        lambda t: t.ints.randint_like(low=3, high=3),
        "randint_like: there is no integer from 3 to below 3",
    ),
    (
        "glorot_uniform",
        ShapeError,
        lambda t: Tensor.glorot_uniform(3),
        "glorot_uniform of shape (3,): weights have axes (out, in, *kernel)",
    ),
    (
        "kaiming_uniform",
        ShapeError,
        lambda t: Tensor.kaiming_uniform(3),
        "kaiming_uniform of shape (3,): weights have axes (out, in, *kernel)",
    ),
    (
        "kaiming_normal",
        ShapeError,
        lambda t: Tensor.kaiming_normal(3),
        "kaiming_normal of shape (3,): weights have axes (out, in, *kernel)",
    ),
    ("from_blob", ArgumentError, lambda t: Tensor.from_blob(0, (2,)), "from_blob: 0 is no address of memory"),
    ("from_blob", ShapeError, lambda t: Tensor.from_blob(64, (-2,)), "from_blob: (-2,) has a negative size"),
    (
        "from_url",
        DownloadError,
        lambda t: Tensor.from_url("nowhere://there", folder=str(t.folder), progress=False),
        "cannot fetch nowhere://there: <urlopen error unknown url type: nowhere>. Check the",
    ),
    (
        "from_dlpack",
        SharingError,
        lambda t: Tensor.from_dlpack(3),
        "3 (int) has no __dlpack__. Use Tensor(...)",
    ),
    (
        "from_torch",
        SharingError,
        lambda t: Tensor.from_torch(torch.ones(2, dtype=torch.complex64)),
        "DLPack's type with code 5, 64 bits and 1 lanes has no plugrad dtype",
    ),
    ("to_torch", ShapeError, lambda t: t.symbolic.to_torch(), "to_torch: the shape (size,) is symbolic"),
    ("randperm", ShapeError, lambda t: Tensor.randperm(-1), "randperm: (-1,) has a negative size"),
    (
        "multinomial",
        ArgumentError,
        lambda t: t.vector.multinomial(4),
        "multinomial: num_samples=4 of 3 weights",
    ),
    ("multinomial", DtypeError, lambda t: t.ints.multinomial(1), "multinomial of int32: weights are floats"),
    (
        "multinomial",
        ShapeError,
        lambda t: Tensor.ones(2, 2, 2).multinomial(1),
        "multinomial of shape (2, 2, 2): give weights (n,) or (rows, n)",
    ),
    ("to", DeviceNotFound, lambda t: t.floats.to("NOWHERE"), "there is no device 'NOWHERE'"),
    ("to_device", DeviceNotFound, lambda t: t.floats.to_device("NOWHERE"), "there is no device 'NOWHERE'"),
    ("data", ShapeError, lambda t: t.symbolic.data(), "data: the shape (size,) is symbolic"),
    ("numpy", ShapeError, lambda t: t.symbolic.numpy(), "numpy: the shape (size,) is symbolic"),
    ("item", ShapeError, lambda t: t.floats.item(), "item() of shape (2, 3): it has 6 elements"),
    (
        "requires_grad",
        GradientError,
        lambda t: setattr(t.ints, "requires_grad", True),
        "holds no floats, so it has no gradient",
    ),
]
