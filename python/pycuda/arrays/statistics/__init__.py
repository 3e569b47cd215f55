"""Histograms, quantiles and correlation."""
