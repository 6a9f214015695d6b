"""Choose optimisations for targets that launch a grid of work-items."""
