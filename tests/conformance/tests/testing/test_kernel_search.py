"""The search for kernels that optimisations break finds them and says what it did."""

from dataclasses import replace

import pytest

from plugrad.codegen.opt.kernel_opt import KernelOpt
from plugrad.codegen.opt.opt_ops import OptOps
from plugrad.codegen.prepare.ranges import simplify_ranges
from plugrad_conformance.testing import kernel_search
from plugrad_conformance.testing.kernel_search import MATRIX_TARGETS, main
from plugrad_conformance.testing.random_kernels import RandomKernel
from plugrad_conformance.testing.random_products import random_core, random_product, random_product_opts


def test_the_command_says_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "1"]) == 0
    assert main(["--count", "1", "--products"]) == 0
    assert capsys.readouterr().out == ("1 kernels on 5 targets: 0 differ\n1 kernels on 2 targets: 0 differ\n")


def test_what_differs_and_what_fails_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(RandomKernel, "difference", lambda self, got, want: "slot 0")
    assert main(["--count", "1", "--products"]) == 1
    assert "seed 0, grid: opts (): slot 0" in capsys.readouterr().out

    def refuse(*_: object) -> None:
        raise IndexError("too far")

    monkeypatch.setattr(kernel_search, "run_lowered", refuse)
    assert main(["--count", "1"]) == 1
    assert "seed 0, scalar: IndexError: too far" in capsys.readouterr().out


def test_most_random_products_take_their_matrix_instruction() -> None:
    taken = 0
    for seed in range(20):
        core = random_core(seed)
        ast = simplify_ranges(random_product(seed, core).ast)
        capabilities = replace(MATRIX_TARGETS["grid"], tensor_cores=(core,))
        opts = random_product_opts(KernelOpt(ast, capabilities), seed, core)
        taken += any(opt.op is OptOps.TC for opt in opts)
    assert taken > 12
