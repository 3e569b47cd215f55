"""Functions of each element and of its neighbours."""
