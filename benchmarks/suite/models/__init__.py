"""Whole models: what is run, and how each library runs it."""
