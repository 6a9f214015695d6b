"""The plugin's own settings, read whenever a device is opened."""

from plugrad.settings import Setting


class CudaSettings:
    """The table. Each attribute is one setting, and the name of its environment variable."""

    CUDA_PTX = Setting(False, "Render PTX, which the driver assembles, in place of CUDA C.", live=True)


settings = CudaSettings()
