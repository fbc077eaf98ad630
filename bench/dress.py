"""The dress of the public Codim-IPC data on its kicking mannequin, as a scene: python3 bench/dress.py DATA OUT

DATA is a folder with dress_draped_clean.obj.gz, dress_stage.obj.gz and kick/NNN.v.obj.gz (85 frames of 0.04 s). Writes
dress.obj, body.obj, body-*.obj and scene.toml into OUT; then `percale run OUT/scene.toml`. The drape is the rest shape.
A stitch joins a vertex to a point of an edge; here it joins it to the nearer end of that edge.
"""

import gzip
import math
import pathlib
import sys

DRESS_VERTICES, DRESS_FACES = 15656, 29456
FPS = 25
THICKNESS = 4e-4  # m; the drape's seams gap by 4.8e-4 on average, and they are kept at twice the thickness or where they are


def lines(path, *kinds):
    with gzip.open(path, "rt") as file:
        return [line.split() for line in file if line.split(maxsplit=1)[:1] and line.split(maxsplit=1)[0] in kinds]


def write_obj(path, vertices, faces):
    with open(path, "w") as file:
        file.writelines("v %s %s %s\n" % tuple(v) for v in vertices)
        file.writelines("f %d %d %d\n" % tuple(f) for f in faces)


def stitches(stage, x, faces):
    """Pairs of vertices, each once, with their distance in the drape; at the tip of a dart an edge joins them already."""
    joined = {tuple(sorted((f[k] - 1, f[k - 1] - 1))) for f in faces for k in range(3)}
    pairs = set()
    for _, a, b, c, w in lines(stage, "stitch"):
        other = int(b) if float(w) < 0.5 else int(c)
        pair = (min(int(a), other), max(int(a), other))
        if int(a) != other and pair not in joined:
            pairs.add(pair)
    return sorted((pair, math.dist(x[pair[0]], x[pair[1]])) for pair in pairs)


def main(data, out):
    data, out = pathlib.Path(data), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    drape = data / "dress_draped_clean.obj.gz"
    vertices = [v[1:4] for v in lines(drape, "v")]
    faces = [[int(i.split("/")[0]) for i in f[1:4]] for f in lines(drape, "f")]
    write_obj(out / "dress.obj", vertices[:DRESS_VERTICES], faces[:DRESS_FACES])
    body = [[i - DRESS_VERTICES for i in f] for f in faces[DRESS_FACES:]]
    write_obj(out / "body.obj", vertices[DRESS_VERTICES:], body)
    for frame in range(85):
        moved = [(float(x), float(y) - 0.75, float(z)) for _, x, y, z in lines(data / "kick" / f"{frame:03}.v.obj.gz", "v")]
        write_obj(out / f"body-{frame:03}.obj", moved, body)
    x = [tuple(map(float, v)) for v in vertices[:DRESS_VERTICES]]
    sewn = stitches(data / "dress_stage.obj.gz", x, faces[:DRESS_FACES])
    gap = max(2 * THICKNESS, 1e-3)
    pairs = ", ".join("[%d, %d]" % pair for pair, _ in sewn)
    (out / "scene.toml").write_text(f"""\
# A dress on a mannequin that kicks. Purpose: a real garment on a body that moves by up to 0.4 m per frame.
# Data: Codim-IPC (Apache-2.0), made into a scene by bench/dress.py.
frames = 84
fps = {FPS}
thickness = {THICKNESS}
friction = 0.3

[[cloth]]
name = "dress"
shape = {{ kind = "file", file = "dress.obj" }}
fabric = "cotton"

[[obstacle]]
name = "mannequin"
shape = {{ kind = "file", file = "body.obj" }}
motion = [{{ kind = "sequence", file = "body-*.obj", fps = {FPS} }}]

[[seam]]
between = ["dress", "dress"]
pairs = [{pairs}]
gap = {gap}
duration = 0.2
""")
    print(f"{len(sewn)} stitches, longest {max(length for _, length in sewn):.4f} m")


if __name__ == "__main__":
    main(*sys.argv[1:])
