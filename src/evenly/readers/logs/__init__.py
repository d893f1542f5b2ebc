"""Logs of programs: what a program prints is told by a pattern, a short TOML file; the reader is the same for all."""
