"""The calls on arrays, and the collider that keeps what need not be made anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _percale

Vectors = NDArray[np.float64]
Indices = NDArray[np.uint32]
Report = dict[str, Any]


def intersections(V: ArrayLike, F: ArrayLike) -> Indices:
    """Pairs of faces that cross, (k, 2), the smaller number first, ascending: the exact static test.

    >>> import percale
    >>> V = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.2], [0.3, 1, 0.2], [0.2, -1, 0.2]]
    >>> percale.intersections(V, [[0, 1, 2], [3, 4, 5]]).tolist()
    [[0, 1]]
    """
    return _percale.intersections(_arrays.positions("V", V), _arrays.faces("F", F))


def has_intersections(V: ArrayLike, F: ArrayLike) -> bool:
    """Whether any faces cross: whether `intersections` finds any. Stops at what it meets first.

    >>> import percale
    >>> V = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.2], [0.3, 1, 0.2], [0.2, 0.1, 0.2]]
    >>> percale.has_intersections(V, [[0, 1, 2], [3, 4, 5]])
    False
    """
    return _percale.has_intersections(_arrays.positions("V", V), _arrays.faces("F", F))


def check(V: ArrayLike, F: ArrayLike) -> Report:
    """What crosses, counted: `intersections` (pairs of faces), `edge_face`, `by_body` (connected components), `pairs` (k, 2).

    >>> import percale
    >>> V = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.2], [0.3, 1, 0.2], [0.2, -1, 0.2]]
    >>> report = percale.check(V, [[0, 1, 2], [3, 4, 5]])
    >>> report["intersections"], report["edge_face"], report["by_body"][0]["b"]
    (1, 2, 1)
    """
    return _percale.check(_arrays.positions("V", V), _arrays.faces("F", F))


@dataclass(frozen=True)
class Impacts:
    """Impacts of a motion, by time, then pair; one row each.

    `vertices` (k, 4): of a vertex and a face, the vertex first; of two edges, those of the first edge first. `weights` (k, 4) are
    signed: they sum the positions of the four vertices to nothing at the impact. `times` are from 0 to 1 and never too late.
    """

    times: Vectors
    vertices: Indices
    weights: Vectors
    normals: Vectors
    is_vertex_face: NDArray[np.bool_]
    certain: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.times)


def impacts(V0: ArrayLike, V1: ArrayLike, F: ArrayLike, *, ccd: str = "fast") -> Impacts:
    """What meets during the straight motion from V0 to V1; none is missed. `ccd` is `fast`, `exact` or `cubic`.

    >>> import percale
    >>> V0 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> V1 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, -0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> found = percale.impacts(V0, V1, [[0, 1, 2], [3, 4, 5]])
    >>> len(found) > 0, bool(abs(found.times[0] - 0.5) < 1e-6)
    (True, True)
    """
    x0, x1 = _arrays.positions("V0", V0), _arrays.positions("V1", V1)
    return Impacts(**_percale.impacts(x0, x1, _arrays.faces("F", F), str(ccd)))


def first_impact(V0: ArrayLike, V1: ArrayLike, F: ArrayLike, *, ccd: str = "fast") -> Impacts:
    """The earliest impact of the straight motion from V0 to V1, or none: one row, or no row. Costs less than all of them.

    Nothing meets before its time: the step that a line search may take.

    >>> import percale
    >>> V0 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> V1 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, -0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> first = percale.first_impact(V0, V1, [[0, 1, 2], [3, 4, 5]])
    >>> step = first.times[0] if len(first) else 1.0
    >>> len(first), bool(abs(step - 0.5) < 1e-6)
    (1, True)
    """
    x0, x1 = _arrays.positions("V0", V0), _arrays.positions("V1", V1)
    return Impacts(**_percale.first_impact(x0, x1, _arrays.faces("F", F), str(ccd)))


def paths(V: ArrayLike, F: ArrayLike, *, uv: ArrayLike | None = None) -> list[Report]:
    """Intersection paths: `type`, `partner`, `segments`, `length`, `loop_vertices`, `inside`, and `points` (k, 3) along each.

    `uv` are places in the pattern, in metres, (n, 2) by vertex or (m, 3, 2) by corner.
    """
    x, f = _arrays.positions("V", V), _arrays.faces("F", F)
    return _percale.paths(x, f, _arrays.corners("uv", uv, f, len(x)))


def untangle(
    V: ArrayLike,
    F: ArrayLike,
    *,
    uv: ArrayLike | None = None,
    keep: ArrayLike | None = None,
    layers: ArrayLike | None = None,
    body: tuple[ArrayLike, ArrayLike] | None = None,
    rest: ArrayLike | None = None,
    thickness: float = 0.0,
    max_steps: int | None = None,
) -> tuple[Vectors, Report]:
    """Moves a mesh until nothing crosses, or until nothing helps: positions (n, 3), and what happened.

    `keep` are vertices that may not move (numbers, or a mask), `layers` a whole number for each vertex (the higher lies outside),
    `body` positions and faces of something that the cloth must be outside of, `rest` positions (n, 3) of the same mesh before it was
    tangled, so that edges around what crossed get the lengths back that they have there, `thickness` the distance in metres to which layers
    that crossed are parted. `report["certified"]` says whether nothing crosses now; `report["left"]` lists what does.

    >>> import percale
    >>> V = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.2], [0.3, 1, 0.2], [0.2, -0.1, 0.2]]
    >>> F = [[0, 1, 2], [3, 4, 5]]
    >>> x, report = percale.untangle(V, F)
    >>> report["intersections_before"], report["certified"], len(percale.intersections(x, F))
    (1, True, 0)
    """
    x, f = _arrays.positions("V", V), _arrays.faces("F", F)
    if body is not None:
        body = _arrays.pair("body", body, "positions (n, 3) and faces (m, 3)")
        body = _arrays.positions("body", body[0]), _arrays.faces("body", body[1])
    return _percale.untangle(
        x,
        f,
        _arrays.corners("uv", uv, f, len(x)),
        None if keep is None else _mask("keep", keep, len(x)),
        None if layers is None else _arrays.whole("layers", layers),
        body,
        None if rest is None else _arrays.positions("rest", rest),
        _arrays.number("thickness", thickness),
        None if max_steps is None else _arrays.count("max_steps", max_steps),
    )


def _mask(name: str, value: ArrayLike, vertices: int) -> NDArray[np.int64]:
    array = np.asarray(value)
    if array.dtype.kind == "b" and array.shape != (vertices,):
        raise ValueError(f"{name}: a mask of shape {array.shape} for {vertices} vertices; give one truth value for each")
    return _arrays.vertices(name, value)


def resolve(
    V0: ArrayLike,
    V1: ArrayLike,
    F: ArrayLike,
    *,
    mass: ArrayLike | None = None,
    fixed: ArrayLike | None = None,
    obstacle: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    rest: ArrayLike | None = None,
    thickness: float | None = None,
    friction: float = 0.3,
    dt: float = 1 / 60,
    response: Any = "default",
) -> tuple[Vectors, Report]:
    """The collision step alone: V1 is changed until the straight motion from V0 to it meets nothing, and the result is certified.

    V0 must be free of intersections. `mass` is in kg, one for each vertex, 0 where V1 must be kept (None: by area); `fixed` are
    further vertices that end where V1 has them; `obstacle` is (O0, O1, faces), something that moves as it is told; `rest` where the
    vertices are at rest; `thickness` in metres (None: 1 % of the mean edge). `report["velocities"]` is in m/s.

    Raises `StepError` if no stage finds a way; nothing was changed then.

    >>> import percale
    >>> V0 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> V1 = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, -0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]]
    >>> x, report = percale.resolve(V0, V1, [[0, 1, 2], [3, 4, 5]], dt=0.01)
    >>> report["impacts_before"] > 0, bool(x[3, 1] > x[0, 1]), report["velocities"].shape
    (True, True, (6, 3))
    """
    x0 = _arrays.positions("V0", V0)
    ends, beside = None, None
    if obstacle is not None:
        try:
            o0, o1, f = obstacle
        except (TypeError, ValueError):
            message = "obstacle: it must be (O0, O1, faces): positions (k, 3) at both ends of the motion, and faces (l, 3)"
            raise ValueError(message) from None
        ends = o0, o1
        beside = f, len(_arrays.positions("obstacle", o0))
    collider = Collider(
        F, mass=mass, fixed=fixed, obstacle=beside, rest=rest, thickness=thickness, friction=friction, response=response,
        vertices=len(x0),
    )  # fmt: skip
    return collider.resolve(x0, V1, obstacle=ends, dt=dt)


class Collider:
    """The collision step for a loop of your own: keeps topology and tree, and the certificate of where the last call ended.

    What is kept saves time and changes no result. `obstacle` is its faces, or a pair of faces and the number of its vertices;
    `vertices` the number of the cloth's (None: as many as faces, masses or rest positions name). May be used from several
    threads: one call waits for the other.

    >>> import numpy as np, percale
    >>> V = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]])
    >>> collider = percale.Collider([[0, 1, 2], [3, 4, 5]], mass=np.full(6, 0.1), fixed=[0, 1, 2])
    >>> for _ in range(5):
    ...     V, report = collider.resolve(V, V - [0, 0.05, 0] * np.repeat([[0], [1]], 3, axis=0), dt=0.01)
    >>> bool(V[3, 1] > 0), len(collider.intersections(V))
    (True, 0)
    """

    def __init__(
        self,
        F: ArrayLike,
        mass: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
        *,
        obstacle: Any = None,
        rest: ArrayLike | None = None,
        thickness: float | None = None,
        friction: float = 0.3,
        response: Any = "default",
        vertices: int | None = None,
    ) -> None:
        f = _arrays.faces("F", F)
        masses = None if mass is None else _arrays.numbers("mass", mass)
        places = None if rest is None else _arrays.positions("rest", rest)
        if vertices is not None:
            count = _arrays.count("vertices", vertices)
        elif masses is not None:
            count = len(masses)
        elif places is not None:
            count = len(places)
        else:
            count = max(int(f.max()) + 1, 0)
        beside = None
        if obstacle is not None:
            if isinstance(obstacle, tuple) and len(obstacle) == 2 and np.ndim(obstacle[1]) == 0:
                faces = _arrays.faces("obstacle", obstacle[0])
                beside = _arrays.count("obstacle", obstacle[1]), faces
            else:
                faces = _arrays.faces("obstacle", obstacle)
                beside = max(int(faces.max()) + 1, 0), faces
        self._collider = _percale.Collider(
            f,
            count,
            masses,
            None if fixed is None else _mask("fixed", fixed, count),
            beside,
            places,
            None if thickness is None else _arrays.number("thickness", thickness),
            _arrays.number("friction", friction),
            _arrays.stages(response),
        )

    def resolve(
        self, V0: ArrayLike, V1: ArrayLike, *, obstacle: tuple[ArrayLike, ArrayLike] | None = None, dt: float = 1 / 60
    ) -> tuple[Vectors, Report]:
        """As `percale.resolve`; `obstacle` is its positions at both ends of the motion."""
        x0, x1 = _arrays.positions("V0", V0), _arrays.positions("V1", V1)
        return self._collider.resolve(x0, x1, _ends(obstacle), _arrays.number("dt", dt))

    def intersections(self, V: ArrayLike, *, obstacle: ArrayLike | None = None) -> Indices:
        """Pairs of faces that cross; those of the obstacle are numbered after the cloth's, and do not count among themselves."""
        beside = None if obstacle is None else _arrays.positions("obstacle", obstacle)
        return self._collider.intersections(_arrays.positions("V", V), beside)

    def has_intersections(self, V: ArrayLike, *, obstacle: ArrayLike | None = None) -> bool:
        """Whether there are any."""
        beside = None if obstacle is None else _arrays.positions("obstacle", obstacle)
        return self._collider.has_intersections(_arrays.positions("V", V), beside)

    def impacts(
        self, V0: ArrayLike, V1: ArrayLike, *, obstacle: tuple[ArrayLike, ArrayLike] | None = None, ccd: str = "fast"
    ) -> Impacts:
        """As `percale.impacts`."""
        x0, x1 = _arrays.positions("V0", V0), _arrays.positions("V1", V1)
        return Impacts(**self._collider.impacts(x0, x1, _ends(obstacle), str(ccd)))

    def first_impact(
        self, V0: ArrayLike, V1: ArrayLike, *, obstacle: tuple[ArrayLike, ArrayLike] | None = None, ccd: str = "fast"
    ) -> Impacts:
        """As `percale.first_impact`."""
        x0, x1 = _arrays.positions("V0", V0), _arrays.positions("V1", V1)
        return Impacts(**self._collider.first_impact(x0, x1, _ends(obstacle), str(ccd)))


def _ends(obstacle: Any) -> Any:
    if obstacle is None:
        return None
    o0, o1 = _arrays.pair("obstacle", obstacle, "positions at both ends of the motion")
    return _arrays.positions("obstacle", o0), _arrays.positions("obstacle", o1)
