"""The plugin's own settings, read whenever a device is opened."""

from plugrad.settings import Setting


class OpenClSettings:
    """The table. Each attribute is one setting, and the name of its environment variable."""

    OPENCL_OPTIMIZE = Setting(
        True, "Let the driver optimise kernels; without, it compiles in half of the time.", live=True
    )


settings = OpenClSettings()
