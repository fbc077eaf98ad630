"""Other people's code judges our frames: ipctk counts intersections, numpy checks the ball, the floor and the fall."""

import json
import pathlib
import struct
import subprocess

import ipctk
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERCALE = ROOT / "target" / "release" / "percale"


def read_object(folder, name):
    """Positions of all frames (f, n, 3) and faces (m, 3) of one object of a result folder."""
    data = (folder / "objects" / f"{name}.x64").read_bytes()
    assert data[:8] == b"PERCALE1"
    (count,) = struct.unpack("<Q", data[8:16])
    x = np.frombuffer(data, "<f8", offset=16).reshape(-1, count, 3)
    lines = (folder / "objects" / f"{name}.obj").read_text().splitlines()
    faces = np.array([[int(i) - 1 for i in line.split()[1:]] for line in lines if line.startswith("f ")])
    return x, faces


@pytest.fixture(scope="module")
def drop(tmp_path_factory):
    """The whole scene, full size."""
    folder = tmp_path_factory.mktemp("drop") / "result"
    done = subprocess.run([PERCALE, "run", "drop", "-o", folder, "--json"], check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    objects = {name: read_object(folder, name) for name in ("cloth", "ball", "floor")}
    return report, objects


def test_every_frame_is_there_and_the_report_says_so(drop):
    report, objects = drop
    assert report["frames"] == 120
    assert all(len(x) == 121 for x, _ in objects.values())
    assert objects["cloth"][0].shape == (121, 2500, 3)
    assert report["intersections"] == 0


@pytest.mark.parametrize("obstacle", ["ball", "floor"])
def test_ipctk_finds_no_intersection_in_any_frame(drop, obstacle):
    # one obstacle at a time: the ball stands on the floor, and obstacles are not judged among themselves
    _, objects = drop
    cloth, cloth_faces = objects["cloth"]
    other, other_faces = objects[obstacle]
    faces = np.vstack([cloth_faces, other_faces + cloth.shape[1]]).astype(np.int32)
    mesh = ipctk.CollisionMesh(np.vstack([cloth[0], other[0]]), ipctk.edges(faces), faces)
    for frame in range(len(cloth)):
        x = np.asfortranarray(np.vstack([cloth[frame], other[frame]]))
        assert not ipctk.has_intersections(mesh, x), f"frame {frame}"


def test_ipctk_would_have_seen_an_intersection(drop):
    _, objects = drop
    cloth, cloth_faces = objects["cloth"]
    faces = cloth_faces.astype(np.int32)
    mesh = ipctk.CollisionMesh(cloth[-1], ipctk.edges(faces), faces)
    # a corner of the cloth pulled through its middle
    x = cloth[-1].copy()
    middle = 25 * 50 + 25
    x[0] = 2 * x[middle] - x[1]
    assert ipctk.has_intersections(mesh, np.asfortranarray(x))


def winding_number(points, x, faces):
    """Solid angle of a closed surface seen from points, over 4 pi: 1 inside, 0 outside."""
    total = np.zeros(len(points))
    for a, b, c in (x[face] for face in faces):
        a, b, c = a - points, b - points, c - points
        la, lb, lc = (np.linalg.norm(p, axis=1) for p in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        dots = [np.einsum("ij,ij->i", p, q) for p, q in ((a, b), (b, c), (c, a))]
        total += 2 * np.arctan2(volume, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb)
    return total / (4 * np.pi)


def test_no_cloth_vertex_is_inside_the_ball_or_below_the_floor(drop):
    _, objects = drop
    cloth = objects["cloth"][0]
    ball, faces = objects["ball"]
    centre = np.array([0.0, 0.25, 0.0])
    assert abs(winding_number(centre[None], ball[0], faces)[0] - 1) < 1e-9, "the ball is closed and faces outwards"
    for frame in range(0, len(cloth), 10):
        x = cloth[frame]
        near = x[np.linalg.norm(x - centre, axis=1) < 0.25]
        if len(near):
            assert np.abs(winding_number(near, ball[frame], faces)).max() < 0.5, f"frame {frame}"
    assert cloth[:, :, 1].min() > 0


def test_the_cloth_falls_like_a_stone_until_it_touches(drop):
    _, objects = drop
    cloth = objects["cloth"][0]
    for frame in range(4, 9):  # contact is after sqrt(2 * 0.1 / g) = 0.143 s = 8.6 frames
        t = frame / 60
        fallen = (cloth[0] - cloth[frame])[:, 1]
        # implicit loops of 1/960 s are ahead by half a loop
        assert np.abs(fallen / (0.5 * 9.81 * t * (t + 1 / 960)) - 1).max() < 1e-3


def test_hold_is_rare_and_the_cloth_comes_to_rest_as_cloth(drop):
    report, objects = drop
    cloth = objects["cloth"][0]
    assert report["failsafes"] <= 0.01 * report["intervals"]
    assert report["kept_share"] > 0.3, "certified but frozen would be a failure"
    # it hangs down round the ball, and it folds: more than half of a flat sheet's width is gone
    last = cloth[-1]
    assert last[:, 1].max() > 0.5 and last[:, 1].min() < 0.1
    speed = np.linalg.norm(cloth[-1] - cloth[-2], axis=1) * 60
    assert np.median(speed) < 0.1
