"""Elements of arrays taken and set by index or condition."""
