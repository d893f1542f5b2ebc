"""``evenly predict``: how long configurations take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json
from evenly.cli.groups import grouped
from evenly.cli.loading import learn
from evenly.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@grouped
def predict(
    path: opt.PathArgument,
    at: opt.At = None,
    file: Annotated[Path | None, typer.Option("--file", help="A CSV file of configurations, one per row.")] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the predictions as CSV.")] = None,
    level: opt.Level = 0.9,
    learning: opt.Learning = opt.Learning(),  # noqa: B008 - frozen
    reading: opt.Reading = opt.Reading(),  # noqa: B008 - frozen
    json: opt.Json = False,
) -> None:
    """Predict how long configurations take, with intervals, from saved models or straight from measurements."""
    from evenly.report.model_tables import predictions_as_dict, predictions_table

    asked = _asked(at, file)
    learned = learn(path, reading, learning)
    if save is not None:
        _save(predictions_as_dict(learned.models, asked, level=level)["predictions"], save)
    if json:
        print_json(predictions_as_dict(learned.models, asked, level=level))
    else:
        out.print(predictions_table(learned.models, asked, level=level))


def _save(predictions: list[dict[str, Any]], path: Path) -> None:
    import pandas as pd

    rows = [{**row.pop("configuration"), **row} for row in predictions]
    try:
        pd.DataFrame(rows).to_csv(path, index=False)
    except OSError as error:
        raise InputError(f"predictions can't be saved in {path}: {error.strerror}") from None
    note(f"saved {path}")


def _asked(at: list[str] | None, file: Path | None) -> pd.DataFrame:
    import pandas as pd

    if (at is None) == (file is None):
        raise InputError("give the configurations either with --at, as --at cores=64,128, or with --file table.csv")
    if file is None:
        return pd.DataFrame(parsing.configurations(at or []))
    try:
        return pd.read_csv(file)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise InputError(f"{file} can't be read as a table of configurations: {error}") from None
