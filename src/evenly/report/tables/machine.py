"""Tables of machines: cores and memory of a node, memory bandwidth, and times of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from evenly.machine.machine import Link, Machine
from evenly.report.formatting import compact, percent, plain, quantity
from evenly.report.tables.run import add_row, new_table

__all__ = ["machine_as_dict", "machine_table", "machines_table", "messages_table"]

#: Sizes of the messages in the tables, in bytes.
SHOWN = (8, 1024, 16 * 1024, 256 * 1024, 4 * 2**20)
_UNKNOWN = "–"


def machines_table(machines: Mapping[str, Machine]) -> Table:
    """Return a table with a row per machine: its nodes, their memory bandwidth, and the times of messages.

    The messages are those between nodes if the machine has several nodes, and else those within a node.

    Parameters
    ----------
    machines : mapping of str to Machine
        From the name that loads a machine to the machine.
    """
    table = new_table()
    for name in ("machine", "nodes", "cores each", "memory", "latency", "bandwidth", "jitter"):
        table.add_column(name, justify="left" if name == "machine" else "right")
    for name, machine in machines.items():
        link = machine.between_nodes or machine.within_node
        add_row(
            table,
            name,
            _number(machine.nodes),
            _number(machine.cores_per_node),
            _rate(machine.memory_bytes_per_s_per_node),
            *([_UNKNOWN, _UNKNOWN] if link is None else [_time(link.latency_s), _rate(link.bytes_per_s)]),
            percent(machine.jitter),
        )
    return table


def machine_table(machine: Machine) -> Table:
    """Return a table with all known quantities of a machine, except times of messages: see `messages_table`."""
    table = new_table(machine.name, machine.about)
    table.show_header = False
    table.add_column()
    table.add_column(justify="right")
    price, watts = machine.price_per_core_hour, machine.watts_per_core
    lines = {
        "nodes": _number(machine.nodes),
        "cores per node": _number(machine.cores_per_node),
        "jobs take whole nodes": "yes" if machine.whole_nodes else "no",
        "memory per node": _UNKNOWN if machine.memory_bytes_per_node is None else _size(machine.memory_bytes_per_node),
        "memory bandwidth, one core": _rate(machine.memory_bytes_per_s_per_core),
        "memory bandwidth, node": _rate(machine.memory_bytes_per_s_per_node),
        "speed of a core": compact(machine.core_speed),
        "jitter": percent(machine.jitter),
        "network card": _rate(machine.card),
        "price of a core hour": _UNKNOWN if price is None else f"{compact(price)} {machine.currency}",
        "power of a core": _UNKNOWN if watts is None else f"{compact(watts)} W",
    }
    for name, value in lines.items():
        add_row(table, name, value)
    return table


def messages_table(machine: Machine) -> Table:
    """Return a table with the times of messages of a few sizes, with a column for each known link."""
    links = _links(machine)
    table = new_table(caption="times one way")
    table.add_column("message")
    for name in links:
        table.add_column(name, justify="right")
    add_row(table, "latency", *(_time(link.latency_s) for link in links.values()))
    for size in SHOWN:
        add_row(table, _size(size), *(_time(float(link.seconds(size))) for link in links.values()))
    add_row(table, "bandwidth", *(_rate(link.bytes_per_s) for link in links.values()))
    add_row(table, "from", *("a table" if link.message_bytes else "two numbers" for link in links.values()))
    return table


def machine_as_dict(machine: Machine) -> dict[str, Any]:
    """Return the values of a machine's file, and the times of messages that the table shows.

    Examples
    --------
    >>> told = machine_as_dict(Machine("small", within_node=Link(1e-6, 1e9)))
    >>> told["name"], told["messages"]["bytes"][:2], told["messages"]["within node"][:1]
    ('small', [8, 1024], [1.008e-06])
    """
    seconds = {name: link.seconds(SHOWN) for name, link in _links(machine).items()}
    told: dict[str, Any] = plain({**machine.to_dict(), "messages": {"bytes": list(SHOWN), **seconds}})
    return told


def _links(machine: Machine) -> dict[str, Link]:
    links = {"within node": machine.within_node, "between nodes": machine.between_nodes}
    return {name: link for name, link in links.items() if link is not None}


def _number(value: float | None) -> str:
    return _UNKNOWN if value is None else compact(value)


def _time(seconds: float) -> str:
    return quantity(seconds, "s", 3)


def _size(size: float) -> str:
    return quantity(size, "B", 3)


def _rate(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{quantity(value, 'B', 3)}/s"
