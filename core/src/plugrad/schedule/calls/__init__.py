"""Kernel calls: made of the graphs of rangeify, put in order, and joined."""
