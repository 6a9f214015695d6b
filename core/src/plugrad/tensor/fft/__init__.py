"""Transform signals to frequencies and back."""
