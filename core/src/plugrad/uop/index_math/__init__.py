"""Index arithmetic: canonical sums, quotients and remainders, and the rules that make them."""
