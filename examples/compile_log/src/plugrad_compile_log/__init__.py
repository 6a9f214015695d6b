"""A wrapper plugin that logs each compile, the place for a remote compile cache."""
