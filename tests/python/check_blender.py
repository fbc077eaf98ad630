"""Blender opens what `percale export` writes. By hand, not in CI: bpy is large.

    python3.11 -m venv /tmp/bpy && /tmp/bpy/bin/pip install bpy==5.0.1 numpy
    percale run rotating-ball --small --frames 12 -o /tmp/result
    percale export /tmp/result --format usda && percale export /tmp/result --format pc2
    /tmp/bpy/bin/python tests/python/check_blender.py /tmp/result

With the OBJ file of a garment behind the folder, polygons, texture coordinates and materials that come out are compared with those that went in:

    percale run skirt.toml -o /tmp/skirt && for f in usda pc2 obj glb; do percale export /tmp/skirt --format $f; done
    /tmp/bpy/bin/python tests/python/check_blender.py /tmp/skirt skirt skirt.obj
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


def corners(thing):
    """For each polygon its material and, by vertex, the texture coordinates of its corners."""
    mesh = thing.data
    layer = mesh.uv_layers[0].uv
    names = [material.name.replace(" ", "_").replace(".", "_") for material in mesh.materials]
    polygons = []
    for polygon in mesh.polygons:
        around = {mesh.loops[k].vertex_index: tuple(layer[k].vector) for k in polygon.loop_indices}
        polygons.append((names[polygon.material_index], around))
    return polygons


def same_uv(one, other):
    return max(abs(a - b) for a, b in zip(one, other)) < 1e-6


def compare_polygons(thing, wanted, kind):
    """Vertices are in the file's order: polygon by polygon."""
    found = corners(thing)
    assert len(found) == len(wanted), f"{kind}: {len(found)} polygons, {len(wanted)} in the file"
    for (material, around), (own, expected) in zip(found, wanted):
        assert material == own, f"{kind}: {material} is {own} in the file"
        assert list(around) == list(expected), f"{kind}: corners {list(around)}, {list(expected)} in the file"
        assert all(same_uv(around[v], expected[v]) for v in around), f"{kind}: texture coordinates"
    print(f"{kind}: {len(found)} polygons with their texture coordinates and materials")


def compare_triangles(thing, wanted, start, kind):
    """glTF has triangles and splits vertices: those at the same place are one."""
    number = {tuple(x): v for v, x in enumerate(np.float32(start))}
    assert len(number) == len(start), "two vertices at one place: they cannot be told apart"
    own = [number[tuple(np.float32((x, z, -y)))] for x, y, z in (v.co for v in thing.data.vertices)]
    polygon_of = {}
    for k, (_, around) in enumerate(wanted):
        for v in around:
            polygon_of.setdefault(v, set()).add(k)
    left = [len(around) - 2 for _, around in wanted]
    for material, around in corners(thing):
        around = {own[v]: uv for v, uv in around.items()}
        a, b, c = around
        (k,) = polygon_of[a] & polygon_of[b] & polygon_of[c]
        left[k] -= 1
        assert material == wanted[k][0], f"{kind}: {material} is {wanted[k][0]} in the file"
        assert all(same_uv(around[v], wanted[k][1][v]) for v in around), f"{kind}: texture coordinates"
    assert not any(left), f"{kind}: polygons that are not covered once"
    print(f"{kind}: triangles of {len(wanted)} polygons with their texture coordinates and materials")


def compare_morph(thing, folder, name):
    """Positions of the vertices of a split mesh, frame by frame, against those of the folder by place at the start."""
    expected = cache(folder, name)
    number = {tuple(x): v for v, x in enumerate(np.float32(expected[0]))}
    bpy.context.scene.frame_set(0)
    own = [number[tuple(np.float32((x, z, -y)))] for x, y, z in (v.co for v in thing.data.vertices)]
    worst = 0.0
    rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
    for frame in range(len(expected)):
        at = frame * rate / FPS
        bpy.context.scene.frame_set(int(at), subframe=at - int(at))
        worst = max(worst, np.abs(world_positions(thing) - expected[frame][own]).max())
    print(f"GLB {name}: {len(expected)} frames, largest difference {worst:.1e} m")
    assert worst < TOLERANCE, name


def only(name):
    """The object of this name, however the format spells it."""
    (thing,) = [thing for own, thing in meshes().items() if own.split("/")[0] == name.replace("-", "_") or own == name]
    return thing


def compare_garment(folder, name, file):
    empty()
    bpy.ops.wm.obj_import(filepath=str(file))
    (thing,) = meshes().values()
    wanted = corners(thing)
    loaders = {
        "OBJ": (bpy.ops.wm.obj_import, "obj/frame_0000.obj"),
        "PC2": (bpy.ops.wm.obj_import, f"pc2/{name}.obj"),
        "USD": (bpy.ops.wm.usd_import, "usda/scene.usda"),
        "GLB": (bpy.ops.import_scene.gltf, "glb/scene.glb"),
    }
    for kind, (load, path) in loaders.items():
        empty()
        load(filepath=str(folder / path))
        if kind == "GLB":
            compare_triangles(only(name), wanted, cache(folder, name)[0], kind)
            compare_morph(only(name), folder, name)
        else:
            compare_polygons(only(name), wanted, kind)
        for material in only(name).data.materials:
            nodes = material.node_tree.nodes
            for image in [node.image for node in nodes if node.bl_idname == "ShaderNodeTexImage"]:
                assert tuple(image.size) != (0, 0), f"{kind}: the picture {image.filepath} is not there"


def frames_per_second(folder):
    """As the scene of the folder has it."""
    for line in (folder / "scene.toml").read_text().splitlines():
        if line.startswith("fps = "):
            return float(line.split("=")[1])
    raise ValueError("no fps")


def main():
    global FPS
    folder = pathlib.Path(sys.argv[1])
    FPS = frames_per_second(folder)
    if len(sys.argv) > 2:
        compare_garment(folder, sys.argv[2], pathlib.Path(sys.argv[3]))
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
