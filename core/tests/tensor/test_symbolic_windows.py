"""Windows and results of symbolic size: one set of kernels serves all values, those of PyTorch."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from plugrad import Tensor, Variable, context
from plugrad.errors import ArgumentError, ShapeError
from plugrad.jit import jit

RNG = np.random.default_rng(1)
IMAGES = RNG.standard_normal((2, 3, 6, 5)).astype(np.float32)
# what lies beside a window may not show, whatever it is times 0
IMAGES[0, 0, 5, 4] = np.inf
#: (out channels, in channels, height, width)
WEIGHT = RNG.standard_normal((3, 3, 3, 3)).astype(np.float32)
VALUES = (3, 1, 2)
#: Each axis of a result has room for that many elements.
LARGEST = 18


@pytest.fixture(autouse=True)
def unverified() -> Iterator[None]:
    # graphs are verified after each pass in the tests of the single operations
    with context(SPEC=0):
        yield


def bound(value: int) -> Any:
    return Variable("n", 1, 3).bind(value)


def slopes(x: Any, w: Any, f: Callable[[Any, Any], Any]) -> tuple[Any, ...]:
    """Return the gradients of a sum of squares."""
    if isinstance(x, Tensor):
        return (f(x, w) ** 2).sum().gradient(x, w)
    x, w = (part.detach().clone().requires_grad_() for part in (x, w))
    return torch.autograd.grad((f(x, w) ** 2).sum(), (x, w))


def finite(x: Any) -> Any:
    return x[:, :, :5]


# of images and a weight of Tensors, and of those of PyTorch; `n` is a symbolic number, or a number
Case = tuple[Callable[[Any, Any, Any], Any], Callable[[Any, Any, Any], Any]]
CASES: dict[str, Case] = {
    "windows": (
        lambda x, w, n: x.conv2d(w[:, :, :n], padding=1),
        lambda x, w, n: functional.conv2d(x, w[:, :, :n], padding=1),
    ),
    "windows in both axes, with gaps and steps": (
        lambda x, w, n: x.conv2d(w[:, :, :n, :n], stride=(2, 1), dilation=(1, 2), padding=(1, 0)),
        lambda x, w, n: functional.conv2d(x, w[:, :, :n, :n], stride=(2, 1), dilation=(1, 2), padding=(1, 0)),
    ),
    "as many results as elements": (
        lambda x, w, n: x.conv2d(w[:, :, :n], padding="same"),
        lambda x, w, n: functional.conv2d(x, w[:, :, :n], padding="same"),
    ),
    "windows in groups": (
        lambda x, w, n: x.conv2d(w[:, :1, :n], groups=3),
        lambda x, w, n: functional.conv2d(x, w[:, :1, :n], groups=3),
    ),
    "channels": (
        lambda x, w, n: x[:, :n].conv2d(w[:2, :n]), lambda x, w, n: functional.conv2d(x[:, :n], w[:2, :n]),
    ),
    "windows of windows": (
        lambda x, w, n: x[:, :n].conv2d(w[:n, :n, :n, :n]),
        lambda x, w, n: functional.conv2d(x[:, :n], w[:n, :n, :n, :n]),
    ),
    "slopes by windows": (
        lambda x, w, n: slopes(finite(x), w[:, :, :n], lambda x, w: x.conv2d(w, stride=2)),
        lambda x, w, n: slopes(finite(x), w[:, :, :n], lambda x, w: functional.conv2d(x, w, stride=2)),
    ),
    "transposed windows": (
        lambda x, w, n: finite(x).conv_transpose2d(w[:, :, :n], stride=2, padding=(0, 1), output_padding=1),
        lambda x, w, n: functional.conv_transpose2d(
            finite(x), w[:, :, :n], stride=2, padding=(0, 1), output_padding=1
        ),
    ),
    "transposed windows that are cut": (
        lambda x, w, n: finite(x).conv_transpose2d(w[:, :, :n], padding=1),
        lambda x, w, n: functional.conv_transpose2d(finite(x), w[:, :, :n], padding=1),
    ),
    "transposed channels": (
        lambda x, w, n: finite(x)[:, :n].conv_transpose2d(w[:n, :n]),
        lambda x, w, n: functional.conv_transpose2d(finite(x)[:, :n], w[:n, :n]),
    ),
    "slopes by transposed windows": (
        lambda x, w, n: slopes(finite(x), w[:, :2, :n], lambda x, w: x.conv_transpose2d(w, dilation=2)),
        lambda x, w, n: slopes(
            finite(x), w[:, :2, :n], lambda x, w: functional.conv_transpose2d(x, w, dilation=2)
        ),
    ),
    "the greatest": (lambda x, w, n: x.max_pool2d(n), lambda x, w, n: functional.max_pool2d(x, n)),
    "the greatest, step by step, and where": (
        lambda x, w, n: x.max_pool2d((n, 2), (1, 2), dilation=2, return_indices=True),
        lambda x, w, n: functional.max_pool2d(x, (n, 2), (1, 2), dilation=2, return_indices=True),
    ),
    "slopes of the greatest": (
        lambda x, w, n: slopes(x[:, :, :5], w, lambda x, w: x.max_pool2d(n, 1) * w[0, 0, 0, 0])[:1],
        lambda x, w, n: slopes(
            x[:, :, :5], w, lambda x, w: functional.max_pool2d(x, n, 1) * w[0, 0, 0, 0]
        )[:1],
    ),
    "slopes of the greatest in pieces": (
        lambda x, w, n: slopes(x[:, :, :5], w, lambda x, w: x.max_pool2d(n) * w[0, 0, 0, 0])[:1],
        lambda x, w, n: slopes(x[:, :, :5], w, lambda x, w: functional.max_pool2d(x, n) * w[0, 0, 0, 0])[:1],
    ),
    "means": (lambda x, w, n: x.avg_pool2d(n), lambda x, w, n: functional.avg_pool2d(x, n)),
    "means to the last": (
        lambda x, w, n: x.avg_pool2d((2, n), (3, 2), ceil_mode=True, padding=(1, 0)),
        lambda x, w, n: functional.avg_pool2d(x, (2, n), (3, 2), ceil_mode=True, padding=(1, 0)),
    ),
    "slopes of means": (
        lambda x, w, n: slopes(x[:, :, :5], w, lambda x, w: x.avg_pool2d(n) * w[0, 0, 0, 0])[:1],
        lambda x, w, n: slopes(x[:, :, :5], w, lambda x, w: functional.avg_pool2d(x, n) * w[0, 0, 0, 0])[:1],
    ),
    "so many means": (
        lambda x, w, n: x.adaptive_avg_pool2d((n, 2)),
        lambda x, w, n: functional.adaptive_avg_pool2d(x, (n, 2)),
    ),
    "so many of the greatest": (
        lambda x, w, n: x.adaptive_max_pool2d((2, n), return_indices=True),
        lambda x, w, n: functional.adaptive_max_pool2d(x, (2, n), return_indices=True),
    ),
    "windows as an axis": (lambda x, w, n: x.unfold(2, n, 2), lambda x, w, n: x.unfold(2, n, 2)),
    "pieces as an axis": (lambda x, w, n: x.unfold(2, n, n), lambda x, w, n: x.unfold(2, n, n)),
}  # fmt: skip

#: mode, and what else `interpolate` takes.
RESIZED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("nearest", {}),
    ("nearest-exact", {}),
    ("bilinear", {}),
    ("bilinear", {"align_corners": True}),
    ("bilinear", {"antialias": True}),
    ("bicubic", {"antialias": True, "align_corners": True}),
    ("bicubic", {}),
    ("area", {}),
)


def parts(y: Any) -> list[Any]:
    return list(y) if isinstance(y, (tuple, list)) else [y]


def filled_up(y: Tensor) -> Tensor:
    return y.pad(tuple((0, 0 if isinstance(size, int) else LARGEST - size) for size in y.shape))


def compare(y: Tensor, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    shown = y.numpy().copy()
    inside = tuple(slice(size) for size in wanted.shape)
    np.testing.assert_allclose(shown[inside], wanted, rtol=1e-4, atol=1e-5)
    shown[inside] = 0
    assert not shown.any(), "more elements than there are"


def check(f: Callable[[Any, Any, Any], Any], expected: Callable[[Any, Any, Any], Any]) -> None:
    x, w = Tensor(IMAGES).realize(), Tensor(WEIGHT).realize()
    programs: set[tuple[Any, ...]] = set()
    for value in VALUES:
        found = [filled_up(y) for y in parts(f(x, w, bound(value)))]
        programs.add(tuple(item.ast for item in found[0].schedule(*found[1:])))
        found[0].realize(*found[1:])
        wanted = parts(expected(torch.tensor(IMAGES), torch.tensor(WEIGHT), value))
        for got, want in zip(found, wanted, strict=True):
            compare(got, want)
    assert len(programs) == 1


# of how PyTorch pads
@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize(("f", "expected"), CASES.values(), ids=CASES)
def test_one_set_of_kernels_serves_all_values(f: Any, expected: Any) -> None:
    check(f, expected)


@pytest.mark.parametrize(("mode", "options"), RESIZED)
def test_symbolic_sizes_become_others(mode: Any, options: Any) -> None:
    def resized(x: Any, w: Any, n: Any) -> Any:
        return finite(x)[:1, :1, :, : n + 2].interpolate((n * 2, n + 1), mode=mode, **options)

    def expected(x: Any, w: Any, n: Any) -> Any:
        # antialiased images of a single column are wrong there
        return functional.interpolate(finite(x)[:1, :1, :, : n + 2], (n * 2, n + 1), mode=mode, **options)

    check(resized, expected)


@pytest.mark.parametrize(
    ("factor", "mode"), [(1.5, "bicubic"), (0.4, "area"), (1.3, "bilinear"), (2.3, "nearest")]
)
def test_factors_give_the_sizes_that_they_give_of_numbers(factor: float, mode: Any) -> None:
    def part(x: Any, n: Any) -> Any:
        return finite(x)[:1, :1, :, : n + 2]

    check(
        lambda x, w, n: part(x, n).interpolate(scale_factor=factor, mode=mode),
        lambda x, w, n: functional.interpolate(part(x, n), scale_factor=factor, mode=mode),
    )


def test_a_replay_takes_new_windows() -> None:
    @jit
    def step(x: Tensor, w: Tensor, n: Any) -> list[Tensor]:
        found = x.conv2d(w[:, :, :n], padding=1), x.max_pool2d(n, 1), x.interpolate((n, 4), mode="bicubic")
        return [filled_up(y) + 0 for y in found]

    images, weight = torch.tensor(IMAGES[:, :, :5]), torch.tensor(WEIGHT)
    for value in (2, 3, 1, 2):
        found = step(Tensor(IMAGES[:, :, :5]), Tensor(WEIGHT), bound(value))
        compare(found[0], functional.conv2d(images, weight[:, :, :value], padding=1))
        compare(found[1], functional.max_pool2d(images, value, 1))
        compare(found[2], functional.interpolate(images, (value, 4), mode="bicubic"))
    assert step.captures == 1


def test_a_replay_refuses_windows_that_do_not_fit() -> None:
    @jit
    def step(x: Tensor, n: Any) -> Tensor:
        return filled_up(x.max_pool2d((n, 1), 1)) + 0

    x = Tensor(IMAGES)[:, :, :2]
    for value in (1, 2):
        compare(step(x, bound(value)), functional.max_pool2d(torch.tensor(IMAGES[:, :, :2]), (value, 1), 1))
    with pytest.raises(ShapeError, match=r"with n=3: (padding by -1|a slice of -1)"):
        step(x, bound(3))


def test_what_has_no_meaning_is_refused() -> None:
    x, w = Tensor(IMAGES), Tensor(WEIGHT)
    with pytest.raises(ShapeError, match=r"conv2d: a window of 3 .* does not fit into an axis of 2"):
        x[:, :, :2].conv2d(w[:, :, : bound(3)])
    with pytest.raises(ShapeError, match=r"max_pool2d: stride n is symbolic: .* Pass a number"):
        x.max_pool2d(2, bound(2))
    with pytest.raises(ShapeError, match=r"max_pool2d: padding 1 and 1 around windows of 1"):
        x.max_pool2d(bound(3), padding=1)
    with pytest.raises(ShapeError, match=r"conv2d .* groups=3: channels in several groups are symbolic"):
        x.conv2d(w[: bound(3), :1], groups=3)
    with pytest.raises(ShapeError, match=r"conv_transpose2d .* groups=3: channels in several groups"):
        x.conv_transpose2d(w[:, : bound(2)], groups=3)
    with pytest.raises(ArgumentError, match=r"conv2d: dilation=n is symbolic\. Pass a number"):
        x.conv2d(w, dilation=bound(2))
    with pytest.raises(ArgumentError, match=r"roll: shifts=n is symbolic\. Pass a number"):
        x.roll(bound(2), 1)
    with pytest.raises(
        ShapeError, match=r"interpolate: scale_factor=3\.14\d* of a symbolic axis of 1 to 900"
    ):
        Tensor.ones(1, 1, 90000)[:, :, : Variable("n", 1, 90000).bind(3)].interpolate(scale_factor=3.14159265)
