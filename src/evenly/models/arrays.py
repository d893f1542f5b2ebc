"""Arrays as scikit-learn passes them: what is no table of numbers is refused in the words that it expects.

scikit-learn's own checks (`sklearn.utils.validation.validate_data`) would import it, which takes longer than a
prediction, and turn labels into an error.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from evenly.errors import InputError

__all__ = ["as_features", "one_column"]


def as_features(X: Any, model: Any = None) -> Any:
    """Return configurations unchanged; an array is checked first, and given the columns of a fitted `model`.

    Parameters
    ----------
    X : DataFrame, dict of columns, list of dicts or array (n, n_parameters)
    model : Model, optional
        The fitted model that is asked; without one, `X` is what a model shall learn from.

    Raises
    ------
    InputError
        If an array is sparse, complex, has another number of dimensions or columns, or holds NaN or infinity.

    Examples
    --------
    >>> as_features(np.zeros(3))
    Traceback (most recent call last):
    evenly.errors.InputError: configurations must be a table of shape (n, n_parameters), but got (3,). Reshape ...
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("Sparse data was passed, but sparse configurations are not supported: pass X.toarray()")
    if not isinstance(X, np.ndarray):
        return X
    _check_numbers(X)
    width = None if model is None else model.n_features_in_
    if X.ndim == 1 and width != 1:
        raise InputError(
            f"configurations must be a table of shape (n, {'n_parameters' if width is None else width}), but got "
            f"{X.shape}. Reshape your data: array.reshape(-1, 1) if it has one parameter, array.reshape(1, -1) if it "
            "is one configuration"
        )
    if X.ndim == 2 and not X.shape[1]:
        raise InputError(f"found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if model is not None and X.ndim == 2 and X.shape[1] != width:
        raise InputError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {width} features as input: "
            f"{', '.join(model.space_.names)}"
        )
    return X


def _check_numbers(X: np.ndarray[Any, Any]) -> None:
    if np.iscomplexobj(X):
        raise InputError("Complex data not supported: configurations must be real numbers or labels")
    if X.dtype.kind == "f":
        bad = np.argwhere(~np.isfinite(X))
        if len(bad):
            found = X[tuple(bad[0])]
            shown = "NaN" if np.isnan(found) else "-inf" if found < 0 else "inf"
            raise InputError(f"configurations must hold finite numbers, but row {bad[0][0]} holds {shown}")


def one_column(y: Any) -> Any:
    """Return measured values unchanged; a column of shape (n, 1) becomes flat, with scikit-learn's warning.

    Raises
    ------
    InputError
        If there are no values, they are complex, or there are several columns.

    Examples
    --------
    >>> one_column(None)
    Traceback (most recent call last):
    evenly.errors.InputError: a model requires y to be passed, but the target y is None
    """
    if y is None:
        raise InputError("a model requires y to be passed, but the target y is None")
    values = y if hasattr(y, "shape") else np.asarray(y, dtype=object)
    shape = values.shape
    if np.iscomplexobj(values):
        raise InputError("Complex data not supported: measured values must be real numbers")
    if len(shape) > 1 and shape[1:] != (1,):
        raise InputError(f"measured values must be one column, of shape (n,), but got {shape}")
    if len(shape) > 1:
        from sklearn.exceptions import DataConversionWarning  # here, since importing it takes longer than a prediction

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected: it is taken as one",
            DataConversionWarning,
            stacklevel=4,
        )
        return np.ravel(values)
    return y
