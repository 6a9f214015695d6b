"""The functions of the namespace for complex numbers: `plugrad.array_api` says what each does."""
