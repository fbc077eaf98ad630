"""The dress of the public Codim-IPC data on its kicking mannequin, as a scene: python3 bench/dress.py DATA OUT [--sew]

DATA is a folder with dress_draped_clean.obj.gz, dress_stage.obj.gz and kick/NNN.v.obj.gz (85 frames of 0.04 s). Writes
dress.obj, body.obj, body-*.obj and scene.toml into OUT; then `percale run OUT/scene.toml`. Each stitch joins a vertex to a point of an
edge.

The dress starts draped, and the drape is its rest shape. With --sew it starts as panels around the body, and its rest shape is the flat
pattern, which the stage has as texture coordinates: the panels are sewn within two seconds without weight and friction, hang for one more, and then
the body kicks; these three seconds are the pre-roll.
"""

import argparse
import gzip
import pathlib

DRESS_VERTICES, DRESS_FACES = 15656, 29456
FPS = 25
THICKNESS = 4e-4  # m; the drape's seams gap by 4.8e-4 on average, and they are kept at twice the thickness or where they are
SEWN = 75  # frames before the kick


def lines(path, *kinds):
    with gzip.open(path, "rt") as file:
        return [line.split() for line in file if line.split(maxsplit=1)[:1] and line.split(maxsplit=1)[0] in kinds]


def write_obj(path, vertices, faces, pattern=()):
    with open(path, "w") as file:
        file.writelines("v %s %s %s\n" % tuple(v) for v in vertices)
        file.writelines("vt %s %s\n" % tuple(t) for t in pattern)
        file.writelines("f %s %s %s\n" % tuple(f) for f in faces)


def stitches(stage, faces):
    """Points that belong together, [vertex] and [vertex, vertex, share]; at the tip of a dart an edge joins them already."""
    joined = {tuple(sorted((f[k], f[k - 1]))) for f in faces for k in range(3)}
    for _, a, b, c, w in lines(stage, "stitch"):
        a, b, c, w = int(a), int(b), int(c), float(w)
        if w == 0.0 or w == 1.0:
            b = c if w == 1.0 else b
            if a != b and tuple(sorted((a, b))) not in joined:
                yield f"[[{a}], [{b}]]"
        elif a not in (b, c):
            yield f"[[{a}], [{b}, {c}, {w}]]"


def main(data, out, sew):
    out.mkdir(parents=True, exist_ok=True)
    stage, drape = data / "dress_stage.obj.gz", data / "dress_draped_clean.obj.gz"
    vertices = [v[1:4] for v in lines(drape, "v")]
    faces = [[int(i.split("/")[0]) for i in f[1:4]] for f in lines(drape, "f")]
    body = [[i - DRESS_VERTICES for i in f] for f in faces[DRESS_FACES:]]
    write_obj(out / "body.obj", vertices[DRESS_VERTICES:], body)
    for frame in range(85):
        moved = [(float(x), float(y) - 0.75, float(z)) for _, x, y, z in lines(data / "kick" / f"{frame:03}.v.obj.gz", "v")]
        write_obj(out / f"body-{frame:03}.obj", moved, body)
    pattern = [t[1:3] for t in lines(stage, "vt")]
    corners = [f[1:4] for f in lines(stage, "f")]
    start = [v[1:4] for v in lines(stage, "v")] if sew else vertices[:DRESS_VERTICES]
    write_obj(out / "dress.obj", start, corners, pattern)
    sewn = list(stitches(stage, [[int(i.split("/")[0]) - 1 for i in f] for f in corners]))
    up = ', up = "z"' if sew else ""
    rest = 'rest = { kind = "uv" }\n' if sew else ""
    frames, begin, duration = (SEWN + 84, SEWN / FPS, 2.0) if sew else (84, 0.0, 0.2)
    staged = f"""
[[stage]]
time = {duration + 0.2}
gravity = [0, 0, 0]
friction = 0
[[stage]]
time = {duration + 0.4}
gravity = [0, -9.81, 0]
friction = 0.3

[output]
pre_roll = {SEWN}
""" if sew else ""
    (out / "scene.toml").write_text(f"""\
# A dress on a mannequin that kicks. Purpose: a real garment on a body that moves by up to 0.4 m per frame.
# Data: Codim-IPC (Apache-2.0), made into a scene by bench/dress.py.
frames = {frames}
fps = {FPS}
thickness = {THICKNESS}
friction = 0.3

[[cloth]]
name = "dress"
shape = {{ kind = "file", file = "dress.obj"{up} }}
{rest}fabric = "cotton"

[[obstacle]]
name = "mannequin"
shape = {{ kind = "file", file = "body.obj" }}
motion = [{{ kind = "sequence", file = "body-*.obj", fps = {FPS}, start = {begin} }}]

[[seam]]
between = ["dress", "dress"]
stitches = [{", ".join(sewn)}]
gap = {max(2 * THICKNESS, 1e-3)}
duration = {duration}
{staged}""")
    print(f"{len(sewn)} stitches")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--sew", action="store_true", help="start as panels around the body")
    options = parser.parse_args()
    main(options.data, options.out, options.sew)
