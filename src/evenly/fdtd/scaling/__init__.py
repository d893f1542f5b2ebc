"""What a run took on each rank, kept in a file, and studies over numbers of ranks."""
