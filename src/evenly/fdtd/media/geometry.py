"""All parts of a structure in one place: solids, and materials that are given point by point."""

from __future__ import annotations

from evenly.fdtd.media.custom import ArrayMaterial, FunctionMaterial
from evenly.fdtd.media.faces import Faces
from evenly.fdtd.media.prism import Prism
from evenly.fdtd.media.solids import Block, Cylinder, GeometricObject, Material, Sphere

__all__ = [
    "ArrayMaterial",
    "Block",
    "Cylinder",
    "Faces",
    "FunctionMaterial",
    "GeometricObject",
    "Material",
    "Prism",
    "Sphere",
]
