"""How often a mistyped row among few is named, and how often a right one is.

    python benchmarks/lone_rows.py [TABLE.csv …]

Curves of one parameter are planted: Amdahl's law, power laws, ``1/p + log p``, communication that turns them up, and
steps from one node to several, on 4 to 9 counts (doubled, of whole nodes, or any), with 1 to 10 % noise. Then a row
among others, or the last, is multiplied, with 3 % noise. Of each TABLE, with a column ``seconds``, the rows that differ
in one number only are looked at, up to 400 sets for each column.
"""

from __future__ import annotations

import sys
from itertools import islice

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.lone_rows import lone_rows

LAWS = ("amdahl", "power law", "log", "turn-up", "step")
ANY = np.array([1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 36, 40, 48, 64, 72, 96, 128, 144, 192, 256, 384, 512, 768.0])
SETS, SPOILT, MOST = 400, 300, 12


def curve(law: str, counts: Floats, rng: np.random.Generator) -> Floats:
    """Return planted times."""
    x = counts / counts[0]
    if law == "amdahl":
        serial = rng.choice([0, 0.001, 0.01, 0.05, 0.2])
        return (1 - serial) / x + serial
    if law == "power law":
        return x ** -rng.uniform(0.3, 1.1)
    if law == "log":
        return 1 / x + rng.choice([0.001, 0.005, 0.02]) * np.log2(counts)
    if law == "turn-up":
        return 1 / x + rng.choice([0.0005, 0.003, 0.01, 0.03]) * x ** rng.choice([0.5, 1, 1.5]) + rng.choice([0, 0.01])
    node = rng.choice([24, 32, 48, 64])
    nodes, inside = np.ceil(counts / node), np.minimum(counts, node)
    busy = np.minimum(inside, rng.choice([4, 8, 16, 64]) * (1 + 0.1 * np.log(inside)))
    return np.where(nodes > 1, rng.choice([1, 1.2, 1.5, 1.8]), 1) / busy / nodes


def counts_of(number: int, rng: np.random.Generator) -> Floats:
    """Return numbers of cores, in order."""
    kind = rng.integers(3)
    if kind == 0:
        return rng.choice([1, 2, 4]) * 2.0 ** np.arange(number)
    if kind == 1:
        return rng.choice([16, 48, 100]) * np.arange(1.0, number + 1)
    return np.sort(rng.choice(ANY, number, replace=False))


def false_alarms(rng: np.random.Generator) -> None:
    """Print how many right curves have a row that is named."""
    print(f"right curves in which a row is named, of {SETS} each")
    print(f"{'counts':<12}" + "".join(f"{number:>6}" for number in range(4, 10)))
    for law in LAWS:
        named = []
        for number in range(4, 10):
            found = 0
            for _ in range(SETS):
                counts = counts_of(number, rng)
                noise = rng.choice([0.01, 0.03, 0.06, 0.1]) * rng.normal(size=number)
                found += bool(lone_rows(counts, curve(law, counts, rng) * np.exp(noise)))
            named.append(found)
        print(f"{law:<12}" + "".join(f"{found:6d}" for found in named))


def found(rng: np.random.Generator) -> None:
    """Print how many spoilt rows are named."""
    print("spoilt rows that are named, alone or with another; in brackets: only another one is")
    print(f"{'counts':<12}" + "".join(f"{number:>12}" for number in range(4, 10)))
    for where in ("inner", "first", "last"):
        for factor in (10, 3, 0.1):
            shares = []
            for number in range(4, 10):
                hit = wrong = 0
                for _ in range(SPOILT):
                    counts = counts_of(number, rng)
                    seconds = curve(str(rng.choice(LAWS[:4])), counts, rng) * np.exp(0.03 * rng.normal(size=number))
                    spoilt = {"first": 0, "last": number - 1, "inner": int(rng.integers(1, number - 1))}[where]
                    seconds[spoilt] *= factor
                    rows = [row for row, _ in lone_rows(counts, seconds)]
                    hit += spoilt in rows
                    wrong += bool(rows) and spoilt not in rows
                shares.append(f"{hit / SPOILT:.0%} ({wrong / SPOILT:.0%})")
            print(f"{where} x {factor:<5g}" + "".join(f"{share:>12}" for share in shares))


def of_table(path: str) -> None:
    """Print how many sets of a measured table have a row that is named."""
    table = pd.read_csv(path)
    table = table[table["status"] == "ok"] if "status" in table else table
    columns = [name for name in table.columns if name not in ("seconds", "status")]
    for column in columns:
        if table[column].dtype.kind not in "if" or not (table[column] > 0).all():
            continue
        sets = named = 0
        for _, rows in islice(table.groupby([name for name in columns if name != column]), 4000):
            times = rows.groupby(column)["seconds"].median()
            times = times.sample(8, random_state=0).sort_index() if len(times) > MOST else times
            if len(times) >= 4 and sets < SETS:
                sets += 1
                named += bool(lone_rows(times.index.to_numpy(dtype=float), times.to_numpy()))
        if sets:
            print(f"{path.rsplit('/', 1)[-1]:<24} {column:<14} {named:3d} of {sets}")


if __name__ == "__main__":
    generator = np.random.default_rng(1)
    false_alarms(generator)
    found(generator)
    for name in sys.argv[1:]:
        of_table(name)
