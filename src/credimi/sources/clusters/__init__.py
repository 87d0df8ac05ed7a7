"""Spark and Dask."""
