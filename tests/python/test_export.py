"""Other people's readers open what `percale export` writes: counted objects and frames, equal positions."""

import json
import pathlib
import struct
import subprocess

import ipctk
import numpy as np
import pytest
import trimesh
from pxr import Usd, UsdGeom

from test_drop import PERCALE, read_object

NAMES = ["cloth", "ball", "floor"]  # moved by forces, by a script, not at all
FRAMES = 12


def run(folder, *more):
    command = [PERCALE, "run", "rotating-ball", "--small", "--frames", str(FRAMES), "-o", folder, "--json", *more]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def export(folder, kind, out):
    command = [PERCALE, "export", folder, "--format", kind, "-o", out, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    report = json.loads(done.stdout)
    assert done.returncode == (1 if report["intersections"] else 0)
    assert all(pathlib.Path(file).is_file() for file in report["files"])
    return report


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A folder, and what is in it: positions (f, n, 3) and faces (m, 3) of each object."""
    # turns from the first frame on: the ball is a moving obstacle
    folder = run(tmp_path_factory.mktemp("run") / "result", "--set", "obstacle.ball.motion.0.from=0")
    objects = {name: read_object(folder, name) for name in NAMES}
    assert all(len(x) == FRAMES + 1 for x, _ in objects.values())
    assert not np.array_equal(objects["ball"][0][0], objects["ball"][0][-1])
    assert np.array_equal(objects["floor"][0][0], objects["floor"][0][-1])
    return folder, objects


def test_certified_positions_are_f32_values(result):
    _, objects = result
    for x, _ in objects.values():
        assert np.array_equal(x, x.astype(np.float32).astype(np.float64))


def check_stage(path, objects):
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == 60
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, FRAMES)
    assert stage.GetDefaultPrim().GetName() == "scene"
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert [mesh.GetPrim().GetName() for mesh in meshes] == NAMES
    for mesh, name in zip(meshes, NAMES):
        x, faces = objects[name]
        assert np.array_equal(mesh.GetFaceVertexCountsAttr().Get(), np.full(len(faces), 3))
        assert np.array_equal(mesh.GetFaceVertexIndicesAttr().Get(), faces.ravel())
        points = mesh.GetPointsAttr()
        moves = not np.array_equal(x, np.broadcast_to(x[0], x.shape))
        assert points.GetNumTimeSamples() == (FRAMES + 1 if moves else 0)
        for frame in range(FRAMES + 1):
            assert np.array_equal(np.array(points.Get(frame)), x[frame].astype(np.float32)), f"{name} {frame}"
            low, high = np.array(mesh.GetExtentAttr().Get(frame))
            assert np.array_equal(low, x[frame].astype(np.float32).min(axis=0))
            assert np.array_equal(high, x[frame].astype(np.float32).max(axis=0))


def test_usd_opens_the_stage_with_equal_positions(result, tmp_path):
    folder, objects = result
    report = export(folder, "usda", tmp_path)
    assert (report["frames"], report["objects"], report["off_grid"]) == (FRAMES + 1, 3, 0)
    check_stage(tmp_path / "scene.usda", objects)
    # and it survives the conversion to binary
    Usd.Stage.Open(str(tmp_path / "scene.usda")).Export(str(tmp_path / "scene.usdc"))
    check_stage(tmp_path / "scene.usdc", objects)


def read_pc2(path):
    data = path.read_bytes()
    magic, version, count, start, rate, samples = struct.unpack("<12siiffi", data[:32])
    assert (magic, version, start, rate) == (b"POINTCACHE2\0", 1, 0.0, 1.0)
    return np.frombuffer(data, "<f4", offset=32).reshape(samples, count, 3)


def test_pc2_and_its_obj_belong_together(result, tmp_path):
    folder, objects = result
    report = export(folder, "pc2", tmp_path)
    assert len(report["files"]) == 2 * len(NAMES)
    for name in NAMES:
        x, faces = objects[name]
        assert np.array_equal(read_pc2(tmp_path / f"{name}.pc2"), x.astype(np.float32))
        mesh = trimesh.load(tmp_path / f"{name}.obj", process=False, maintain_order=True)
        assert np.array_equal(mesh.vertices, x[0])
        assert np.array_equal(mesh.faces, faces)


def read_glb(path):
    """Meshes by name: positions of every frame as a player adds them up, and triangles; times of the animation."""
    data = path.read_bytes()
    magic, version, length, size, kind = struct.unpack("<4sIII4s", data[:20])
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    root = json.loads(data[20 : 20 + size])
    numbers = data[28 + size :]
    assert len(numbers) == root["buffers"][0]["byteLength"]

    def read(number):
        accessor = root["accessors"][number]
        view = root["bufferViews"][accessor["bufferView"]]
        wide = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor["type"]]
        dtype = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        x = np.frombuffer(numbers, dtype, accessor["count"] * wide, view["byteOffset"]).reshape(-1, wide)
        if "min" in accessor:
            assert np.array_equal(x.min(axis=0), np.float32(accessor["min"]))
            assert np.array_equal(x.max(axis=0), np.float32(accessor["max"]))
        return x

    meshes = {}
    for mesh in root["meshes"]:
        first = mesh["primitives"][0]
        start = read(first["attributes"]["POSITION"])
        assert np.abs(np.linalg.norm(read(first["attributes"]["NORMAL"]), axis=1) - 1).max() < 1e-6
        frames = [start] + [start + read(target["POSITION"]) for target in first.get("targets", [])]
        meshes[mesh["name"]] = np.stack(frames), np.vstack([read(p["indices"]).reshape(-1, 3) for p in mesh["primitives"]])
    (animation,) = root["animations"]
    sampler = animation["samplers"][0]
    times = read(sampler["input"]).ravel()
    weights = read(sampler["output"]).reshape(len(times), -1)
    assert np.array_equal(weights, np.eye(len(times))[:, 1:])
    moving = [root["meshes"][root["nodes"][c["target"]["node"]]["mesh"]]["name"] for c in animation["channels"]]
    return meshes, times, moving


def test_a_glb_plays_the_frames(result, tmp_path):
    folder, objects = result
    report = export(folder, "glb", tmp_path)
    meshes, times, moving = read_glb(tmp_path / "scene.glb")
    assert list(meshes) == NAMES and moving == NAMES[:2]
    assert np.array_equal(times, np.float32(np.arange(FRAMES + 1) / 60))
    rounded = 0
    for name, (x, faces) in objects.items():
        frames, triangles = meshes[name]
        assert np.array_equal(triangles, faces)
        assert len(frames) == (1 if name == "floor" else FRAMES + 1)
        assert np.abs(frames - x[: len(frames)]).max() < 1e-7
        rounded += int(np.any(frames != x[: len(frames)].astype(np.float32), axis=2).sum())
    assert report["off_grid"] == rounded
    scene = trimesh.load(tmp_path / "scene.glb", process=False)
    assert {name: len(mesh.vertices) for name, mesh in scene.geometry.items()} == {
        name: x.shape[1] for name, (x, _) in objects.items()
    }


def test_frames_and_objects_of_a_glb_are_chosen(result, tmp_path):
    folder, objects = result
    command = [PERCALE, "export", folder, "--format", "glb", "-o", tmp_path, "--frames", "2..10/4", "--objects", "cloth"]
    subprocess.run(command, check=True, capture_output=True)
    meshes, times, _ = read_glb(tmp_path / "scene.glb")
    assert list(meshes) == ["cloth"]
    assert np.allclose(times, np.array([0, 4, 8]) / 60)
    assert np.abs(meshes["cloth"][0] - objects["cloth"][0][[2, 6, 10]]).max() < 1e-7


@pytest.mark.parametrize("kind", ["obj", "ply"])
def test_trimesh_opens_every_frame_of_a_sequence(result, tmp_path, kind):
    folder, objects = result
    report = export(folder, kind, tmp_path)
    files = sorted(tmp_path.glob(f"frame_*.{kind}"))
    assert len(files) == len(report["files"]) == FRAMES + 1
    counts = np.cumsum([0] + [x.shape[1] for x, _ in objects.values()])
    all_faces = np.vstack([faces + count for (_, faces), count in zip(objects.values(), counts)])
    for frame, file in enumerate(files):
        mesh = trimesh.load(file, process=False, maintain_order=True, force="mesh")
        assert np.array_equal(mesh.vertices, np.vstack([x[frame] for x, _ in objects.values()]))
        assert np.array_equal(mesh.faces, all_faces)
    assert mesh.body_count == len(NAMES)


def test_without_a_grid_the_rounded_frames_are_audited(tmp_path):
    folder = run(tmp_path / "free", "--set", "output.grid=none")
    objects = {name: read_object(folder, name) for name in NAMES}
    report = export(folder, "usda", tmp_path / "out")
    rounded = {name: x.astype(np.float32).astype(np.float64) for name, (x, _) in objects.items()}
    moved = sum(int(np.any(rounded[name] != x, axis=2).sum()) for name, (x, _) in objects.items())
    assert report["off_grid"] == moved > 0
    check_stage(tmp_path / "out" / "scene.usda", objects)
    # ipctk agrees on whether rounding has made anything cross, the cloth with one obstacle at a time: obstacles are
    # not judged among themselves
    (cloth, cloth_faces), *others = [(rounded[name], faces) for name, (_, faces) in objects.items()]
    crossing = set()
    for other, other_faces in others:
        faces = np.vstack([cloth_faces, other_faces + cloth.shape[1]]).astype(np.int32)
        mesh = ipctk.CollisionMesh(np.vstack([cloth[0], other[0]]), ipctk.edges(faces), faces)
        for frame in range(FRAMES + 1):
            x = np.asfortranarray(np.vstack([cloth[frame], other[frame]]))
            if ipctk.has_intersections(mesh, x):
                crossing.add(frame)
    assert crossing == {crossing["frame"] for crossing in report["crossings"]}


def test_a_damaged_folder_is_refused_by_name(result, tmp_path):
    folder, _ = result
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", folder, copy], check=True)
    cache = copy / "objects" / "cloth.x64"
    cache.write_bytes(cache.read_bytes()[:-8])
    done = subprocess.run([PERCALE, "export", copy, "--format", "usda"], capture_output=True, text=True)
    assert done.returncode == 2 and "cloth.x64" in done.stderr and "truncated" in done.stderr
    assert not (copy / "usda").exists()
