"""Files of tools that time programs: hyperfine, Google Benchmark, pytest-benchmark, JMH, JUBE, ReFrame."""
