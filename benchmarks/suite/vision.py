"""Networks for images that are written once, for the layers of PyTorch or of plugrad."""

from collections.abc import Callable
from typing import Any

#: factor of the width inside, channels, blocks and stride of each stage: table 2 of Sandler et al. 2018
_MOBILE_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet(nn: Any) -> Any:
    """Return MobileNetV2: 1 x 1 convolutions around depthwise ones of 3 x 3."""

    def convolution(channels: int, out: int, size: int, stride: int = 1, groups: int = 1) -> list[Any]:
        made = nn.Conv2d(channels, out, size, stride, size // 2, groups=groups, bias=False)
        return [made, nn.BatchNorm2d(out), nn.ReLU6()]

    class Block(nn.Module):
        def __init__(self, channels: int, out: int, stride: int, factor: int) -> None:
            super().__init__()
            inner = channels * factor
            wider = convolution(channels, inner, 1) if factor > 1 else []
            narrower = [nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out)]
            self.body = nn.Sequential(*wider, *convolution(inner, inner, 3, stride, inner), *narrower)
            self.adds = stride == 1 and channels == out

        def forward(self, x: Any) -> Any:
            return x + self.body(x) if self.adds else self.body(x)

    layers, channels = convolution(3, 32, 3, 2), 32
    for factor, out, count, stride in _MOBILE_STAGES:
        for number in range(count):
            layers.append(Block(channels, out, stride if number == 0 else 1, factor))
            channels = out
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers, *convolution(channels, 1280, 1), *last)


def vision_transformer(nn: Any) -> Any:
    """Return six encoder layers over patches of 16 x 16: the tiny sizes of Touvron et al. 2021."""
    size, heads = 192, 3

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches, self.places = nn.Conv2d(3, size, 16, 16), nn.Embedding(196, size)
            options: Any = {"dropout": 0.0, "activation": "gelu", "batch_first": True}
            self.layers = nn.Sequential(
                *(nn.TransformerEncoderLayer(size, heads, 4 * size, **options) for _ in range(6))
            )
            self.head = nn.Linear(size, 1000)

        def forward(self, x: Any) -> Any:
            x = self.patches(x).flatten(2).transpose(1, 2) + self.places.weight
            return self.head(self.layers(x).mean(1))

    return Model()


def unet(nn: Any, join: Callable[[list[Any], int], Any]) -> Any:
    """Return a small network of Ronneberger et al. 2015, with group normalisation and residuals.

    `join` is the library's concatenation.
    """
    width = 64

    class Block(nn.Module):
        def __init__(self, channels: int, out: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                *(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, out, 3, padding=1)),
                *(nn.GroupNorm(8, out), nn.SiLU(), nn.Conv2d(out, out, 3, padding=1)),
            )
            self.skip = nn.Conv2d(channels, out, 1) if channels != out else nn.Identity()

        def forward(self, x: Any) -> Any:
            return self.body(x) + self.skip(x)

    def halved(channels: int, out: int) -> Any:
        return nn.Sequential(nn.Conv2d(channels, channels, 3, 2, 1), Block(channels, out))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.large = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), Block(width, width))
            self.middle = halved(width, 2 * width)
            self.small = nn.Sequential(halved(2 * width, 2 * width), Block(2 * width, 2 * width))
            self.to_middle, self.to_large = (
                nn.ConvTranspose2d(2 * width, 2 * width, 4, 2, 1),
                nn.Upsample(None, 2),
            )
            self.second_middle, self.second_large = Block(4 * width, width), Block(2 * width, width)
            self.head = nn.Conv2d(width, 3, 3, padding=1)

        def forward(self, x: Any) -> Any:
            large = self.large(x)
            middle = self.middle(large)
            x = self.second_middle(join([self.to_middle(self.small(middle)), middle], 1))
            return self.head(self.second_large(join([self.to_large(x), large], 1)))

    return Model()
