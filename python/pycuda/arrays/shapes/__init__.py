"""Axes, views, joining and splitting of arrays."""
