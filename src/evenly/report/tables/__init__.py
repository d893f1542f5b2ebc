"""All tables and their plain-number forms in one place, for the command line and for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.report.tables.model import errors_of as errors_of
    from evenly.report.tables.model import model_table as model_table
    from evenly.report.tables.model import models_as_dict as models_as_dict
    from evenly.report.tables.model import models_table as models_table
    from evenly.report.tables.model import predictions_as_dict as predictions_as_dict
    from evenly.report.tables.model import predictions_table as predictions_table
    from evenly.report.tables.plan import comparison_table as comparison_table
    from evenly.report.tables.plan import curve_as_dict as curve_as_dict
    from evenly.report.tables.plan import curve_table as curve_table
    from evenly.report.tables.plan import plan_as_dict as plan_as_dict
    from evenly.report.tables.plan import plan_table as plan_table
    from evenly.report.tables.run import runs_as_dict as runs_as_dict
    from evenly.report.tables.run import runs_table as runs_table
    from evenly.report.tables.run import skipped_table as skipped_table

_NAMES = {
    "model": "errors_of model_table models_as_dict models_table predictions_as_dict predictions_table",
    "plan": "comparison_table curve_as_dict curve_table plan_as_dict plan_table",
    "run": "runs_as_dict runs_table skipped_table",
}
_HOMES = {name: f"evenly.report.tables.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOMES)


__getattr__, __dir__ = lazy(__name__, _HOMES)
