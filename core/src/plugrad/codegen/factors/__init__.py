"""The loops of matrix factorizations, which change a matrix in place."""
