"""Tests of plugrad.nn.layers.norm, against torch."""

from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Variable, events, nn
from plugrad.errors import ShapeError
from plugrad.jit import jit
from plugrad.nn import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, LayerNorm2d, RMSNorm
from plugrad.nn.state import get_state_dict, load_state_dict
from plugrad.tensor import Tensor

RNG = np.random.default_rng(1)


def close(ours: Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=1e-4, atol=1e-5)


def torch_state(module: torch.nn.Module) -> dict[str, Tensor]:
    return {name: Tensor(value.numpy()) for name, value in module.state_dict().items()}


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (4, 3, 5, 2)])
def test_batchnorm_trains_and_evaluates_as_torchs(shape: tuple[int, ...]) -> None:
    kinds: Any = {2: torch.nn.BatchNorm1d, 3: torch.nn.BatchNorm1d, 4: torch.nn.BatchNorm2d}
    ours, theirs = BatchNorm(3), kinds[len(shape)](3)
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    for _ in range(2):
        x = RNG.normal(2, 3, size=shape).astype(np.float32)
        with Tensor.train():
            close(ours(Tensor(x)), theirs(torch.tensor(x)))
    for name, tensor in get_state_dict(ours).items():
        close(tensor, theirs.state_dict()[name])
        assert tensor.dtype.name == str(theirs.state_dict()[name].dtype).removeprefix("torch.")
    theirs.eval()
    x = RNG.normal(size=shape).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))


def test_gradients_flow_through_the_batch_statistics() -> None:
    ours, theirs = BatchNorm(3), torch.nn.BatchNorm2d(3)
    x, weights = (RNG.normal(size=(4, 3, 5, 2)).astype(np.float32) for _ in range(2))
    mine, other = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    with Tensor.train():
        (ours(mine) * Tensor(weights)).sum().backward()
    (theirs(other) * torch.tensor(weights)).sum().backward()
    for left, right in ((mine, other), (ours.weight, theirs.weight), (ours.bias, theirs.bias)):
        assert left is not None
        assert left.grad is not None
        assert right.grad is not None
        close(left.grad, right.grad)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_a_symbolic_batch_trains_as_a_known_one(momentum: float | None) -> None:
    ours, known = BatchNorm(3, momentum=momentum), BatchNorm(3, momentum=momentum)
    x = Tensor(RNG.normal(2, 3, size=(4, 3, 2)).astype(np.float32))

    @jit
    def step(x: Tensor, n: Any) -> tuple[Tensor, Tensor]:
        out = ours(x[:n])
        return out.square().sum((0, 2)) + 0, (out * out * out).sum().gradient(x)[0] + 0

    with Tensor.train():
        for count in (4, 2, 3, 1):
            found, slope = step(x, Variable("n", 1, 4).bind(count))
            out = known(x[:count])
            np.testing.assert_allclose(found.numpy(), out.square().sum((0, 2)).numpy(), rtol=1e-4)
            expected = (out * out * out).sum().gradient(x)[0].numpy()
            np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-3, atol=1e-4)
            for left, right in zip(
                get_state_dict(ours).values(), get_state_dict(known).values(), strict=True
            ):
                np.testing.assert_allclose(left.numpy(), right.numpy(), rtol=1e-4, atol=1e-6)
    assert step.captures == 1


def test_running_statistics_are_not_trained_and_not_tracked_outside_of_training() -> None:
    layer = BatchNorm(3)
    before = {name: tensor.numpy() for name, tensor in get_state_dict(layer).items()}
    layer(Tensor.rand(4, 3)).realize()
    for name, tensor in get_state_dict(layer).items():
        np.testing.assert_array_equal(tensor.numpy(), before[name])
        assert tensor.requires_grad == (name in ("weight", "bias"))


def test_batchnorm_without_statistics_uses_the_batch() -> None:
    ours, theirs = BatchNorm(3, track_running_stats=False, affine=False), torch.nn.BatchNorm1d(3)
    x = RNG.normal(2, 3, size=(6, 3)).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))
    assert get_state_dict(ours) == {}


def test_batchnorm_refuses_other_channels() -> None:
    with pytest.raises(ShapeError, match=r"BatchNorm of 3 channels got shape \(2, 4\)"):
        BatchNorm(3)(Tensor.ones(2, 4))


@pytest.mark.parametrize("shape", [5, (5,), (4, 5)])
def test_layernorm_computes_what_torch_computes(shape: int | tuple[int, ...]) -> None:
    ours, theirs = LayerNorm(shape), torch.nn.LayerNorm(shape)
    torch.nn.init.normal_(theirs.weight)
    load_state_dict(ours, torch_state(theirs))
    x = RNG.normal(2, 3, size=(3, 4, 5)).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))


def test_layernorm_refuses_other_shapes() -> None:
    with pytest.raises(ShapeError, match=r"layer_norm over \(4,\) of shape \(2, 3\)"):
        LayerNorm(4)(Tensor.ones(2, 3))


def test_names_for_each_number_of_axes_are_one_layer() -> None:
    assert nn.BatchNorm1d is nn.BatchNorm2d is nn.BatchNorm3d is BatchNorm


@pytest.mark.parametrize(
    ("make", "theirs", "shape"),
    [
        (lambda: GroupNorm(2, 6), torch.nn.GroupNorm(2, 6), (2, 6, 3, 2)),
        (lambda: GroupNorm(3, 6, affine=False), torch.nn.GroupNorm(3, 6, affine=False), (2, 6)),
        (lambda: InstanceNorm(4), torch.nn.InstanceNorm2d(4, affine=True), (2, 4, 3, 5)),
        (lambda: InstanceNorm(4, affine=False), torch.nn.InstanceNorm1d(4), (2, 4, 5)),
        (lambda: RMSNorm(5), torch.nn.RMSNorm(5), (2, 3, 5)),
        (lambda: RMSNorm((3, 5), 1e-3), torch.nn.RMSNorm((3, 5), 1e-3), (2, 3, 5)),
    ],
)
def test_other_layers_compute_what_torchs_compute(make: Any, theirs: Any, shape: Any) -> None:
    ours = make()
    for value in theirs.state_dict().values():
        torch.nn.init.normal_(value)
    assert list(get_state_dict(ours)) == list(theirs.state_dict())
    if theirs.state_dict():
        load_state_dict(ours, torch_state(theirs))
    x = RNG.normal(2, 3, size=shape).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x)))


def test_layernorm2d_normalizes_channels() -> None:
    ours, theirs = LayerNorm2d(5), torch.nn.LayerNorm(5)
    torch.nn.init.normal_(theirs.weight)
    load_state_dict(ours, torch_state(theirs))
    x = RNG.normal(2, 3, size=(2, 5, 3, 4)).astype(np.float32)
    close(ours(Tensor(x)), theirs(torch.tensor(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2))


def test_halves_keep_their_dtype_and_single_statistics() -> None:
    layer = BatchNorm(3)
    with Tensor.train():
        out = layer(Tensor(RNG.normal(300, 1, size=(64, 3)).astype(np.float16)))
    assert out.dtype.name == "float16"
    assert abs(float(out.numpy().std()) - 1) < 0.01


def test_other_channels_are_refused() -> None:
    with pytest.raises(ShapeError, match="GroupNorm of 6 channels does not divide into 4 groups"):
        GroupNorm(4, 6)
    with pytest.raises(ShapeError, match=r"GroupNorm of 6 channels got shape \(2, 4\)"):
        GroupNorm(2, 6)(Tensor.ones(2, 4))
    with pytest.raises(ShapeError, match=r"InstanceNorm of 6 channels got shape \(2, 6\)"):
        InstanceNorm(6)(Tensor.ones(2, 6))
    with pytest.raises(ShapeError, match=r"rms_norm over \(4,\) of shape \(2, 3\)"):
        RMSNorm(4)(Tensor.ones(2, 3))


def test_without_momentum_averages_are_over_all_batches() -> None:
    ours, theirs = BatchNorm(3, momentum=None), torch.nn.BatchNorm1d(3, momentum=None)
    for _ in range(3):
        x = RNG.normal(2, 3, size=(4, 3)).astype(np.float32)
        with Tensor.train():
            close(ours(Tensor(x)), theirs(torch.tensor(x)))
    for name, tensor in get_state_dict(ours).items():
        close(tensor, theirs.state_dict()[name])


def test_layernorm_may_have_a_weight_alone() -> None:
    assert list(get_state_dict(LayerNorm(3, bias=False))) == ["weight"]
    assert not get_state_dict(LayerNorm([2, 3], elementwise_affine=False))


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: BatchNorm(2, **o),
        lambda **o: LayerNorm(2, **o),
        lambda **o: RMSNorm(2, **o),
        lambda **o: GroupNorm(1, 2, **o),
        lambda **o: InstanceNorm(2, **o),
    ],
    ids=["BatchNorm", "LayerNorm", "RMSNorm", "GroupNorm", "InstanceNorm"],
)
def test_parameters_have_the_dtype_and_device_that_are_asked_for(make: Any) -> None:
    state = get_state_dict(make(dtype="float64", device="PYTHON"))
    for name, tensor in state.items():
        assert tensor.device == "PYTHON"
        assert tensor.dtype.name == ("int64" if name == "num_batches_tracked" else "float64")


def test_a_batch_of_nothing_is_normalized() -> None:
    assert GroupNorm(2, 4)(Tensor.zeros(0, 4, 3)).shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("BatchNorm2d", (4,)),
        ("BatchNorm1d", (4,)),
        ("GroupNorm", (2, 4)),
        ("InstanceNorm2d", (4,)),
        ("InstanceNorm1d", (4,)),
    ],
)
def test_norms_without_a_bias_have_the_names_of_torchs(name: str, sizes: tuple[int, ...]) -> None:
    mine = getattr(nn, name)(*sizes, affine=True, bias=False)
    assert list(get_state_dict(mine)) == list(
        getattr(torch.nn, name)(*sizes, affine=True, bias=False).state_dict()
    )
    x = Tensor.randn(3, 4, 5, 5) if name[-2:] == "2d" else Tensor.randn(3, 4, 5)
    assert mine(x).shape == x.shape


def test_a_new_count_of_batches_runs_no_kernel() -> None:
    count = BatchNorm(3).num_batches_tracked
    assert count is not None
    found: list[str] = []
    with events.subscribe(events.KernelEvent, lambda event: found.append(event.name)):
        assert count.shape == ()
        assert count.item() == 0
    assert not found
