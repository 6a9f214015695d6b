"""PTX, written directly from linear programs."""
