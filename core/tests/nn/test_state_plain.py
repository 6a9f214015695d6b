"""Tests of plugrad.nn.state: tensors that tinygrad trains, and that are not trained here, are spoken of."""

import copy
import pickle
import warnings
from typing import Any

import pytest

import plugrad.nn
from plugrad.nn import BatchNorm, Embedding, InstanceNorm1d, Linear
from plugrad.nn.optim import SGD, Adam, GradScaler
from plugrad.nn.state import PlainTensorWarning, get_parameters, load_state_dict, safe_load, safe_save
from plugrad.tensor import Tensor


class Plain:
    """A model as one is written for tinygrad."""

    def __init__(self) -> None:
        self.w = Tensor.glorot_uniform(3, 4)
        self.scale = Tensor.ones(4)
        self.places = Tensor.arange(4)
        self.layer = Linear(4, 2)


def test_tensors_of_which_nothing_was_said_are_named_with_both_remedies() -> None:
    with pytest.warns(PlainTensorWarning) as caught:
        assert len(get_parameters(Plain())) == 2
    (warning,) = caught
    assert warning.filename == __file__
    said = str(warning.message)
    assert said.startswith("get_parameters: the Plain has tensors that are not trained, as in PyTorch")
    assert "w (3, 4), scale (4,)." in said
    assert ".requires_grad_()" in said
    assert ".requires_grad_(False)" in said
    assert "places" not in said


def test_python_shows_the_warning_once_at_each_line() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            get_parameters(Plain())
    assert len(caught) == 1


def test_many_tensors_are_counted() -> None:
    with pytest.warns(PlainTensorWarning, match=r"0\.a \(1,\), 1\.a \(1,\), 2.a .*, 3.a .* and 16 more\."):
        get_parameters([{"a": Tensor([1.0])} for _ in range(20)])


def test_a_tensor_that_two_names_lead_to_is_named_once() -> None:
    tied = Tensor.ones(2)
    with pytest.warns(PlainTensorWarning, match=r"requires_grad: a \(2,\)\. Call"):
        get_parameters({"a": tied, "b": tied})


def test_weights_of_a_file_are_spoken_of(tmp_path: Any) -> None:
    safe_save({"weight": Tensor([1.0, 2.0])}, tmp_path / "m.safetensors")
    loaded = safe_load(tmp_path / "m.safetensors")
    with pytest.warns(PlainTensorWarning, match=r"the dict has tensors .* weight \(2,\)"):
        assert get_parameters(loaded) == []


def made() -> list[Tensor]:
    x = Tensor([1.0], requires_grad=False)
    return [
        x,
        Tensor([1.0]).requires_grad_(False),
        Tensor.zeros(2, requires_grad=False),
        Tensor.ones(2, requires_grad=False),
        Tensor.full((2,), 0.5, requires_grad=False),
        Tensor.empty(2, requires_grad=False),
        Tensor.rand(2, requires_grad=False),
        Tensor.kaiming_uniform(2, 3, requires_grad=False),
        x.zeros_like(requires_grad=False),
        x.new_ones(3, requires_grad=False),
    ]


def test_constants_are_what_was_called_so() -> None:
    assert get_parameters(made()) == []


def test_what_is_made_of_constants_only_is_one() -> None:
    x, y = Tensor([[1.0, 2.0]], requires_grad=False), Tensor([3.0], requires_grad=False)
    of = [x.contiguous(), x.clone(), x.cast("float16"), x.to("PYTHON"), x.T, x[0], -x, x + y, x * 2, x.sum()]
    assert get_parameters(of) == []
    with pytest.warns(PlainTensorWarning, match=r"sum \(1, 2\)\. Call"):
        get_parameters({"sum": x + Tensor([1.0])})


def test_positions_beside_a_constant_leave_it_one() -> None:
    x, places = Tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=False), Tensor([0, 1])
    of = [x[places], x * places, places * x, x.gather(0, places.reshape(1, 2)), x.sort()[0], x.topk(1)[0]]
    of += [x.kthvalue(1)[0], x.quantile(0.5), x.median(), x.take(places), x.cummax(0)[0]]
    assert get_parameters(of) == []


def test_copies_of_a_constant_are_constants() -> None:
    x = Tensor([1.0, 2.0], requires_grad=False)
    assert get_parameters([copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))]) == []
    assert get_parameters(copy.deepcopy([x, x[1:]])) == []


def test_copies_of_what_nothing_was_said_of_are_spoken_of() -> None:
    x = Tensor([1.0, 2.0])
    for twin in (copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.to("PYTHON"), x.clone()):
        assert not twin.requires_grad
        with pytest.warns(PlainTensorWarning):
            get_parameters([twin])


def test_a_constant_stays_one_where_it_is_changed() -> None:
    x = Tensor([1.0, 2.0], requires_grad=False)
    x.assign(Tensor([3.0, 4.0]))
    x += 1
    x[0] = 5.0
    x.realize().to_("PYTHON").replace(Tensor([7.0, 8.0]))
    load_state_dict({"x": x}, {"x": Tensor([0.0, 1.0])})
    assert get_parameters([x]) == []


def test_what_is_computed_from_parameters_is_not_spoken_of() -> None:
    layer = Linear(2, 2)
    with Tensor.no_grad():
        kept = layer(Tensor.ones(1, 2))
    model = {"layer": layer, "kept": kept, "relu": kept.relu(), "first": layer.weight.detach()[0]}
    assert len(get_parameters(model)) == 2
    model["kept"] = layer(Tensor.ones(1, 2)).realize()
    assert len(get_parameters(model)) == 2


def test_layers_say_which_of_their_tensors_are_constants() -> None:
    layers = [BatchNorm(2), InstanceNorm1d(2, affine=True, track_running_stats=True), Embedding(3, 2)]
    assert len(get_parameters(layers)) == 5
    frozen = Embedding.from_pretrained(Tensor.ones(3, 2))
    assert get_parameters([frozen, copy.deepcopy(frozen), plugrad.nn.BatchNorm(2, affine=False)]) == []


def test_a_trainer_with_its_optimizer_is_no_reason_to_warn() -> None:
    layer = Linear(2, 2)
    optimizers = [Adam(get_parameters(layer)), SGD(get_parameters(layer), momentum=0.9)]
    assert len(get_parameters({"layer": layer, "optimizers": optimizers, "scaler": GradScaler()})) == 2


def test_a_parameter_that_is_frozen_and_thawed_is_one_again() -> None:
    layer = Linear(2, 2)
    layer.weight.requires_grad_(False)
    assert get_parameters(layer) == [layer.bias]
    layer.weight.requires_grad_()
    assert len(get_parameters(layer)) == 2
