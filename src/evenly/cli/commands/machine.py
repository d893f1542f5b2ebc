"""``evenly machine``: what a machine's cores, memory and network can do, measured here or shipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json, progress
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.machine.machine import Machine

__all__ = ["COMMANDS", "list_", "measure", "show"]


def measure(
    output: Annotated[
        Path | None, typer.Option("--save", "-o", help="Where to save it: TOML, or JSON (default: NAME.toml).")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the machine (default: this host's name).")] = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts", help="Two hosts, as a,b, between which messages are timed (default: the allocation's)."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds for each measurement.")] = 1.0,
    json: opt.Json = False,
) -> None:
    """Measure this machine: cores, memory and its bandwidth, jitter, messages between two ranks."""
    from evenly.machine.measuring.measuring import default_name, measure_machine

    if not 0 < seconds < float("inf"):
        raise InputError(f"--seconds must be a time above zero, but got {seconds:g}")
    called = name or default_name()
    target = output or Path(f"{called}.toml")
    if output is None and target.exists():
        raise InputError(f"{target} is there already: give --save {target} to write over it, or another name")
    opt.check_writable(target, "the machine")
    with progress("measuring") as bar:
        found = measure_machine(
            called, hosts=parsing.names(hosts) or (), seconds=seconds, progress=lambda _text, fraction: bar(fraction)
        )
    found.machine.save(target)
    if json:
        print_json({**_as_dict(found.machine), "file": str(target), "left_out": found.left_out})
    else:
        _print(found.machine)
    for remark in found.remarks:
        note(remark)
    for missing in found.left_out:
        note(f"left out: {missing}")
    note(f"saved in {target}")


def list_(json: opt.Json = False) -> None:
    """List the machines that come with evenly."""
    from evenly.machine.machine import Machine, shipped_machines
    from evenly.report.tables.machine import machines_table

    machines = {name: Machine.load(name) for name in shipped_machines()}
    if json:
        print_json({name: _as_dict(machine) for name, machine in machines.items()})
    else:
        out.print(machines_table(machines))
        for name, machine in machines.items():
            out.print(f"{name}: {machine.about}", soft_wrap=True)


def show(
    machine: Annotated[
        Path, typer.Argument(metavar="MACHINE", help="A file (TOML or JSON), or a name of `evenly machine list`.")
    ],
    json: opt.Json = False,
) -> None:
    """Show what is known of a machine, and how long messages of some sizes take."""
    from evenly.machine.machine import Machine

    found = Machine.load(machine)
    if json:
        print_json(_as_dict(found))
    else:
        _print(found)


COMMANDS: dict[str, Callable[..., None]] = {"measure": measure, "list": list_, "show": show}


def _as_dict(machine: Machine) -> dict[str, Any]:
    from evenly.report.tables.machine import machine_as_dict

    return machine_as_dict(machine)


def _print(machine: Machine) -> None:
    from evenly.report.tables.machine import machine_table, messages_table

    out.print(machine_table(machine))
    if machine.within_node is not None or machine.between_nodes is not None:
        out.print(messages_table(machine))
