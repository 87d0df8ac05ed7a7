"""Fuzzers: random inputs against plain oracles and laws that have to hold. `python -m fuzz --seconds 60` runs them.

csv      CSV texts with quotes, line ends and blanks of all kinds, cut into tiny parts, against Python's `csv` and a
         naive count; plain ones also straight to codes, against pyarrow's parser
frames   the same values as frames of pandas, polars, pyarrow and numpy, records and dictionaries, against a naive count
engines  one table through CSV, Parquet, DuckDB, Dask and streams, on one thread and two: the same counts
counts   counts saved, loaded, added and subtracted; damaged files (changed bits, missing ends, hostile headers), which
         must be refused
parquet  Parquet files of pyarrow, polars, DuckDB and, if it is installed, fastparquet, whole and with one to five
         changed bytes: the counts of what pyarrow reads, or a refusal
laws     `mutual_information`, `posterior` and `rank`: the order of rows and columns, transposition, ranges, priors,
         extreme tables
kills    `credimi count --into` killed at random moments, and two that write one file

A finding is reported with the smallest input that still shows it and the command that replays its case; the exit code
is then 1. If the process itself dies, `build/fuzz-case.txt` has that command. Every fault that was found gets an
ordinary test: the fuzzers look for new ones.
"""
