"""The METAL device of plugrad. Its hooks are in `plugrad_metal.plugin`."""
