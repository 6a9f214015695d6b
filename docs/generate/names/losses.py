"""Names of other libraries for those of docs/api/losses.md: losses."""

ROWS: dict[str, tuple[str, str, str]] = {
    "Tensor.mse_loss": ("torch.nn.functional.mse_loss", "", ""),
    "Tensor.l1_loss": ("torch.nn.functional.l1_loss", "", ""),
    "Tensor.smooth_l1_loss": ("torch.nn.functional.smooth_l1_loss", "", ""),
    "Tensor.huber_loss": ("torch.nn.functional.huber_loss", "", ""),
    "Tensor.binary_cross_entropy": ("torch.nn.functional.binary_cross_entropy", "", ""),
    "Tensor.binary_crossentropy": (
        "torch.nn.functional.binary_cross_entropy",
        "",
        "tinygrad.Tensor.binary_crossentropy",
    ),
    "Tensor.binary_cross_entropy_with_logits": (
        "torch.nn.functional.binary_cross_entropy_with_logits",
        "",
        "",
    ),
    "Tensor.binary_crossentropy_logits": (
        "torch.nn.functional.binary_cross_entropy_with_logits",
        "",
        "tinygrad.Tensor.binary_crossentropy_logits",
    ),
    "Tensor.kl_div": ("torch.nn.functional.kl_div", "", ""),
    "Tensor.cosine_similarity": ("torch.nn.functional.cosine_similarity", "", ""),
    "Tensor.pairwise_distance": ("torch.nn.functional.pairwise_distance", "", ""),
    "Tensor.triplet_margin_loss": ("torch.nn.functional.triplet_margin_loss", "", ""),
    "Tensor.cosine_embedding_loss": ("torch.nn.functional.cosine_embedding_loss", "", ""),
    "Tensor.one_hot": ("torch.nn.functional.one_hot", "", "tinygrad.Tensor.one_hot"),
    "Tensor.sparse_categorical_crossentropy": (
        "torch.nn.functional.cross_entropy",
        "",
        "tinygrad.Tensor.sparse_categorical_crossentropy",
    ),
    "Tensor.cross_entropy": ("torch.nn.functional.cross_entropy", "", "tinygrad.Tensor.cross_entropy"),
    "Tensor.nll_loss": ("torch.nn.functional.nll_loss", "", "tinygrad.Tensor.nll_loss"),
    "Tensor.ctc_loss": ("torch.nn.functional.ctc_loss", "", ""),
}
