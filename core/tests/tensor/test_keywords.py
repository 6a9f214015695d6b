import inspect
import traceback
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import Tensor
from plugrad.errors import AxisError
from plugrad.tensor.keywords import OWN_NAMES

x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("method", "given", "own"),
    [
        ("sum", {"dim": 1, "keepdims": True}, {"axis": 1, "keepdim": True}),
        ("softmax", {"dim": 0}, {"axis": 0}),
        ("cumsum", {"dim": 2}, {"axis": 2}),
        ("unsqueeze", {"dim": 1}, {"axis": 1}),
        ("argmax", {"dim": 1}, {"axis": 1}),
        ("std", {"dim": 1, "ddof": 0}, {"axis": 1, "correction": 0}),
        ("flatten", {"start_dim": 1, "end_dim": 2}, {"start_axis": 1, "end_axis": 2}),
        ("transpose", {"dim0": 0, "dim1": 2}, {"axis1": 0, "axis2": 2}),
        ("diagonal", {"dim1": 1, "dim2": 2}, {"axis1": 1, "axis2": 2}),
        ("roll", {"shifts": 1, "dims": 2}, {"shifts": 1, "axis": 2}),
        ("swapaxes", {"axis0": 0, "axis1": 2}, {"axis1": 0, "axis2": 2}),
        ("swapdims", {"dim0": 0, "dim1": 2}, {"axis1": 0, "axis2": 2}),
        ("unfold", {"dimension": 2, "size": 2, "step": 1}, {"axis": 2, "size": 2, "step": 1}),
        ("argsort", {"dim": 1, "stable": True}, {"axis": 1}),
        ("unique", {"sorted": False}, {}),
        ("leaky_relu", {"neg_slope": 0.5}, {"negative_slope": 0.5}),
        ("var", {"dim": 1, "unbiased": False}, {"axis": 1, "correction": 0}),
        ("std", {"dim": 1, "unbiased": True}, {"axis": 1, "correction": 1}),
        ("tril", {"k": 1}, {"diagonal": 1}),
        ("roll", {"shift": 1, "axis": 2}, {"shifts": 1, "axis": 2}),
        ("norm", {"ord": 1, "axis": 2}, {"p": 1, "axis": 2}),
        ("norm", {"p": "fro", "dim": 2}, {"p": 2, "axis": 2}),
        ("quantile", {"q": 0.3, "method": "lower"}, {"q": 0.3, "interpolation": "lower"}),
        ("pad", {"pad_width": (1, 2), "constant_values": 3}, {"padding": (1, 2), "value": 3}),
    ],
)
def test_keywords_of_others_mean_the_same(
    method: str, given: dict[str, object], own: dict[str, object]
) -> None:
    got, want = (getattr(Tensor(x), method)(**keywords) for keywords in (given, own))
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_axes_may_be_given_by_name() -> None:
    np.testing.assert_array_equal(Tensor(x).flip(dims=(0, 2)).numpy(), np.flip(x, (0, 2)))
    np.testing.assert_array_equal(Tensor(x).permute(dims=(2, 0, 1)).numpy(), x.transpose(2, 0, 1))


def test_what_is_given_one_by_one_may_be_given_by_name() -> None:
    calls = (
        lambda t: (t.flip(axis=(0, 2)), t.flip(0, 2)),
        lambda t: (t.flip(axis=1), t.flip(1)),
        lambda t: (t.permute(axes=(2, 0, 1)), t.permute(2, 0, 1)),
        lambda t: (t.repeat(repeats=(2, 1, 1)), t.repeat(2, 1, 1)),
        lambda t: (t.tile(reps=2), t.tile(2)),
        lambda t: (t.reshape(shape=(4, -1)), t.reshape(4, -1)),
    )
    for call in calls:
        got, want = call(Tensor(x))
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_tensors_are_joined_along_a_dim() -> None:
    joined = Tensor.cat(Tensor(x), Tensor(x), dim=1)
    np.testing.assert_array_equal(joined.numpy(), np.concatenate([x, x], 1))
    assert Tensor.stack(Tensor(x), Tensor(x), dim=-1).shape == (2, 3, 4, 2)
    assert [part.shape for part in Tensor(x).split(2, dim=1)] == [(2, 2, 4), (2, 1, 4)]


def test_the_second_axis_may_be_called_the_first_from_0() -> None:
    swapaxes = getattr(Tensor(x), "swapaxes")  # noqa: B009 - the static type has one name
    assert swapaxes(0, axis1=2).shape == swapaxes(axis1=0, axis2=2).shape == (4, 3, 2)
    with pytest.raises(TypeError, match=r"swapaxes\(\) got axes counted from 0 and 'axis2' as well"):
        swapaxes(axis0=0, axis2=2)


def test_a_number_to_scatter_may_be_called_a_value() -> None:
    index = np.array([[0, 1, 1, 0]])
    scatter = getattr(Tensor(x[0]), "scatter")  # noqa: B009 - the static type has one name
    for more in ({}, {"reduce": "add"}):
        want = torch.tensor(x[0]).scatter(0, torch.tensor(index), value=7, **more)
        np.testing.assert_array_equal(scatter(0, Tensor(index), value=7, **more).numpy(), want.numpy())
    with pytest.raises(TypeError, match=r"scatter\(\) got 'src' twice, also as 'value'"):
        scatter(0, Tensor(index), src=1, value=2)


def test_order_is_asked_for_by_name() -> None:
    values, positions = getattr(Tensor(x), "topk")(2, dim=0, sorted=True)  # noqa: B009
    assert values.shape == positions.shape == (2, 3, 4)
    assert Tensor(x).sort(0, stable=False)[0].shape == (2, 3, 4)


def test_one_name_at_a_time() -> None:
    with pytest.raises(TypeError, match=r"sum\(\) got 'axis' twice, also as 'dim'"):
        Tensor(x).sum(axis=1, dim=2)  # pyright: ignore[reportCallIssue]


def test_unknown_keywords_are_refused_as_ever() -> None:
    with pytest.raises(TypeError, match="colour"):
        Tensor(x).sum(colour=1)  # pyright: ignore[reportCallIssue]


def test_signatures_and_errors_keep_their_own_names() -> None:
    assert "axis" in inspect.signature(Tensor.sum).parameters
    assert not set(inspect.signature(Tensor.sum).parameters) & OWN_NAMES.keys()
    with pytest.raises(AxisError, match=r"^sum"):
        getattr(Tensor(x), "sum")(dim=7)  # noqa: B009 - the static type has one name


def test_a_median_along_a_dim_comes_with_its_places() -> None:
    values, places = Tensor(x).median(dim=2)  # pyright: ignore[reportCallIssue]
    np.testing.assert_array_equal(values.numpy(), x[..., 1])
    assert set(places.flatten().tolist()) == {1}


@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var, np.argmax])
def test_functions_of_numpy_along_axes_call_the_methods(function: Any) -> None:
    out = function(Tensor(x), axis=1)
    assert isinstance(out, Tensor)
    # a standard deviation is NumPy's then, for `ddof=0` comes with the call
    np.testing.assert_allclose(out.numpy(), function(x, axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        np.argsort,
        np.cumsum,
        np.cumprod,
        lambda x: np.argsort(x, 0, stable=True),
        lambda x: np.cumsum(x, axis=None),
        lambda x: np.cumsum(x, 1),
        lambda x: np.clip(x, 2, None),
        lambda x: np.clip(x, x * 0 + 2, 4),
        lambda x: np.round(x, 1),
        lambda x: np.squeeze(x[None], 0),
        lambda x: np.swapaxes(x, 0, 2),
    ],
)
def test_functions_of_numpy_that_call_methods_give_tensors_of_its_values(call: Any) -> None:
    given = (x % 5 * 1.26).astype(np.float32)
    out = call(Tensor(given))
    assert isinstance(out, Tensor)
    expected = call(given) if call is not np.argsort else np.argsort(given, kind="stable")
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


def test_orders_of_numpy_that_are_no_methods_are_computed_by_numpy() -> None:
    assert np.argsort(Tensor([3.0, 1.0, 2.0]), kind="mergesort").tolist() == [1, 2, 0]  # pyright: ignore


def test_results_are_written_nowhere_else() -> None:
    with pytest.raises(TypeError, match=r"sum\(\) got an unexpected keyword argument 'out'"):
        Tensor(x).sum(1, out=np.zeros((2, 4)))  # pyright: ignore[reportCallIssue]


def test_a_refusal_has_the_frame_of_the_method_alone_above_it() -> None:
    with pytest.raises(AxisError) as caught:
        Tensor(x).unsqueeze(9)
    own, *deeper = [frame.name for frame in traceback.extract_tb(caught.tb)][1:]
    assert (own, len(deeper)) == ("unsqueeze", 1)


@pytest.mark.parametrize(
    ("method", "given", "missing"),
    [
        ("gather", {"dim": 1}, "gather() is missing 'index'."),
        ("gather", {"index": Tensor([[[0]]])}, "gather() is missing 'axis'."),
        ("narrow", {"start": 0}, "narrow() is missing 'axis' and 'length'."),
        ("unsqueeze", {}, "unsqueeze() is missing 'axis'."),
        ("swapaxes", {"dim0": 1}, "swapaxes() is missing 'axis2'."),
    ],
)
def test_a_parameter_without_a_default_is_asked_for(method: str, given: Any, missing: str) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(Tensor(x), method)(**given)
    assert str(caught.value) == missing


def test_the_axes_of_a_diagonal_to_write_are_counted_from_1() -> None:
    square = np.zeros((3, 2, 3), np.float32)
    got = getattr(Tensor(square), "diagonal_scatter")(Tensor.ones(2, 3), dim1=0, dim2=2)  # noqa: B009
    want = torch.tensor(square).diagonal_scatter(torch.ones(2, 3), dim1=0, dim2=2)
    np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_sizes_given_one_by_one_are_not_given_by_name_too() -> None:
    with pytest.raises(TypeError, match=r"reshape\(\) got 'shape' twice"):
        Tensor(x).reshape(4, 6, shape=(6, 4))
