"""Scenes: stepped, run into result folders, read from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _percale

SceneLike = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Object:
    """A named part of a mesh; use its slices on positions and faces. Faces are numbered over the whole mesh."""

    name: str
    is_cloth: bool
    vertices: slice
    faces: slice


@dataclass(frozen=True)
class Frame:
    """An output frame: its number, certified positions (n, 3) of all objects, and the report."""

    number: int
    positions: NDArray[np.float64]
    report: dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What a scene is read from; goes through pickles."""

    source: Any
    base: str
    small: bool
    changes: dict[str, Any]


def source_of(scene: SceneLike, small: bool, changes: Mapping[str, Any] | None, base: Any = None) -> Source:
    """Checks what a scene is read from."""
    if isinstance(scene, Mapping):
        source: Any = dict(scene)
    elif isinstance(scene, (str, os.PathLike)):
        source = os.fspath(scene)
        if not isinstance(source, str):
            raise ValueError("scene: write its name or path as text")
        if "\0" in source:
            raise ValueError("scene: there is a NUL in the name")
    else:
        raise ValueError(f"scene: a {type(scene).__name__}; write a built-in name, a path, or a dictionary")
    if changes is not None and not (isinstance(changes, Mapping) and all(isinstance(key, str) for key in changes)):
        raise ValueError("set: it must be a dictionary of keys and values, e.g. {'friction': 0.5}")
    base = os.getcwd() if base is None else os.fspath(base)
    return Source(source, base, bool(small), dict(changes or {}))


def scenes() -> list[str]:
    """Names of the built-in scenes.

    >>> import percale
    >>> "drop" in percale.scenes()
    True
    """
    return _percale.scenes()


def _objects(found: Any) -> dict[str, Object]:
    return {name: Object(name, is_cloth, slice(*v), slice(*f)) for name, is_cloth, v, f in found}


_Array = TypeVar("_Array", bound=NDArray[Any])


def _read_only(array: _Array) -> _Array:
    array.flags.writeable = False
    return array


class Simulation:
    """A scene that is stepped: a built-in name, a file, or a dictionary with the keys of a scene file and arrays in it.

    `set` changes keys as `percale run --set` does; `base` is the folder that paths in a dictionary are relative to.

    >>> import numpy as np, percale
    >>> V = np.array([[0, 0.5, 0], [1, 0.5, 0], [0, 0.5, 1], [1, 0.5, 1]])
    >>> cloth = {"name": "mine", "shape": {"kind": "mesh", "positions": V, "faces": [[0, 2, 1], [1, 2, 3]]}}
    >>> simulation = percale.Simulation({"frames": 2, "cloth": [cloth]}, set={"fps": 30})
    >>> frame = simulation.step()
    >>> frame.number, frame.report["intersections"], frame.positions[simulation.objects["mine"].vertices].shape
    (1, 0, (4, 3))
    """

    def __init__(
        self, scene: SceneLike, *, small: bool = False, set: Mapping[str, Any] | None = None, base: Any = None
    ) -> None:
        source = source_of(scene, small, set, base)
        self._simulation = _percale.Simulation(source.source, source.base, source.small, source.changes)
        self.objects = _objects(self._simulation.objects())
        self.faces = _read_only(self._simulation.faces())
        self.mass = _read_only(np.array(self._simulation.mass()))

    def step(self) -> Frame:
        """Advances by one output frame. Raises `StepError` if the cloth has nowhere to go."""
        report = self._simulation.step()
        return Frame(self._simulation.frame(), self.positions, report)

    def frames_left(self) -> Iterator[Frame]:
        """Steps to the scene's last frame."""
        while self.frame < self.frame_count:
            yield self.step()

    @property
    def positions(self) -> NDArray[np.float64]:
        """Certified positions (n, 3) of all objects, in metres; a copy that may be kept."""
        return _read_only(self._simulation.positions())

    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities (n, 3), in m/s."""
        return _read_only(self._simulation.velocities())

    @property
    def frame(self) -> int:
        """Output frames done so far."""
        return self._simulation.frame()

    @property
    def frame_count(self) -> int:
        """Output frames of the scene."""
        return self._simulation.frames()

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return self._simulation.frame() / self._simulation.fps()

    @property
    def scene(self) -> str:
        """The scene as TOML, with every default."""
        return self._simulation.scene()

    def checkpoint(self) -> bytes:
        """All that is needed to go on later, to the same bits; of this scene and version only."""
        return self._simulation.checkpoint()

    def restore(self, checkpoint: bytes) -> None:
        """Goes on from a checkpoint."""
        if not isinstance(checkpoint, (bytes, bytearray)):
            raise ValueError("checkpoint: it must be the bytes that `checkpoint()` gave")
        self._simulation.restore(bytes(checkpoint))


def run(
    scene: SceneLike,
    out: str | os.PathLike[str],
    *,
    frames: int | None = None,
    small: bool = False,
    set: Mapping[str, Any] | None = None,
    resume: bool = False,
    force: bool = False,
    base: Any = None,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """Runs a scene into a result folder, as `percale run` does, and returns the totals: the same folder, the same hash.

    `progress` is called with the frame and the number of frames. Ctrl-C ends the run after the frame at hand; `resume=True` goes
    on. A run that stops on the way says why in `stopped` of the totals.
    """
    if resume and force:
        raise ValueError("resume, force: an earlier result is either continued or replaced")
    source = source_of(scene, small, set, base)
    earlier = "resume" if resume else "force" if force else ""
    wanted = None if frames is None else _arrays.count("frames", frames)
    return _percale.run(source, os.fspath(out), wanted, earlier, progress)


class Recording:
    """A result folder that is read; everything is compared with its checksum.

    >>> import percale, tempfile
    >>> folder = tempfile.mkdtemp() + "/drop"
    >>> summary = percale.run("drop", folder, frames=2, set={"cloth.0.shape.cells": [8, 8]})
    >>> recording = percale.Recording(folder)
    >>> len(recording), recording.positions(2).shape == recording.positions(0).shape, recording.hash() == summary["hash"]
    (3, True, True)
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._recording = _percale.Recording(os.fspath(path))
        self.objects = _objects(self._recording.objects())
        self.faces = _read_only(self._recording.faces())

    def __len__(self) -> int:
        """Frames, the start included."""
        return self._recording.frame_count()

    def positions(self, frame: int, name: str | None = None) -> NDArray[np.float64]:
        """Certified positions (n, 3) at a frame, of all objects or of one."""
        number = _arrays.count("frame", frame + len(self) if frame < 0 else frame)
        x = _read_only(self._recording.positions(number))
        if name is None:
            return x
        if name not in self.objects:
            raise ValueError(f"name: there is no object '{name}'; there are {', '.join(self.objects)}")
        return x[self.objects[name].vertices]

    @property
    def is_refused(self) -> bool:
        """Whether the start crosses itself: there is frame 0 only, and it is not certified."""
        return self._recording.is_refused()

    @property
    def reports(self) -> list[dict[str, Any]]:
        """One report for each frame after the start."""
        return self._recording.reports()

    @property
    def summary(self) -> dict[str, Any] | None:
        """Totals, if the run has ended."""
        return self._recording.summary()

    @property
    def scene(self) -> str:
        """The scene that was run, as TOML."""
        return self._recording.scene()

    def hash(self) -> str:
        """SHA-256 of the positions of all frames, from the files as they are now."""
        return self._recording.hash()
