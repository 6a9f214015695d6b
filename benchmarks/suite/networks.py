"""Networks that are written once, for the layers of PyTorch or of plugrad."""

from collections.abc import Callable
from typing import Any

WIDTHS = (64, 128, 256, 512)


def resnet18(nn: Any) -> Any:
    """Return the network of 18 layers of He et al. 2015, table 1."""

    class Block(nn.Module):
        def __init__(self, channels: int, out: int) -> None:
            super().__init__()
            stride = out // channels
            self.body = nn.Sequential(
                nn.Conv2d(channels, out, 3, stride, 1, bias=False),
                nn.BatchNorm2d(out),
                nn.ReLU(),
                nn.Conv2d(out, out, 3, 1, 1, bias=False),
                nn.BatchNorm2d(out),
            )
            self.skip = nn.Sequential()
            if stride > 1:
                self.skip = nn.Sequential(
                    nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)
                )

        def forward(self, x: Any) -> Any:
            return (self.body(x) + self.skip(x)).relu()

    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks = [
        block
        for before, out in zip((64, *WIDTHS), WIDTHS, strict=False)
        for block in (Block(before, out), Block(out, out))
    ]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def sentence_encoder(nn: Any) -> Any:
    """Return an encoder of the sizes of MiniLM-L6: tokens to the mean of their vectors."""
    size, heads, inner = 384, 12, 1536

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.out = (nn.Linear(size, size) for _ in range(4))
            self.norm, self.last_norm = nn.LayerNorm(size), nn.LayerNorm(size)
            self.inner, self.outer, self.gelu = nn.Linear(size, inner), nn.Linear(inner, size), nn.GELU()

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = [
                part(x).reshape(batch, length, heads, size // heads).permute(0, 2, 1, 3)
                for part in (self.query, self.key, self.value)
            ]
            scores = parts[0] @ parts[1].transpose(2, 3) * (size // heads) ** -0.5
            mixed = scores.softmax(-1) @ parts[2]
            x = self.norm(x + self.out(mixed.permute(0, 2, 1, 3).reshape(batch, length, size)))
            return self.last_norm(x + self.outer(self.gelu(self.inner(x))))

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(30522, size), nn.Embedding(512, size)
            self.norm = nn.LayerNorm(size)
            self.layers = nn.Sequential(*(Layer() for _ in range(6)))

        def forward(self, tokens: Any) -> Any:
            x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
            return self.layers(self.norm(x)).mean(1)

    return Encoder()


def convnet(nn: Any) -> Any:
    """Return a classifier of digits of 28 x 28: four convolutions, two normalisations, two poolings."""
    first = [nn.Conv2d(1, 32, 5), nn.ReLU(), nn.Conv2d(32, 32, 5, bias=False), nn.ReLU()]
    second = [nn.Conv2d(32, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3, bias=False), nn.ReLU()]
    layers = [*first, nn.BatchNorm2d(32), nn.MaxPool2d(2), *second, nn.BatchNorm2d(64), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(576, 10))


def language_model(nn: Any, attend: Callable[..., Any], layers: int = 6) -> Any:
    """Return a causal transformer over 65 characters, 384 wide; `attend` is the library's attention."""
    size, heads, characters = 384, 6, 65

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.inner_norm = nn.LayerNorm(size), nn.LayerNorm(size)
            self.read, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
            self.inner = nn.Sequential(nn.Linear(size, 4 * size), nn.GELU(), nn.Linear(4 * size, size))

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            parts = self.read(self.norm(x)).reshape(batch, length, 3, heads, size // heads)
            q, k, v = (parts[:, :, i].transpose(1, 2) for i in range(3))
            mixed = attend(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, size)
            x = x + self.out(mixed)
            return x + self.inner(self.inner_norm(x))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(characters, size), nn.Embedding(256, size)
            self.layers = nn.Sequential(*(Layer() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(size), nn.Linear(size, characters, bias=False)

        def forward(self, tokens: Any) -> Any:
            x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
            return self.head(self.norm(self.layers(x))).reshape(-1, characters)

    return Model()


def tagger(nn: Any) -> Any:
    """Return two recurrent layers over words, 256 wide, that tell which word comes next."""
    words, size = 1000, 256

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.layers = (
                nn.Embedding(words, size // 2),
                nn.LSTM(size // 2, size, 2, batch_first=True),
            )
            self.head = nn.Linear(size, words)

        def forward(self, tokens: Any) -> Any:
            return self.head(self.layers(self.words(tokens))[0]).reshape(-1, words)

    return Model()
