"""Transform signals to frequencies."""

from typing import Any

import numpy as np

from plugrad import Tensor, dtypes
from plugrad_onnx.registry import operator
from plugrad_onnx.values import Array, dtype_of, shape_of


def _fourier(
    real: Tensor, imaginary: Tensor | None, length: int, inverse: int, rows: int
) -> tuple[Tensor, Tensor]:
    """Return the discrete Fourier transform of the last axis, as products with its matrices."""
    phase = 2 * np.pi * np.outer(np.arange(length), np.arange(rows)) / length
    scale = 1 / length if inverse else 1.0
    sign = 1.0 if inverse else -1.0
    dtype = np.float64 if real.dtype == dtypes.float64 else np.float32
    cos = Tensor((np.cos(phase) * scale).astype(dtype))
    sin = Tensor((np.sin(phase) * scale * sign).astype(dtype))
    if imaginary is None:
        return real.matmul(cos), real.matmul(sin)
    return real.matmul(cos) - imaginary.matmul(sin), real.matmul(sin) + imaginary.matmul(cos)


def _fitted(x: Tensor, length: int) -> Tensor:
    """Return the last axis cut to a length, or with zeros behind."""
    size = shape_of(x)[-1]
    if size >= length:
        return x[..., :length]
    return x.pad([(0, 0)] * (x.ndim - 1) + [(0, length - size)])


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
    is_complex = shape_of(x)[-1] == 2
    wide = x.cast(dtypes.float32) if x.dtype.itemsize < 4 else x
    parts = [wide[..., i].movedim(at, -1) for i in range(2 if is_complex else 1)]
    if onesided and inverse:
        return _inverse_of_half(parts, dft_length, at).cast(x.dtype)
    length = dft_length or int(shape_of(parts[0])[-1])
    fitted = [_fitted(part, length) for part in parts]
    rows = length // 2 + 1 if onesided else length
    both = _fourier(fitted[0], fitted[1] if is_complex else None, length, inverse, rows)
    return both[0].stack(both[1], axis=-1).movedim(-2, at).cast(x.dtype)


def _inverse_of_half(parts: list[Tensor], dft_length: int | None, at: int) -> Tensor:
    """Return the real signal whose first half of a spectrum is given."""
    half = int(shape_of(parts[0])[-1])
    length = dft_length or 2 * (half - 1)
    kept = length // 2 + 1
    real, imaginary = (_fitted(part, kept) for part in parts)
    mirrored = length - kept
    tail_real = real[..., 1 : 1 + mirrored].flip(-1)
    tail_imaginary = -imaginary[..., 1 : 1 + mirrored].flip(-1)
    whole = [
        Tensor.cat(a, b, axis=-1) if mirrored else a
        for a, b in ((real, tail_real), (imaginary, tail_imaginary))
    ]
    out, _ = _fourier(whole[0], whole[1], length, 1, length)
    return out.unsqueeze(-1).movedim(-2, at)


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
    length = frame_length or (shape_of(window)[0] if window is not None else shape_of(signal)[1])
    is_complex = signal.ndim == 3 and shape_of(signal)[-1] == 2
    lines = [signal[..., i] for i in range(2 if is_complex else 1)] if signal.ndim == 3 else [signal]
    frames = [line.unfold(1, length, frame_step) for line in lines]
    if window is not None:
        frames = [frame * window for frame in frames]
    rows = length // 2 + 1 if onesided else length
    both = _fourier(frames[0], frames[1] if is_complex else None, length, 0, rows)
    return both[0].stack(both[1], axis=-1).cast(signal.dtype)


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
    """Return the matrix that takes a spectrum to bands of equal width on the mel scale.

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
