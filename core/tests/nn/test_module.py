"""Tests of plugrad.nn.module, against torch."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from plugrad import TinyJit, nn
from plugrad.dtype import dtypes
from plugrad.errors import ArgumentError, DeviceNotFound, StateError
from plugrad.nn.state import get_parameters, get_state_dict
from plugrad.tensor import Tensor


class Plain:
    """A layer that knows nothing of modules."""

    def __init__(self, library: Any) -> None:
        self.linear = library.Linear(3, 3)

    def __call__(self, x: Any) -> Any:
        return self.linear(x)


def net(library: Any) -> Any:
    class Net(library.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = library.Conv2d(1, 2, 3)
            self.norm = library.BatchNorm2d(2)
            self.parts = library.ModuleList([library.Linear(18, 4), library.ReLU()])
            self.heads = library.ModuleDict({"a": library.Linear(4, 2), "b": library.Linear(4, 2)})
            self.drop = library.Dropout(0.5)

        def forward(self, x: Any) -> Any:
            x = self.norm(self.conv(x)).flatten(1)
            for part in self.parts:
                x = part(x)
            return self.heads["a"](self.drop(x)) + self.heads["b"](x)

    return Net()


def test_names_are_torchs() -> None:
    ours, theirs = net(nn), net(torch.nn)
    for method in ("named_parameters", "named_buffers", "named_modules", "named_children"):
        assert [name for name, _ in getattr(ours, method)()] == [
            name for name, _ in getattr(theirs, method)()
        ]
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for method in ("parameters", "buffers", "modules", "children"):
        assert len(list(getattr(ours, method)())) == len(list(getattr(theirs, method)()))
    assert next(ours.named_parameters("model"))[0] == next(theirs.named_parameters("model"))[0]
    assert list(ours.state_dict("model.")) == list(theirs.state_dict(prefix="model."))


def test_a_model_computes_what_torchs_does_in_both_modes() -> None:
    ours, theirs = net(nn), net(torch.nn)
    ours.drop.p = theirs.drop.p = 0.0
    ours.load_state_dict({name: Tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    x = np.random.default_rng(1).normal(size=(4, 1, 5, 5)).astype(np.float32)
    for mode in (True, False):
        expected = theirs.train(mode)(torch.tensor(x)).detach().numpy()
        np.testing.assert_allclose(ours.train(mode)(Tensor(x)).numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.norm.running_var.numpy(), theirs.norm.running_var.numpy(), rtol=1e-5)


def test_load_state_dict_returns_the_names_of_one_side_only() -> None:
    ours, theirs = nn.Linear(3, 2), torch.nn.Linear(3, 2)
    other = {"weight": Tensor.zeros(2, 3), "scale": Tensor.ones(2)}
    expected = theirs.load_state_dict({n: torch.tensor(t.numpy()) for n, t in other.items()}, strict=False)
    found = ours.load_state_dict(other, strict=False)
    assert (found.missing_keys, found.unexpected_keys) == (expected.missing_keys, expected.unexpected_keys)
    with pytest.raises(StateError, match=r"missing \['bias'\], unexpected \['scale'\]"):
        ours.load_state_dict(other)


def test_layers_of_plain_classes_are_found_and_follow_the_mode() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            self.plain = Plain(nn)
            self.drop = [lambda x: x.dropout(0.999999)]

        def forward(self, x: Tensor) -> Tensor:
            return self.drop[0](self.plain(x))

    model = Model()
    assert [name for name, _ in model.named_modules()] == ["", "plain.linear"]
    assert (
        list(get_state_dict(model))
        == list(model.state_dict())
        == ["plain.linear.weight", "plain.linear.bias"]
    )
    assert [*map(id, model.parameters())] == [*map(id, get_parameters(model))]
    x = Tensor.ones(3)
    assert model.train()(x).tolist() == [0.0] * 3
    assert model.eval()(x).tolist() == model.plain(x).tolist()


def test_the_mode_of_a_part_counts_for_that_part() -> None:
    model = nn.Sequential(nn.Dropout(0.999999), nn.Dropout(0.999999))
    assert not model.training
    with Tensor.train():
        assert model.training
    model.train()[1].eval()
    assert [module.training for module in model.modules()] == [True, True, False]
    assert model(Tensor.ones(4)).tolist() == [0.0] * 4
    assert model[1](Tensor.ones(4)).tolist() == [1.0] * 4
    assert not Tensor.training
    with pytest.raises(ArgumentError, match=r"train: mode='eval'"):
        model.train("eval")


def test_a_jitted_function_follows_the_mode() -> None:
    model = nn.Sequential(nn.Dropout(0.999999))
    step = TinyJit(lambda x: model(x) + 0)
    for mode in (True, False):
        model.train(mode)
        for _ in range(4):
            assert step(Tensor.ones(4).realize()).tolist() == [float(not mode)] * 4


def test_to_moves_and_casts_in_place() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm(2))
    before = model.state_dict()
    assert model.to("PYTHON", dtypes.float16) is model
    for name, tensor in model.state_dict().items():
        assert tensor is before[name]
        assert tensor.device == "PYTHON"
        assert tensor.dtype is (dtypes.int64 if "tracked" in name else dtypes.float16)
    assert len(list(model.parameters())) == 4
    model.to(Tensor([1.0], dtype=dtypes.float32))
    model(Tensor.ones(1, 3, device="PYTHON")).sum().backward()
    assert model[0].weight.grad is not None
    model.zero_grad()
    assert model[0].weight.grad is None


def test_a_model_that_is_moved_to_where_it_is_still_learns() -> None:
    model = nn.Linear(3, 2)
    nn.optim.SGD(model.parameters(), lr=0.1)
    model.to(model.weight.device)
    model(Tensor.ones(4, 3)).sum().backward()
    assert model.weight.grad is not None


def test_a_device_that_cannot_be_opened_leaves_the_whole_model_where_it_is(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    before = next(model.parameters()).device
    with pytest.raises(DeviceNotFound, match="cannot open"):
        model.to(f"DISK:{tmp_path}/missing/weights")
    assert {tensor.device for tensor in model.parameters()} == {before}
    assert model(Tensor.ones(1, 3)).shape == (1, 2)


def test_shared_modules_and_tensors_come_once() -> None:
    layer = nn.Linear(3, 3)
    model = nn.ModuleList([layer, layer])
    assert [name for name, _ in model.named_modules()] == ["", "0"]
    assert [name for name, _ in model.named_parameters()] == ["0.weight", "0.bias"]
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_apply_begins_at_the_leaves() -> None:
    found: list[str] = []
    net(nn).apply(lambda module: found.append(type(module).__name__))
    assert found[-1] == "Net"
    assert set(found) >= {"Conv2d", "BatchNorm", "Linear", "ReLU", "ModuleList"}


def test_buffers_are_not_trained() -> None:
    model = nn.Identity()
    model.register_buffer("mask", Tensor([1.0], requires_grad=True))
    model.register_buffer("other", None)
    assert [name for name, _ in model.named_buffers()] == ["mask"]
    assert not list(model.parameters())


def test_buffers_that_are_not_persistent_are_no_state_but_move_as_in_torch() -> None:
    def model(library: Any, tensor: Any) -> Any:
        class Rotary(library.Module):
            def __init__(self) -> None:
                super().__init__()
                self.register_buffer("kept", tensor([1.0]))
                self.register_buffer("cos", tensor([2.0]), persistent=False)
                self.register_buffer("none", None, persistent=False)

        return library.Sequential(Rotary(), Rotary())

    ours, theirs = model(nn, Tensor), model(torch.nn, torch.tensor)
    assert list(ours.state_dict("m.")) == list(theirs.state_dict(prefix="m.")) == ["m.0.kept", "m.1.kept"]
    assert [name for name, _ in ours.named_buffers()] == [name for name, _ in theirs.named_buffers()]
    assert list(ours[0].state_dict()) == list(theirs[0].state_dict()) == ["kept"]
    ours.load_state_dict({"0.kept": Tensor([3.0]), "1.kept": Tensor([4.0])})
    assert copy.deepcopy(ours).to(dtypes.float16)[1].cos.dtype == dtypes.float16
    ours[0].register_buffer("cos", Tensor([5.0]))
    assert list(ours.state_dict()) == ["0.kept", "0.cos", "1.kept"]


def test_a_module_without_forward_says_what_to_define() -> None:
    with pytest.raises(NotImplementedError, match="Module has no method `forward`"):
        nn.Module()(1)


def test_repr_shows_what_differs_from_the_defaults() -> None:
    shown = {
        repr(nn.Conv2d(1, 8, 3, padding=1, bias=False)),
        repr(nn.MaxPool2d(2)),
        repr(nn.ReLU()),
        repr(nn.CrossEntropyLoss(label_smoothing=0.1)),
        repr(nn.Sequential()),
    }
    assert shown == {
        "Conv2d(in_channels=1, out_channels=8, kernel_size=(3, 3), padding=1, bias=False)  # 72 parameters",
        "MaxPool2d(kernel_size=2)",
        "ReLU()",
        "CrossEntropyLoss(label_smoothing=0.1)",
        "Sequential()",
    }


def test_repr_shows_the_structure() -> None:
    assert repr(nn.Sequential(nn.Sequential(nn.Linear(1, 1)), Tensor.relu)).split("\n") == [
        "Sequential(",
        "  (0): Sequential(",
        "    (0): Linear(in_features=1, out_features=1)  # 2 parameters",
        "  )  # 2 parameters",
        "  (1): relu",
        ")  # 2 parameters",
    ]


def test_a_model_whose_names_clash_can_be_shown() -> None:
    model = nn.ModuleDict({"a.b": nn.Linear(1, 1), "a": {"b": nn.Linear(1, 1)}})
    with pytest.raises(StateError, match="two tensors"):
        model.state_dict()
    assert repr(model).endswith(")  # 4 parameters")


def test_models_are_copied_and_pickled() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.MaxPool1d(2))).eval()
    x = Tensor.rand(1, 2)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert repr(other) == repr(model)
        assert other(x).tolist() == model(x).tolist()
        assert other[0].weight is not model[0].weight
