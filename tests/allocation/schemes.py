"""Layouts for property tests: text, and the cores that an assignment uses, written out by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Cores = Mapping[str, int]

TREES: dict[str, Callable[[Cores], int]] = {
    "a": lambda p: p["a"],
    "max(a, b)": lambda p: p["a"] + p["b"],
    "sum(a, b)": lambda p: p["a"] + p["b"],
    "a + b": lambda p: max(p["a"], p["b"]),
    "3 * max(a, b)": lambda p: p["a"] + p["b"],
    "max(a, b, c)": lambda p: p["a"] + p["b"] + p["c"],
    "sum(a, b, c)": lambda p: p["a"] + p["b"] + p["c"],
    "max(2 * a, sum(b, c))": lambda p: p["a"] + p["b"] + p["c"],
    "sum(max(a, b), c)": lambda p: p["a"] + p["b"] + p["c"],
    "max(a, b) + c": lambda p: max(p["a"] + p["b"], p["c"]),
    "sum(a + b, 2.5 * c)": lambda p: max(p["a"], p["b"]) + p["c"],
    "max(max(a, b) + c, d)": lambda p: max(p["a"] + p["b"], p["c"]) + p["d"],
    "sum(max(a, b), max(c, d))": lambda p: p["a"] + p["b"] + p["c"] + p["d"],
    "max(sum(a, b), 4 * (c + d))": lambda p: p["a"] + p["b"] + max(p["c"], p["d"]),
}
GRAPHS: dict[str, Callable[[Cores], int]] = {
    "max(sum(a, b), sum(a, c))": lambda p: p["a"] + p["b"] + p["c"],
    "max(sum(a, b), sum(a, c), sum(d, c))": lambda p: p["a"] + p["b"] + p["c"] + p["d"],
    "max(a, b) + max(a, c)": lambda p: p["a"] + max(p["b"], p["c"]),
    "sum(max(a, b), 2 * max(a, c))": lambda p: p["a"] + p["b"] + p["c"],
    "sum(a, b, a)": lambda p: p["a"] + p["b"],
    "3 * max(a + b, a + c)": lambda p: p["a"] + p["b"] + p["c"],
}
