"""Multiply, factorize and solve matrices."""
