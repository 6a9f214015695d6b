"""Tests of plugrad.nn.summaries."""

import pytest

from plugrad import nn
from plugrad.errors import ArgumentError
from plugrad.tensor import Tensor


def model() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.Flatten(), nn.Linear(18, 4)))


def test_layers_come_with_shapes_and_parameters() -> None:
    found = nn.summary(model(), Tensor.ones(2, 1, 5, 5))
    assert [(layer.name, layer.kind, layer.shapes, layer.parameters) for layer in found.layers] == [
        ("", "Sequential", ((2, 4),), 100),
        ("0", "Conv2d", ((2, 2, 3, 3),), 20),
        ("1", "BatchNorm", ((2, 2, 3, 3),), 4),
        ("2", "Sequential", ((2, 4),), 76),
        ("2.0", "Flatten", ((2, 18),), 0),
        ("2.1", "Linear", ((2, 4),), 76),
    ]
    assert found.parameters == 100


def test_a_summary_leaves_the_model_as_it_was() -> None:
    described = model().train()
    before = [dict(vars(module)) for module in described.modules()]
    nn.summary(described, Tensor.ones(2, 1, 5, 5))
    with pytest.raises(Exception, match="channels"):
        nn.summary(described, Tensor.ones(2, 3, 5, 5))
    assert [dict(vars(module)) for module in described.modules()] == before
    assert all(module.training for module in described.modules())


def test_several_results_have_several_shapes() -> None:
    found = nn.summary(nn.LSTM(3, 4), Tensor.ones(5, 2, 3))
    assert found.layers[0].shapes == ((5, 2, 4), (1, 2, 4), (1, 2, 4))


def test_a_class_of_any_kind_with_modules_is_a_model() -> None:
    class Model:
        def __init__(self) -> None:
            self.layers = [nn.Linear(3, 4), nn.Dropout()]
            self.again = self.layers[0]

        def __call__(self, x: Tensor) -> Tensor:
            return x.sequential(self.layers)

    described = Model()
    found = nn.summary(described, Tensor.ones(2, 3))
    assert [(layer.name, layer.kind, layer.shapes, layer.parameters) for layer in found.layers] == [
        ("", "Model", ((2, 4),), 16),
        ("layers.0", "Linear", ((2, 4),), 16),
        ("layers.1", "Dropout", ((2, 4),), 0),
    ]
    assert "forward" not in vars(described.again)


def test_without_inputs_there_are_no_shapes() -> None:
    assert [layer.shapes for layer in nn.summary(nn.Linear(3, 4)).layers] == [()]


def test_a_list_of_layers_is_called_as_a_sequential() -> None:
    layers = [nn.Linear(2, 16), Tensor.tanh, nn.Linear(16, 1)]
    listed, called = (
        nn.summary(layers, Tensor.ones(3, 2)),
        nn.summary(nn.Sequential(*layers), Tensor.ones(3, 2)),
    )
    assert listed.layers[1:] == called.layers[1:]
    assert (listed.layers[0].kind, listed.layers[0].shapes) == ("list", ((3, 1),))


def test_inputs_for_what_cannot_be_called_are_an_error() -> None:
    with pytest.raises(ArgumentError, match="dict is no function"):
        nn.summary({"a": nn.Linear(2, 3)}, Tensor.ones(1, 2))
