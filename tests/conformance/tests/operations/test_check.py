import numpy as np
import pytest

from plugrad import Tensor
from plugrad.transforms import custom_gradient
from plugrad_conformance.operations import Operation, do, faults
from plugrad_conformance.operations.check import curvature_by_differences, gradient_by_differences
from plugrad_conformance.operations.operation import Array, Meaning

X = np.array([0.25, -1.5, 2.0], np.float32)


def faults_of(
    call: Meaning, reference: Meaning, x: Array = X, dtype: str | None = None, order: int = 0
) -> str:
    return " ".join(faults(do(Operation("it", "x", call, reference, (x,), dtype, order), "PYTHON")))


def test_right_results_have_no_faults() -> None:
    assert faults_of(lambda x: x.exp(), np.exp, order=2) == ""
    assert faults_of(lambda x: (x, x > 0), lambda x: (x, x > 0)) == ""


def test_wrong_elements_are_named() -> None:
    found = faults_of(lambda x: x + (x > 1), lambda x: x)
    assert (
        "it/x: result 0 is np.float32(3.0) at (2,) where np.float64(2.0) is expected (1 of 3 differ)" in found
    )
    assert "at (0,)" in faults_of(lambda x: x, lambda x: x * (1 + 1e-3))
    assert "inf" in faults_of(lambda x: x / 0, lambda x: x)
    assert faults_of(lambda x: x.cast("int32"), lambda x: np.array([0, -1, 3]), dtype="int32")


@pytest.mark.filterwarnings("ignore")
def test_nan_and_infinity_have_to_be_where_they_are_expected() -> None:
    edges = np.array([np.nan, np.inf, 1.0], np.float32)
    assert faults_of(lambda x: x, lambda x: x, edges) == ""
    assert "at (1,)" in faults_of(lambda x: x, lambda x: np.where(np.isinf(x), -x, x), edges)
    assert "at (0,)" in faults_of(lambda x: x, lambda x: np.nan_to_num(x, posinf=np.inf), edges)


def test_wrong_shapes_dtypes_and_counts_are_named() -> None:
    assert "has shape (3,) where (1, 3)" in faults_of(lambda x: x, lambda x: x[None])
    assert "is float64 where float32" in faults_of(lambda x: x.cast("float64"), lambda x: x)
    assert "result 1 is int32 where bool" in faults_of(lambda x: (x, x.int()), lambda x: (x, x > 0))
    assert "1 results where 2" in faults_of(lambda x: x, lambda x: (x, x))


def test_wrong_derivatives_are_named() -> None:
    assert "gradient 0" in faults_of(lambda x: x.detach() * x, lambda x: x * x, order=1)

    def halved(x: Tensor) -> Tensor:
        # the first derivative of x**3 / 6 is right, the second is not
        return x**3 / 6 + (x - x.detach()) ** 2

    assert "second derivative 0" in faults_of(halved, lambda x: x**3 / 6, order=2)


def test_a_wrong_second_derivative_of_what_is_linear_is_named() -> None:
    @custom_gradient(lambda gradient, inputs, output: 3 * gradient.detach())
    def tripled(x: Tensor) -> Tensor:
        return 3 * x

    assert faults_of(tripled, lambda x: 3 * x, order=1) == ""
    assert "second derivative 0" in faults_of(tripled, lambda x: 3 * x, order=2)
    assert faults_of(lambda x: 3 * x, lambda x: 3 * x, order=2) == ""


def test_differences_are_derivatives() -> None:
    case = Operation("it", "x", lambda x: x, np.exp, (X,), order=2)
    weights = np.cos(np.arange(3))
    np.testing.assert_allclose(gradient_by_differences(case, 0), weights * np.exp(X.astype(float)), rtol=1e-9)
    curvature = weights**2 * 4 * np.exp(2 * X.astype(float))
    np.testing.assert_allclose(curvature_by_differences(case, 0), curvature, rtol=1e-5)
