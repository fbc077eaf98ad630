"""Blender opens what `percale export` writes. By hand, not in CI: bpy is large.

    python3.11 -m venv /tmp/bpy && /tmp/bpy/bin/pip install bpy==5.0.1 numpy
    percale run rotating-ball --small --frames 12 -o /tmp/result
    percale export /tmp/result --format usda && percale export /tmp/result --format pc2
    /tmp/bpy/bin/python tests/python/check_blender.py /tmp/result
"""

import pathlib
import struct
import sys

import bpy
import numpy as np

TOLERANCE = 1e-6  # m; Blender turns Y-up to Z-up in f32, so positions of about 1 m lose a few ulps


def cache(folder, name):
    data = (folder / "objects" / f"{name}.x64").read_bytes()
    (count,) = struct.unpack("<Q", data[8:16])
    return np.frombuffer(data, "<f8", offset=16).reshape(-1, count, 3)


def world_positions(thing):
    """Positions at the current frame, Y up again."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    matrix = np.array(evaluated.matrix_world)
    x = x.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    evaluated.to_mesh_clear()
    return np.stack([x[:, 0], x[:, 2], -x[:, 1]], axis=1)


def compare(things, folder, names):
    assert len(things) == len(names), f"{len(things)} objects imported, {len(names)} exported"
    frames = len(cache(folder, names[0]))
    for name, thing in zip(names, things):
        expected = cache(folder, name)
        worst = 0.0
        for frame in range(frames):
            bpy.context.scene.frame_set(frame)
            worst = max(worst, np.abs(world_positions(thing) - expected[frame]).max())
        print(f"{name}: {frames} frames, largest difference {worst:.1e} m")
        assert worst < TOLERANCE, name


def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)


def meshes():
    return {thing.name: thing for thing in bpy.data.objects if thing.type == "MESH"}


def main():
    folder = pathlib.Path(sys.argv[1])
    names = sorted(path.stem for path in (folder / "objects").glob("*.x64"))

    print("USD")
    empty()
    bpy.ops.wm.usd_import(filepath=str(folder / "usda" / "scene.usda"))
    found = meshes()
    compare([found[name.replace("-", "_")] for name in names if name.replace("-", "_") in found], folder, names)

    print("PC2")
    empty()
    things = []
    for name in names:
        bpy.ops.wm.obj_import(filepath=str(folder / "pc2" / f"{name}.obj"))
        thing = bpy.context.selected_objects[0]
        modifier = thing.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = "PC2"
        modifier.filepath = str(folder / "pc2" / f"{name}.pc2")
        modifier.frame_start = 0
        # the importer stands the object up; the cache is in its own coordinates
        things.append(thing)
    compare(things, folder, names)
    print("Blender opens all of it")


if __name__ == "__main__":
    main()
