"""Tables of an automatic choice of a model: the methods that were tried, the chosen ones, and the learning curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from rich.table import Table

from evenly.report.formatting import compact, count_text, percent, plain, quantity
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table

if TYPE_CHECKING:
    import pandas as pd

    from evenly.models.base import Model
    from evenly.models.ensemble.automatic import Automatic

__all__ = ["blend_of", "choice_as_dict", "choice_table", "chose_itself"]


def chose_itself(model: Model) -> TypeGuard[Automatic]:
    """Return whether a model tried several methods and chose among them."""
    # This test does not import the class, because the import of all methods takes long.
    return hasattr(model, "choice_")


def blend_of(model: Automatic) -> str:
    """Return the methods of the blend with their shares, the largest first.

    Examples
    --------
    >>> from evenly.models.ensemble.automatic import Automatic
    >>> table = {"cores": [1, 2, 4, 8, 16], "size": [1, 2, 1, 2, 1]}
    >>> blend_of(Automatic(methods=["power-law"]).fit(table, [8.0, 8.0, 2.0, 2.0, 0.5]))
    'auto: power-law'
    """
    taken = model.choice_[model.choice_["weight"] > 0].to_dict(orient="records")
    if len(taken) < 2:
        names = [str(row["method"]) for row in taken] or [model.beyond_]
    else:
        names = [f"{row['method']} {percent(row['weight'], 2)}" for row in taken]
    return f"{model.method}: {', '.join(names)}"


def choice_table(model: Automatic, *, title: str = "") -> Table:
    """Return a table of the methods that were tried.

    The columns are the error on left-out runs, the time of the fit, the size, the share in the blend, and the reason
    why a method was left out.

    Parameters
    ----------
    model : Automatic
        The fitted model.
    title : str, optional
        The title above the table.

    Returns
    -------
    rich.table.Table
        The learning curve is below the table.
    """
    table = new_table(title, "\n".join(_below(model)))
    table.add_column("method", no_wrap=True)
    add_numbers(table, "MLogQ\nleft out", "learned\nin", "size", "share")
    noted = any(model.choice_["note"])
    if noted:
        add_texts(table, "")
    for row in model.choice_.to_dict(orient="records"):
        learned = row["bytes"] > 0
        cells = (
            f"{row['error']:.4f}" if row["error"] < float("inf") else "–",
            quantity(row["fit_seconds"], "s", 2) if learned else "–",
            quantity(row["bytes"], "B", 2) if learned else "–",
            percent(row["weight"], 2) if row["weight"] else "–",
        )
        add_row(table, row["method"], *cells, *([row["note"]] if noted else []))
    if model.error_ == model.error_:
        table.add_section()
        add_row(table, "blend", f"{model.error_:.4f}", "", "", "", *([""] if noted else []))
    return table


def _below(model: Automatic) -> list[str]:
    lines = [f"method beyond the measured range: {model.beyond_}"]
    if model.correction_:
        lines.insert(0, f"trees fitted to the blend's residuals reduce its error by {percent(model.correction_, 2)}")
    curve = _learning_curve(model)
    if len(curve):
        measured, more = curve[curve["measured"]], curve[~curve["measured"]]
        lines.append("error by number of runs: " + ", ".join(_point(row) for row in measured.to_dict(orient="records")))
        points = ", ".join(_point(row) for row in more.to_dict(orient="records"))
        lines.append(f"with more runs, {more['kind'].iloc[0]}: {points}")
    return lines


def _learning_curve(model: Automatic) -> pd.DataFrame:
    from evenly.models.ensemble.learning_curves import above_noise

    return above_noise(model, model.learning_curve_)


def _point(row: dict[Any, Any]) -> str:
    return f"{compact(row['error'], 2)} from {count_text(row['runs'])}"


def choice_as_dict(model: Automatic) -> dict[str, Any]:
    """Return the choice as plain values for JSON."""
    told = {
        "error": model.error_,
        "beyond": model.beyond_,
        "tried": model.choice_.to_dict(orient="records"),
        "learning_curve": _learning_curve(model).to_dict(orient="records"),
    }
    return dict(plain(told))
