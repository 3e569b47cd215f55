"""A plugin of pytest: names that NumPy has removed, for clients that still use them."""

import numpy as np

for name, value in {
    "int": int,
    "float": float,
    "complex": complex,
    "bool": bool,
    "object": object,
}.items():
    if name not in np.__dict__:
        setattr(np, name, value)
