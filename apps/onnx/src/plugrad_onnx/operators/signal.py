"""Transform signals to frequencies."""

from typing import Any

import numpy as np

from plugrad import Tensor, dtypes
from plugrad.dtype import is_complex
from plugrad_onnx.registry import operator
from plugrad_onnx.sizes import as_number
from plugrad_onnx.values import Array, dtype_of, shape_of, sizes_of


def _as_complex(x: Tensor) -> Tensor:
    """Turn a last axis of one or two parts into complex numbers."""
    wide = x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x
    return Tensor.complex(wide[..., 0], wide[..., 1]) if shape_of(x, x.ndim - 1) == (2,) else wide[..., 0]


def _as_pairs(x: Tensor) -> Tensor:
    """Return complex numbers as pairs along a new last axis."""
    return x.real.stack(x.imag, axis=-1)


@operator("DFT", since=17, until=19)
def dft_along(
    x: Tensor, dft_length: int | None = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Tensor:
    """Return the discrete Fourier transform along an axis."""
    return dft(x, dft_length, axis, inverse=inverse, onesided=onesided)


@operator("DFT", since=20)
def dft(
    x: Tensor, dft_length: int | None = None, axis: int | None = None, *, inverse: int = 0, onesided: int = 0
) -> Tensor:
    """Return the discrete Fourier transform along an axis, pairs of real and imaginary parts behind."""
    at = (-2 if axis is None else axis) % x.ndim
    given = _as_complex(x)
    if onesided and inverse:
        return given.irfft(dft_length, at).unsqueeze(-1).cast(x.dtype)
    if inverse:
        out = given.ifft(dft_length, at)
    elif is_complex(given.dtype):
        whole = given.fft(dft_length, at)
        out = whole.narrow(at, 0, sizes_of(whole)[at] // 2 + 1) if onesided else whole
    else:
        out = given.rfft(dft_length, at) if onesided else given.fft(dft_length, at)
    return _as_pairs(out).cast(x.dtype)


@operator("STFT", since=17)
def stft(
    signal: Tensor,
    frame_step: int,
    window: Tensor | None = None,
    frame_length: int | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    """Return the Fourier transforms of overlapping parts of a signal: `(batch, frames, frequencies, 2)`."""
    whole = signal if signal.ndim == 2 else _as_complex(signal)
    length = frame_length or as_number((whole if window is None else window).shape[-1])
    frames = whole.unfold(1, length, frame_step)
    frames = frames if window is None else frames * window
    if onesided:
        out = frames.rfft() if not is_complex(frames.dtype) else frames.fft()[..., : length // 2 + 1]
    else:
        out = frames.fft()
    return _as_pairs(out).cast(signal.dtype)


@operator("MelWeightMatrix", since=17)
def mel_weight_matrix(
    num_mel_bins: int,
    dft_length: int,
    sample_rate: int,
    lower_edge_hertz: float,
    upper_edge_hertz: float,
    *,
    output_datatype: int = 1,
) -> Tensor:
    """Return the matrix that takes a spectrum to equal bands on the mel scale.

    Source: O'Shaughnessy 1987, "Speech communication", for the scale.
    """
    mels = 2595 * np.log10(1 + np.array([lower_edge_hertz, upper_edge_hertz]) / 700)
    edges = mels[0] + np.arange(num_mel_bins + 2) * (mels[1] - mels[0]) / (num_mel_bins + 2)
    bins = ((dft_length + 1) * (700 * (10 ** (edges / 2595) - 1)) // sample_rate).astype(np.int64)
    out = np.zeros((dft_length // 2 + 1, num_mel_bins))
    for i, (low, centre, high) in enumerate(zip(bins, bins[1:], bins[2:], strict=False)):
        _rise_and_fall(out[:, i], int(low), int(centre), int(high))
    return Tensor(out.astype(np.float32)).cast(dtype_of(output_datatype))


def _rise_and_fall(column: Array, low: int, centre: int, high: int) -> Any:
    """Write a triangle into a column of zeros."""
    if low == centre:
        column[centre] = 1
    for j in range(low, centre + 1 if low < centre else low):
        column[j] = (j - low) / (centre - low)
    for j in range(centre, high):
        column[j] = (high - j) / (high - centre)
