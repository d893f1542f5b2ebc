"""Short names of the array types that models take and return."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Ints", "Singles"]

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Singles = NDArray[np.float32]
