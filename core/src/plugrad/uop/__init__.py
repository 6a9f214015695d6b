"""The one IR: hash-consed nodes, patterns, rewriting, and what can be proved of integers."""
