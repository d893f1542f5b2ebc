"""Commands of PBS, LSF and Flux as their manuals describe them, for one machine: jobs are processes in the background.

Installed as ``qsub``, ``bsub``, ``flux`` and so on into a folder of the path. What a manual doesn't know is refused.
"""

# ruff: noqa: T201 - these are programs

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PLACE = Path(os.environ.get("FAKE_SCHEDULER", "."))
COMMANDS = ("qsub", "qselect", "qstat", "qdel", "bsub", "bjobs", "bkill", "flux")


def install(folder: Path) -> None:
    """Put all commands into a folder."""
    for name in COMMANDS:
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {name} "$@"\n')
        path.chmod(0o755)


# ---- jobs, whichever scheduler they are of ----------------------------------------------------------------------


def submit(name: str, output: str, script: str, variable: str, number: str, wall_s: float | None) -> None:
    """Start a job in the background, by a process that notes how it ended."""
    job = PLACE / number
    (job / "name").write_text(name)
    (job / "script").write_text(script)
    (job / "asked").write_text(json.dumps(sys.argv))
    if (PLACE / "hold").exists():
        return
    watcher = [sys.executable, __file__, "watch", number, output, variable, str(wall_s or "")]
    subprocess.Popen(watcher, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def watch(number: str, output: str, variable: str, wall: str) -> None:
    job, began = PLACE / number, time.time()
    with Path(output).open("ab") as file:
        process = subprocess.Popen(
            ["/bin/bash", str(job / "script")], stdout=file, stderr=file, start_new_session=True, cwd="/",
            env={**os.environ, variable: number},
        )  # fmt: skip
    (job / "pid").write_text(str(process.pid))
    try:
        code = process.wait(float(wall) if wall else None)
    except subprocess.TimeoutExpired:
        (job / "why").write_text("time")
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    (job / "end").write_text(json.dumps({"code": code, "seconds": time.time() - began}))


def numbers() -> list[str]:
    return sorted(path.name for path in PLACE.iterdir() if (path / "name").exists())


def waiting(name: str | None) -> list[str]:
    return [
        n for n in numbers() if not (PLACE / n / "end").exists() and name in (None, (PLACE / n / "name").read_text())
    ]


def cancel(number: str) -> None:
    job = PLACE / number
    if (job / "end").exists():
        sys.exit(f"{number}: it has finished")
    (job / "why").write_text("cancelled")
    if (job / "pid").exists():
        os.killpg(int((job / "pid").read_text()), signal.SIGTERM)
    else:
        (job / "end").write_text(json.dumps({"code": None, "seconds": 0}))


def end_of(number: str) -> tuple[int | None, float, str]:
    job = PLACE / number
    if not (job / "end").exists():
        return 0, 0.0, "running"
    end = json.loads((job / "end").read_text())
    why = (job / "why").read_text() if (job / "why").exists() else ""
    return end["code"], end["seconds"], why


def new_number(form: str) -> str:
    """Return the number of a new job, and make its folder; two may be submitted at once."""
    for number in itertools.count(100):
        try:
            (PLACE / form.format(number)).mkdir()
        except FileExistsError:
            continue
        break
    return form.format(number)


def refuse(said: str) -> None:
    if (PLACE / "refuse").exists():
        sys.exit((PLACE / "refuse").read_text())
    if said:
        sys.exit(said)


def parsed(words: list[str], with_value: str, alone: str = "") -> tuple[dict[str, list[str]], list[str]]:
    """Return options with one dash, and what follows them; unknown ones are refused."""
    found: dict[str, list[str]] = {}
    while words and words[0].startswith("-"):
        option = words.pop(0)[1:]
        if option in with_value.split():
            found.setdefault(option, []).append(words.pop(0))
        elif option in alone.split():
            found[option] = [""]
        else:
            sys.exit(f"illegal option -- {option}")
    return found, words


# ---- PBS: qsub(1B), qselect(1B), qstat(1B), qdel(1B) ------------------------------------------------------------


def seconds_of(walltime: str) -> float:
    total = 0.0
    for part in walltime.split(":"):
        total = 60 * total + float(part)
    return total


def qsub(words: list[str]) -> None:
    given, rest = parsed(words, "l q A N j o r W", "V")
    lists = dict(text.split("=", 1) for text in given["l"])
    refuse("qsub: Unknown queue" if given.get("q") == ["nowhere"] else "")
    if given["r"] != ["n"] or given["j"] != ["oe"] or "select" not in lists:
        sys.exit("usage: qsub ...")
    wall = seconds_of(lists["walltime"]) if "walltime" in lists else None
    number = new_number("{}.server")
    submit(given["N"][0], given["o"][0], Path(rest[0]).read_text(), "PBS_JOBID", number, wall)
    print(number)


def qselect(words: list[str]) -> None:
    given, _ = parsed(words, "N u")
    print("".join(f"{n}\n" for n in waiting(given.get("N", [None])[0])), end="")


def qstat(words: list[str]) -> None:
    given, rest = parsed(words, "", "x f")
    assert set(given) == {"x", "f"}
    if rest[0] not in numbers() or ((PLACE / "no-history").exists() and end_of(rest[0])[2] != "running"):
        sys.exit(f"qstat: Unknown Job Id {rest[0]}")
    code, seconds, why = end_of(rest[0])
    state = "R" if why == "running" else "F"
    status = {"time": -29, "memory": -27, "cancelled": None if code is None else 271}.get(why, code)
    lines = [f"Job Id: {rest[0]}", "    Job_Name = x", f"    job_state = {state}"]
    lines += [f"    resources_used.walltime = 00:00:{int(seconds):02d}"] if code is not None else []
    lines += [f"    Exit_status = {status}"] if state == "F" and status is not None else []
    print("\n".join(lines))


def qdel(words: list[str]) -> None:
    for number in words:
        cancel(number)


# ---- LSF: bsub, bjobs, bkill (IBM Spectrum LSF command reference) -----------------------------------------------


def bsub(words: list[str]) -> None:
    given, rest = parsed(words, "n R W M q P J o cwd", "x rn")
    refuse("nowhere: No such queue. Job not submitted." if given.get("q") == ["nowhere"] else "")
    if rest or "rn" not in given:
        sys.exit("Empty job. Job not submitted.")
    wall = 60 * float(given["W"][0]) if "W" in given else None
    number = new_number("{}")
    submit(given["J"][0], given["o"][0], sys.stdin.read(), "LSB_JOBID", number, wall)
    print(f"Job <{number}> is submitted to default queue <normal>.")


def bjobs(words: list[str]) -> None:
    given, rest = parsed(words, "J o", "noheader a")
    assert "noheader" in given
    if "a" not in given:
        found = waiting(given.get("J", [None])[0])
        assert given["o"] == ["jobid stat"]
        if not found:
            sys.exit("No unfinished job found")
        print("".join(f"{number} RUN\n" for number in found), end="")
        return
    assert given["o"] == ["stat exit_code run_time exit_reason delimiter='|'"]
    if rest[0] not in numbers():
        sys.exit(f"Job <{rest[0]}> is not found")
    code, seconds, why = end_of(rest[0])
    reason = {
        "time": "TERM_RUNLIMIT: job killed after reaching LSF run time limit",
        "memory": "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit",
        "cancelled": "TERM_OWNER: job killed by owner", "node": "TERM_HOST: host failed",
    }.get(why, "-")  # fmt: skip
    status = "-" if code is None or code == 0 else str(128 - code if code < 0 else code)
    print(f"{'DONE' if code == 0 else 'EXIT'}|{status}|{seconds:.0f} second(s)|{reason}")


def bkill(words: list[str]) -> None:
    for number in words:
        cancel(number)


# ---- Flux: flux-batch(1), flux-jobs(1), flux-cancel(1) ----------------------------------------------------------


def flux(words: list[str]) -> None:
    verb, *words = words
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    rest = [word for word in words if not word.startswith("--")]
    known = {
        "batch": "nslots cores-per-slot nodes time-limit queue bank exclusive job-name output cwd setattr",
        "jobs": "no-header count name format", "cancel": "",
    }[verb].split()  # fmt: skip
    if strange := [name for name in options if name not in known]:
        sys.exit(f"flux-{verb}: error: unrecognized arguments: --{strange[0]}")
    if verb == "batch":
        refuse("flux-batch: ERROR: [Errno 22] Invalid queue" if options.get("queue") == "nowhere" else "")
        limit = options.get("time-limit")
        wall = 60 * float(limit.removesuffix("m")) if limit else None
        number = new_number("f{}xY")
        submit(options["job-name"], options["output"], Path(rest[0]).read_text(), "FLUX_JOB_ID", number, wall)
        print(number.replace("f", "ƒ", 1))
    elif verb == "cancel":
        for number in rest:
            cancel(number)
    elif not rest:
        assert options["format"] == "{id.f58}"
        print("".join(f"ƒ{number[1:]}\n" for number in waiting(options.get("name"))), end="")
    elif rest[0] in numbers():
        code, seconds, why = end_of(rest[0])
        result = {"time": "TIMEOUT", "cancelled": "CANCELED", "running": ""}.get(why)
        result = ("COMPLETED" if code == 0 else "FAILED") if result is None else result
        print(f"{result} {'' if code is None else 128 - code if code < 0 else code} {seconds:.3g}s")
    else:
        sys.exit(f"flux-jobs: ERROR: JobID {rest[0]} unknown")


if __name__ == "__main__":
    if sys.argv[1] == "watch":
        watch(*sys.argv[2:])
    else:
        globals()[sys.argv[1]](sys.argv[2:])
