"""The Fourier transforms of tensors, as methods."""

from plugrad.tensor.fft import fourier, fourier_axes


class FourierMixin:
    """Transforms between values and frequencies."""

    __slots__ = ()

    fft = fourier.fft
    ifft = fourier.ifft
    rfft = fourier.rfft
    irfft = fourier.irfft
    hfft = fourier.hfft
    ihfft = fourier.ihfft

    fft2 = fourier_axes.fft2
    ifft2 = fourier_axes.ifft2
    fftn = fourier_axes.fftn
    ifftn = fourier_axes.ifftn
    rfft2 = fourier_axes.rfft2
    irfft2 = fourier_axes.irfft2
    rfftn = fourier_axes.rfftn
    irfftn = fourier_axes.irfftn
    fftshift = fourier_axes.fftshift
    ifftshift = fourier_axes.ifftshift
