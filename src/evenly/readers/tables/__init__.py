"""Tables: CSV, TSV and Parquet files, and how their columns are understood."""
