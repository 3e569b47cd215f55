"""NumPy's functions and ufuncs called on arrays, and the array API."""
