"""What all packages share: errors, argument checks, tables, threads, files, the version."""
