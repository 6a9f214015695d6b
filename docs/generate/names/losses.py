"""Names of other libraries for those of docs/api/losses.md: losses."""

ROWS: dict[str, tuple[str, str, str, str]] = {
    "Tensor.mse_loss": ("torch.nn.functional.mse_loss", "", "", "f(x, y)"),
    "Tensor.l1_loss": ("torch.nn.functional.l1_loss", "", "", "f(x, y)"),
    "Tensor.smooth_l1_loss": ("torch.nn.functional.smooth_l1_loss", "", "", "f(x, y)"),
    "Tensor.huber_loss": ("torch.nn.functional.huber_loss", "", "", "f(x, y)"),
    "Tensor.binary_cross_entropy": ("torch.nn.functional.binary_cross_entropy", "", "", "f(p, q)"),
    "Tensor.binary_crossentropy": (
        "torch.nn.functional.binary_cross_entropy",
        "",
        "tinygrad.Tensor.binary_crossentropy",
        "f(p, q)",
    ),
    "Tensor.binary_cross_entropy_with_logits": (
        "torch.nn.functional.binary_cross_entropy_with_logits",
        "",
        "",
        "f(x, y)",
    ),
    "Tensor.binary_crossentropy_logits": (
        "torch.nn.functional.binary_cross_entropy_with_logits",
        "",
        "tinygrad.Tensor.binary_crossentropy_logits",
        "f(x, y)",
    ),
    "Tensor.kl_div": ("torch.nn.functional.kl_div", "", "", "f(x, p)"),
    "Tensor.cosine_similarity": ("torch.nn.functional.cosine_similarity", "", "", "f(x, y)"),
    "Tensor.pairwise_distance": ("torch.nn.functional.pairwise_distance", "", "", "f(x, y)"),
    "Tensor.triplet_margin_loss": ("torch.nn.functional.triplet_margin_loss", "", "", "f(x, y, x - y)"),
    "Tensor.cosine_embedding_loss": (
        "torch.nn.functional.cosine_embedding_loss",
        "",
        "",
        "f(x, y, v[:3].sign())",
    ),
    "Tensor.one_hot": (
        "torch.nn.functional.one_hot",
        "",
        "tinygrad.Tensor.one_hot",
        "f(k, 3); torch: f(k.long(), 3)",
    ),
    "Tensor.sparse_categorical_crossentropy": (
        "torch.nn.functional.cross_entropy",
        "",
        "tinygrad.Tensor.sparse_categorical_crossentropy",
        "f(x, k); torch: f(x, k.long())",
    ),
    "Tensor.cross_entropy": (
        "torch.nn.functional.cross_entropy",
        "",
        "tinygrad.Tensor.cross_entropy",
        "f(x, k); torch: f(x, k.long())",
    ),
    "Tensor.nll_loss": (
        "torch.nn.functional.nll_loss",
        "",
        "tinygrad.Tensor.nll_loss",
        "f(x, k); torch: f(x, k.long())",
    ),
    "Tensor.ctc_loss": (
        "torch.nn.functional.ctc_loss",
        "",
        "",
        "f(signal.transpose(0, 1).log_softmax(-1), k[:2, None] + 1, (4, 4), (1, 1))",
    ),
}
