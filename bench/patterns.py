"""Every sewing pattern of a folder, sewn and draped on its body: python3 bench/patterns.py DATA OUT [--percale PROGRAM]

DATA holds GarmentCode's patterns/*_specification.json and bodies/*.obj.gz. Each pattern becomes a scene in OUT: sewn within one second
without weight, draped for two more; it is run, and the table of all is printed. The specifications place panels around a body whose
shoulders are higher than those of the body here, where a garment hangs on straps: LIFT says by how much these are lifted.
"""

import argparse
import json
import pathlib
import subprocess

LIFT = {"dress_pencil": 0.13}  # m; sewn where it is, its straps would be caught on the chest

SCENE = """\
# {name}, sewn and draped from its pattern; made by bench/patterns.py. Pattern and body: GarmentCode (MIT).
frames = {frames}
fps = 60
thickness = 1.0e-3
friction = 0.4

[[cloth]]
name = "garment"
shape = {{ kind = "pattern", file = {pattern}, edge = {edge} }}
position = [0, {lift}, 0]
fabric = "cotton"
stretch = "membrane"

[[obstacle]]
name = "body"
shape = {{ kind = "file", file = {body} }}

[[seam]]
between = ["garment", "garment"]
duration = 1.0

[[stage]]
time = 1.2
gravity = [0, 0, 0]
friction = 0
[[stage]]
time = 1.4
gravity = [0, -9.81, 0]
[[stage]]
time = 2.2
friction = 0
[[stage]]
time = 2.4
friction = 0.4
"""


def row(name, folder):
    report = json.loads((folder / "report.json").read_text())
    last = report["frame_reports"][-1]
    place = last["widest_stitch_place"]
    where = "" if place is None else " at (%.2f, %.2f, %.2f)" % tuple(place)
    return "| %s | %d | %d | %d open, worst %.1f mm%s | %.3f, %d faces | %.3f | %s |" % (
        name,
        report["frames"],
        report["intersections"],
        report["open_stitches"],
        1e3 * (report["widest_stitch"] or 0.0),
        where,
        report["largest_strain"],
        report["strain_over"],
        report["seconds"] / max(report["frames"], 1),
        report.get("stopped", {}).get("message", "the end"),
    )


def main(options):
    options.out.mkdir(parents=True, exist_ok=True)
    body = next((options.data / "bodies").glob("*.obj.gz")).resolve()
    rows = []
    for pattern in sorted((options.data / "patterns").glob("*_specification.json")):
        name = pattern.name.removesuffix("_specification.json")
        scene = options.out / f"{name}.toml"
        lift = LIFT.get(name, 0.0)
        paths = {"pattern": json.dumps(str(pattern.resolve())), "body": json.dumps(str(body))}
        scene.write_text(SCENE.format(name=name, lift=lift, frames=options.frames, edge=options.edge, **paths))
        folder = options.out / name
        command = [options.percale, "run", str(scene), "-o", str(folder), "--threads", "1", "--json", "--force"]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        rows.append(row(name, folder))
    print("| pattern | frames | intersections | seams at the end | largest strain | CPU s/frame | ran to |\n|---|---|---|---|---|---|---|")
    print("\n".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--percale", default="percale", help="the program")
    parser.add_argument("--frames", type=int, default=180)
    parser.add_argument("--edge", type=float, default=0.015, help="length of the triangles' edges, m")
    main(parser.parse_args())
