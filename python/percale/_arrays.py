"""Arguments as arrays of the right shape, or a ValueError that names them."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Types that go in as they are; all others are converted first.
_NUMBERS = (np.dtype(np.float64), np.dtype(np.float32))
_WHOLE = (np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.uint64))


def _array(name: str, value: Any, kinds: str, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{name}: no array can be made of it ({error}); it must be {what}") from None
    if array.size == 0 and array.dtype.kind == "f":
        return array  # [] has this type, whatever it is a list of
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name}: an array of {array.dtype}; it must be {what}")
    return array


def positions(name: str, value: Any) -> NDArray[Any]:
    """An array (n, 3) of 64-bit or 32-bit numbers; nothing is copied if it is one already."""
    what = "an array (n, 3) of numbers"
    array = _array(name, value, "fiu", what)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name}: an array of shape {array.shape}; it must be {what}")
    return array if array.dtype in _NUMBERS else array.astype(np.float64)


def faces(name: str, value: Any) -> NDArray[Any]:
    """An array (m, 3) of whole numbers; nothing is copied if it is one of 32 or 64 bits."""
    what = "an array (m, 3) of whole numbers"
    array = _array(name, value, "iu", what)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name}: an array of shape {array.shape}; it must be {what}")
    if len(array) == 0:
        raise ValueError(f"{name}: there are no faces; give at least one triangle")
    return array if array.dtype in _WHOLE else array.astype(np.int64)


def numbers(name: str, value: Any) -> NDArray[np.float64]:
    """A list of numbers."""
    array = _array(name, value, "fiu", "a list of numbers")
    if array.ndim != 1:
        raise ValueError(f"{name}: an array of shape {array.shape}; it must be a list of numbers")
    return array.astype(np.float64, copy=False)


def whole(name: str, value: Any) -> NDArray[np.float64]:
    """A list of whole numbers of 32 bits."""
    array = numbers(name, value)
    if not np.all((array == np.floor(array)) & (np.abs(array) < 2.0**31)):
        raise ValueError(f"{name}: not all of them are whole numbers of 32 bits")
    return array


def vertices(name: str, value: Any) -> NDArray[np.int64]:
    """Numbers of vertices, from a list of them or from a mask."""
    what = "a list of vertex numbers, or a mask with a truth value for each vertex"
    array = _array(name, value, "iub", what)
    if array.ndim != 1:
        raise ValueError(f"{name}: an array of shape {array.shape}; it must be {what}")
    if array.dtype.kind == "b":
        array = np.flatnonzero(array)
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise ValueError(f"{name}: {array.max()} is no vertex")
    return array.astype(np.int64, copy=False)


def corners(name: str, value: Any, triangles: NDArray[Any], count: int) -> NDArray[Any] | None:
    """Coordinates (3 m, 3) of the corners of faces, from (n, 2) by vertex or (m, 3, 2) by corner."""
    if value is None:
        return None
    what = f"an array ({count}, 2), one place for each vertex, or ({len(triangles)}, 3, 2), one for each corner of a face"
    array = _array(name, value, "fiu", what)
    if array.shape == (count, 2):
        low, high = int(triangles.min()), int(triangles.max())
        if low < 0 or high >= count:
            raise ValueError(f"F: it uses the vertices {low} to {high}, but there are {count}, numbered from 0")
        array = array[triangles]
    if array.shape != (len(triangles), 3, 2):
        raise ValueError(f"{name}: an array of shape {array.shape}; it must be {what}")
    flat = array.reshape(-1, 2).astype(np.float64)
    return np.column_stack([flat, np.zeros(len(flat))])


def number(name: str, value: Any) -> float:
    """One number."""
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{name}: {value!r} is no number")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: {value!r} is no number") from None
    if math.isnan(result):
        raise ValueError(f"{name}: it is not a number (NaN)")
    return result


def count(name: str, value: Any, least: int = 0) -> int:
    """One whole number."""
    try:
        result = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r} is no whole number") from None
    if not least <= result < 2**32:
        raise ValueError(f"{name}: {result} must be from {least} to 2^32")
    return result


def pair(name: str, value: Any, what: str) -> tuple[Any, Any]:
    """Two things."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ValueError(f"{name}: it must be a pair: {what}") from None
    return first, second


def stages(response: Any) -> list[dict[str, Any]] | None:
    """Stages as dictionaries; None for the default."""
    if response is None or response == "default":
        return None
    if isinstance(response, str):
        response = [name.strip() for name in response.split(",")]
    if not isinstance(response, (list, tuple)) or not response:
        raise ValueError("response: it must be 'default', names like 'impulses,hold', or a list of names and dictionaries")
    made = []
    for stage in response:
        if isinstance(stage, str):
            stage = {"kind": stage}
        if not isinstance(stage, dict) or not all(isinstance(key, str) for key in stage):
            raise ValueError(f"response: {stage!r} is neither a name nor a dictionary with a `kind`")
        made.append(stage)
    return made
