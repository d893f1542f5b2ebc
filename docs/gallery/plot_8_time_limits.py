"""
Time limits for jobs
====================

Replay a table of jobs, and ask for a limit that is long enough for the next one.
"""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import evenly

random.seed(1)
rows = ["JobID|User|JobName|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS"]
for day in range(1, 29):
    minutes = random.randint(30, 50)
    start, end = f"2024-02-{day:02d}T08:00:00", f"2024-02-{day:02d}T08:{minutes}:00"
    rows.append(f"{day}|ada|wave|COMPLETED|{start}|{start}|{end}|00:{minutes}:00|1-00:00:00|16")

with TemporaryDirectory() as folder:
    table = Path(folder) / "jobs.txt"
    table.write_text("\n".join(rows) + "\n")
    jobs = evenly.read_jobs(table)

# %%
# Each job gets a limit from the jobs that had ended before it. 5 % may be killed.
for outcome in evenly.replay(jobs, kill=0.05).outcomes:
    print(f"{outcome.name:28} unused: {outcome.unused:7.1f} core-hours")

# %%
# The next job of this user:
advice = evenly.next_limit(jobs, user="ada", name="wave", cores=16, kill=0.05)
print(f"{advice.seconds / 60:.0f} min")
