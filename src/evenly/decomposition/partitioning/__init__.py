"""Domain decomposition of a cell into chunks; `evenly.partition` is the entry point."""
