"""Measure, print, plot, and set up what benchmarks share."""
