"""Reductions, running sums and reductions of segments."""
