"""The commands for authors of backends, which `plugrad` finds by their entry points."""
