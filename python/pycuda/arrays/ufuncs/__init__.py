"""Universal functions: elementwise functions with NumPy's keywords."""
