"""Order elements, and search among ordered ones."""
