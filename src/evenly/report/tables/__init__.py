"""All tables and their plain-number forms in one place, for the command line and for notebooks."""

from __future__ import annotations

from evenly.report.tables.model import (
    errors_of,
    model_table,
    models_as_dict,
    models_table,
    predictions_as_dict,
    predictions_table,
)
from evenly.report.tables.plan import comparison_table, curve_as_dict, curve_table, plan_as_dict, plan_table
from evenly.report.tables.run import runs_as_dict, runs_table, skipped_table

__all__ = [
    "comparison_table",
    "curve_as_dict",
    "curve_table",
    "errors_of",
    "model_table",
    "models_as_dict",
    "models_table",
    "plan_as_dict",
    "plan_table",
    "predictions_as_dict",
    "predictions_table",
    "runs_as_dict",
    "runs_table",
    "skipped_table",
]
