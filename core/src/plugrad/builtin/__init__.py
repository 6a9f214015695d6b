"""Devices that come with the core, registered through the same hooks as everybody's.

Registering only notes names; a device's module is imported when the device is first asked for.
"""

from plugrad.plugin.manager import plugins

BUILTINS = (
    ("PYTHON", "plugrad.builtin.python"),
    ("NULL", "plugrad.builtin.null"),
    ("DISK", "plugrad.builtin.disk"),
)

for _name, _module in BUILTINS:
    plugins.register_builtin(_name, _module)
