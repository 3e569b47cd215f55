"""Texts and decisions of ``tools/front_end_differences.py``."""
