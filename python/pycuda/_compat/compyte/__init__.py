"""Modules that PyCUDA and PyOpenCL share, with their names in PyCUDA."""
