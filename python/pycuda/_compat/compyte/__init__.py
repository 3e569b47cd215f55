"""What PyCUDA and PyOpenCL share, under the names that programs import it by."""
