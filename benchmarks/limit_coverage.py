"""How often the next job stays below the limit that `evenly limits` says, on planted tables.

Usage::

    .venv/bin/python benchmarks/limit_coverage.py [--seeds 100] [--kill 0.05] [--replay JOBS …]

Each table has some jobs that are alike (same name and cores) and 60 others, or none. A job takes 36000 / cores^0.9 s,
and the program of the other name half as much. The logarithm scatters normally by 10 %, if nothing else is said.

* *no users*: the table tells none. *faster*, *slower*: the others are on 32 and 64, or on 4 and 8 cores.
* *alone*: no other jobs.
* *uneven*: each name and number of cores scatters in its own way, by 3 to 60 %.
* *wild*: these jobs scatter by 40 %, all others by 5 %.
* *heavy*: Student's t with 3 degrees of freedom times 10 %, so that some jobs take far longer.
* *other user*: the others are those of another user, on the same cores and of the same name, in a tenth of the time.

With `--replay`, the limits for jobs of the second half of real tables are learned from the jobs that had ended when
they were submitted. Limits are at most what was asked for.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import evenly
from evenly.readers.jobs.jobs import Jobs

WORLDS = ("no users, faster", "faster", "slower", "alone", "uneven", "wild", "heavy", "other user")
ALIKE = (1, 2, 3, 4, 8, 16, 40)
HOUR = 3600.0


def planted(world: str, alike: int, rng: np.random.Generator) -> tuple[Jobs, stats.rv_continuous]:
    """Return a table and the distribution of the logarithm of what the next job takes."""
    counts = (4.0, 8.0) if world == "slower" else (32.0, 64.0)
    others = 0 if world == "alone" else 60
    same = world == "other user"
    cores = np.r_[np.full(alike, 16.0), np.full(others, 16.0) if same else rng.choice(counts, others)]
    name = np.r_[np.zeros(alike, int), np.zeros(others, int) if same else rng.integers(0, 2, others)]
    is_other = np.arange(alike + others) >= alike
    scatter = np.full(alike + others, 0.1)
    if world == "uneven":
        own = {
            group: np.exp(rng.uniform(np.log(0.03), np.log(0.6))) for group in sorted({*zip(cores, name, strict=True)})
        }
        scatter = np.array([own[group] for group in zip(cores, name, strict=True)])
    if world == "wild":
        scatter = np.where(is_other, 0.05, 0.4)
    middle = np.log(36000 / cores**0.9 / np.where(same & is_other, 10.0, 1 + name))
    shape = stats.t(3) if world == "heavy" else stats.norm()
    took = np.exp(middle + scatter * shape.rvs(size=len(cores), random_state=rng))
    submit = 1.7e9 + 48 * HOUR * rng.permutation(len(cores))
    users = None if world.startswith("no users") else np.where(same & is_other, "bob", "ada")
    columns = {"name": [f"lbm_{one}" for one in name], "state": "COMPLETED", "submit": submit, "elapsed_s": took,
               "end": submit + took, "limit_s": 24 * HOUR, "cores": cores}  # fmt: skip
    jobs = Jobs.of(columns if users is None else {"user": users, **columns})
    law = (stats.t(3, middle[0], scatter[0])) if world == "heavy" else stats.norm(middle[0], scatter[0])
    return jobs, law


def covered(world: str, alike: int, seeds: int, kill: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the probability that each seed's limit is enough, its ratio to the best one, and whether it is a guess."""
    found = []
    for seed in range(seeds):
        jobs, law = planted(world, alike, np.random.default_rng([seed, alike]))
        user = None if world.startswith("no users") else "ada"
        advice = evenly.next_limit(jobs, user=user, name="lbm_0", cores=16, kill=kill)
        log = math.log(advice.seconds)
        best = math.ceil(math.exp(law.ppf(1 - kill)) / 60) * 60
        found.append((law.cdf(log), advice.seconds / best, advice.guess))
    enough, ratio, guess = np.array(found, dtype=float).T
    return enough, ratio, guess


def replayed(path: Path, kill: float, count: int) -> None:
    """Print what the limits for the next job would have been for jobs of a real table, each from those ended before."""
    every = evenly.read_jobs(path)
    table = every.table[every.done].sort_values("submit").reset_index(drop=True)
    ended = every.table
    rows = np.random.default_rng(0).choice(
        np.arange(len(table) // 2, len(table)), min(count, len(table) // 2), replace=False
    )
    kept = []
    for row in np.sort(rows):
        job = table.iloc[row]
        before = Jobs(ended[ended["end"] <= job["submit"]].reset_index(drop=True))
        asked = {key: job[key] for key in ("user", "name") if isinstance(job[key], str) and job[key]}
        try:
            advice = evenly.next_limit(before, **asked, cores=float(job["cores"]), kill=kill)
        except evenly.EvenlyError:
            continue
        few = "fewer than 10" if advice.earlier < 10 else "10 to 18" if advice.earlier < 19 else "19 and more"
        said = "none known" if math.isinf(advice.seconds) else "a guess" if advice.guess else "enough"
        limit = min(advice.seconds, job["limit_s"]) if job["limit_s"] > 0 else advice.seconds
        kept.append((few, said, job["elapsed_s"] > limit, limit, job["elapsed_s"], job["cores"]))
    found = pd.DataFrame(kept, columns=["alike", "said", "killed", "limit", "took", "cores"])
    print(f"{path.name}: {len(found)} of {len(rows)} jobs have one alike before")
    for key, group in [(("all", ""), found), *found.groupby(["alike", "said"])]:
        good = group[~group["killed"] & np.isfinite(group["limit"])]
        unused = float((good["cores"] * (good["limit"] - good["took"])).sum() / HOUR)
        ratio = float(np.exp(np.log(good["limit"] / good["took"]).mean()))
        print(
            f"  {' '.join(key):24} {len(group):5} jobs, killed {group['killed'].mean():6.1%}, "
            f"unused {unused:9.0f} core-h, "
            f"limit/time {ratio:6.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--kill", type=float, default=0.05)
    parser.add_argument("--worlds", nargs="+", default=WORLDS)
    parser.add_argument("--replay", nargs="+", type=Path, default=[])
    parser.add_argument("--jobs", type=int, default=2000)
    arguments = parser.parse_args()
    for path in arguments.replay:
        replayed(path, arguments.kill, arguments.jobs)
    if arguments.replay:
        return
    print("coverage: mean, worst tenth; median of limit / best limit; g: said to be a guess")
    print(f"{'alike jobs':17}" + "".join(f"{alike:>17}" for alike in ALIKE))
    for world in arguments.worlds:
        cells = []
        for alike in ALIKE:
            enough, ratio, guess = covered(world, alike, arguments.seeds, arguments.kill)
            said = "g" if guess.mean() > 0.5 else " "
            cells.append(f"{enough.mean():.2f} {np.quantile(enough, 0.1):.2f} {np.median(ratio):.2f} {said}")
        print(f"{world:17}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
