"""A wrapper plugin: logs each compile of every device, and shows what a remote compile cache would do."""
