"""The plugin's own settings, read whenever a device is opened."""

from plugrad.settings import Setting


class CudaSettings:
    """The table. Each attribute is one setting, and the name of its environment variable."""

    CUDA_PTX = Setting(False, "Render PTX, which the driver assembles, in place of CUDA C.", live=True)
    CUDA_TF32 = Setting(
        False,
        "Multiply matrices of float32 by matrix instructions, which keep 10 of the 23 bits behind the point.",
        live=True,
    )


settings = CudaSettings()
