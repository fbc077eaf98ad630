"""Cloth that does not go through itself or anything else, with proof: NumPy arrays in and out.

`V` is (n, 3), `F` is (m, 3), of any type and memory order; SI units, Y up, vertices numbered from 0. Wrong arguments raise a
`ValueError` that names them.

>>> import percale
>>> V = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
>>> len(percale.intersections(V, [[0, 1, 2], [3, 4, 5]]))
0
"""

from . import errors
from ._calls import Collider, Impacts, check, first_impact, has_intersections, impacts, intersections, paths, resolve, untangle
from ._percale import __version__
from ._scenes import Frame, Object, Recording, Simulation, run, scenes
from ._sweep import sweep
from .errors import Error, MeshError, ResultError, SceneError, StartError, StepError

__all__ = [
    "Collider",
    "Error",
    "Frame",
    "Impacts",
    "MeshError",
    "Object",
    "Recording",
    "ResultError",
    "SceneError",
    "Simulation",
    "StartError",
    "StepError",
    "__version__",
    "check",
    "errors",
    "first_impact",
    "has_intersections",
    "impacts",
    "intersections",
    "paths",
    "resolve",
    "run",
    "scenes",
    "sweep",
    "untangle",
]
