import pytest

from plugrad import Tensor
from plugrad.device import Device
from plugrad.engine.compile import compile_kernels
from plugrad.observe.highlight import highlighted
from plugrad.observe.style import paint, plain


@pytest.mark.parametrize(
    ("piece", "colour"),
    [
        ("// all of it: int 3", "bright_black"),
        ("/* int\n3 */", "bright_black"),
        ('"int 3"', "green"),
        ("#include <math.h>", "bright_black"),
        ("unsigned long long", "cyan"),
        ("float4", "cyan"),
        ("__kernel", "magenta"),
        ("return", "magenta"),
        ("0x1Fu", "yellow"),
        ("1.5e-3f", "yellow"),
        ("4294967295ull", "yellow"),
    ],
)
def test_a_piece_has_the_colour_of_its_kind(piece: str, colour: str) -> None:
    painted = "\n".join(paint(line, colour) for line in piece.split("\n"))  # pyright: ignore[reportArgumentType]
    assert highlighted(piece) == painted


def test_names_keep_their_digits_and_calls_are_told_from_names() -> None:
    assert highlighted("alu12 = data0_4") == "alu12 = data0_4"
    assert highlighted("exp2(val0)") == f"{paint('exp2', 'bright_blue')}(val0)"


def test_without_colours_nothing_is_changed() -> None:
    x = Tensor.rand(4, 4)
    item = ((x @ x).exp() * 0.5).sum().schedule()[-1]
    (kernel,) = compile_kernels(Device[Device.DEFAULT], [item.ast])
    source = kernel.program.source
    assert plain(highlighted(source)) == source
