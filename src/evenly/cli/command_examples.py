"""Examples of each command, which its ``--help`` and the reference show below what it does."""

from __future__ import annotations

__all__ = ["EXAMPLES", "epilog"]

#: For each command as it is typed after ``evenly``, what to type.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "read": ("evenly read runs.csv", "evenly read my-case/ --only fluid,solid"),
    "measure": ("evenly measure study.toml", "evenly measure study.toml --plan"),
    "fit": ("evenly fit runs.csv --save models.evenly", "evenly fit runs.csv --parameters cores,cells --method pmnf"),
    "predict": (
        "evenly predict runs.csv --cores 1..1024 --deadline 2h",
        "evenly predict models.evenly --at cores=48,96",
    ),
    "allocate": (
        "evenly allocate my-case/ --cores 560",
        "evenly allocate runs.csv --cores 128 --layout 'max(fluid, solid)'",
    ),
    "report": (
        "evenly report runs.csv -o page.html",
        "evenly report my-case/ --cores 560 -o page.html",
    ),
    "plot": ("evenly plot runs.csv --into pictures", "evenly plot models.evenly --into pictures"),
    "sort": ("evenly sort logs/ --into case", "evenly sort logs/ --into case --order inner,outer --dry-run"),
    "init": (
        "evenly init solver.toml --pattern solver.log",
        "evenly init study.toml --command 'mpirun -n 16 ./solver --cells 512'",
    ),
    "example": ("evenly example gaussian-pulse", "evenly example gaussian-pulse folder --force"),
    "partition": (
        "evenly partition cmos --resolution 20 --ranks 4 --save layout.json",
        "evenly partition slab.py --ranks 16",
    ),
    "rebalance": (
        "evenly rebalance run/cmos.fdtd.json --save next.json",
        "evenly rebalance run/cmos.fdtd.json --steps 100000",
    ),
    "train": ("evenly train", "evenly train --real 30"),
    "tune": ("evenly tune study.toml --runs 20", "evenly tune --replay runs.csv --strategies model,random"),
    "advise": ("evenly advise runs.csv --runs 3", "evenly advise runs.csv --budget 50 --cores-are cores"),
    "sensitivity": ("evenly sensitivity runs.csv", "evenly sensitivity runs.csv --task cores --plot pictures"),
    "limits": ("evenly limits jobs.txt --limit 95%", "evenly limits jobs.txt --user ada"),
    "doctor": ("evenly doctor", "evenly doctor --json"),
    "demo": ("evenly demo demo", "evenly demo --quick"),
    "fdtd run": ("evenly fdtd run oled --ranks 2 --draw", "evenly fdtd run cmos --chunks layout.json --save run"),
    "fdtd scaling": ("evenly fdtd scaling oled --ranks 1,2,4", "evenly fdtd scaling oled --ranks 1,2,4 --save study"),
    "fdtd counts": ("evenly fdtd counts cmos --resolution 20", "evenly fdtd counts cmos --chunks layout.json"),
    "fdtd layout": ("evenly fdtd layout cmos --ranks 8", "evenly fdtd layout cmos --ranks 8 --json"),
    "fdtd list": ("evenly fdtd list", "evenly fdtd list --json"),
    "calibrate fdtd": ("evenly calibrate fdtd", "evenly calibrate fdtd --wall-time 10min"),
    "calibrate meep": ("evenly calibrate meep", "evenly calibrate meep --wall-time 10min"),
    "cost show": ("evenly cost show meep", "evenly cost show --plot costs"),
    "runs list": ("evenly runs list study.db", "evenly runs list study.db --where \"status != 'ok'\" --save bad.csv"),
    "runs check": ("evenly runs check study.db", "evenly runs check study.db --salvage good.db"),
    "runs mark": (
        "evenly runs mark study.db --where \"machine == 'n17'\" --bad 'the disk was full'",
        "evenly runs mark study.db --where 'n == 8 and repetition == 2' --bad 'another program ran'",
    ),
    "runs merge": ("evenly runs merge monday.db tuesday.db -o all.db", "evenly runs merge *.db --save all.db"),
    "machine measure": ("evenly machine measure", "evenly machine measure --save here.toml"),
    "machine list": ("evenly machine list", "evenly machine list --json"),
    "machine show": ("evenly machine show infiniband", "evenly machine show here.toml"),
}


def epilog(command: str) -> str:
    r"""Return the examples of a command as typer shows them: a blank line keeps lines apart, brackets are no markup.

    Examples
    --------
    >>> epilog("doctor").split("\n\n")
    ['Examples:', 'evenly doctor', 'evenly doctor --json']
    """
    return "\n\n".join(["Examples:", *(line.replace("[", "\\[") for line in EXAMPLES[command])])
