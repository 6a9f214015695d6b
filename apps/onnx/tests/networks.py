"""Small networks in PyTorch, of the kinds that people export."""

import torch
from torch import nn


class Block(nn.Module):
    """A residual block of two convolutions."""

    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride, 1, bias=False),
            nn.BatchNorm2d(out),
            nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1, bias=False),
            nn.BatchNorm2d(out),
        )
        self.skip = nn.Conv2d(channels, out, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.skip(x))


def resnet() -> tuple[nn.Module, torch.Tensor]:
    body = [nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    head = [Block(8, 8, 1), Block(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)]
    return nn.Sequential(*body, *head), torch.randn(2, 3, 24, 24)


class Attention(nn.Module):
    """Self-attention whose sizes come from its input; tracing makes numbers of those of PyTorch's own."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(size)
        self.project, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, size = x.shape
        parts = self.project(self.norm(x)).view(batch, length, 3, self.heads, size // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v)
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, size))


class Encoder(nn.Module):
    """A transformer encoder over tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.layers = nn.Sequential(*(nn.Sequential(Attention(16, 2), FeedForward(16, 32)) for _ in range(2)))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.layers(self.tokens(tokens) + self.places(places)).mean(1)


class FeedForward(nn.Module):
    """Two layers with a residual connection around."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.LayerNorm(size), nn.Linear(size, inner), nn.GELU(), nn.Linear(inner, size)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


def encoder() -> tuple[nn.Module, torch.Tensor]:
    return Encoder(), torch.randint(0, 50, (2, 7))


class Tagger(nn.Module):
    """A bidirectional recurrent network of two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.rnn(x)[0])


def lstm() -> tuple[nn.Module, torch.Tensor]:
    return Tagger(), torch.randn(2, 4, 6)


class UNet(nn.Module):
    """Down by pooling, up by interpolation and transposed convolution, with a connection across."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.low = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(8, 2, 1)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = torch.relu(self.down(x))
        low = torch.nn.functional.silu(self.norm(self.low(torch.nn.functional.avg_pool2d(wide, 2))))
        joined = torch.cat([self.up(low), wide], 1)
        out = self.last(joined)
        return out + torch.nn.functional.interpolate(out[:, :, ::2, ::2], scale_factor=2, mode="bilinear")


def unet() -> tuple[nn.Module, torch.Tensor]:
    return UNet(), torch.randn(1, 1, 8, 8)


NETWORKS = {"resnet": resnet, "encoder": encoder, "lstm": lstm, "unet": unet}
#: dynamic axes of each network's input, with sizes beside those of the example
AXES = {
    "resnet": {0: "batch"},
    "encoder": {0: "batch", 1: "length"},
    "lstm": {0: "batch"},
    "unet": {0: "batch"},
}


def resnet18() -> tuple[nn.Module, torch.Tensor]:
    """Return the network of He et al. 2015, with the layers of their table 1, and random statistics."""
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks: list[nn.Module] = []
    channels = 64
    for out in (64, 128, 256, 512):
        blocks += [Block(channels, out, 1 if out == channels else 2), Block(out, out, 1)]
        channels = out
    network = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    return network, torch.randn(1, 3, 224, 224)
