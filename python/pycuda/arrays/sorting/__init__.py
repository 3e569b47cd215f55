"""Sorting, searching and sets."""
