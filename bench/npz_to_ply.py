#!/usr/bin/env python3
"""Write the positions of an .npz archive as PLY files that Percale reads.

    python bench/npz_to_ply.py layers_100.npz OUT

The archive holds faces `f` (m, 3) and one or more arrays of positions (n, 3), such as `x0` and `x1`; each becomes
OUT/NAME.ply, binary little-endian with double coordinates. float32 positions are widened, which is exact.
Needs NumPy.
"""

import argparse
import pathlib

import numpy as np


def write_ply(path, positions, faces):
    """Binary little-endian PLY with double coordinates."""
    header = (
        "ply\nformat binary_little_endian 1.0\n"
        f"element vertex {len(positions)}\n"
        "property double x\nproperty double y\nproperty double z\n"
        f"element face {len(faces)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    rows = np.empty(len(faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    rows["count"] = 3
    rows["corners"] = faces
    with open(path, "wb") as out:
        out.write(header.encode("ascii"))
        out.write(np.ascontiguousarray(positions, dtype="<f8").tobytes())
        out.write(rows.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, help="folder to write to; made if it does not exist")
    arguments = parser.parse_args()
    archive = np.load(arguments.archive)
    if "f" not in archive:
        parser.error(f"{arguments.archive} has no faces 'f', only {', '.join(archive.files)}")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in archive.files:
        positions = archive[name]
        if positions.ndim == 2 and positions.shape[1] == 3 and positions.dtype.kind == "f":
            path = arguments.out / f"{name}.ply"
            write_ply(path, positions, archive["f"])
            print(f"{path}: {len(positions)} vertices, {len(archive['f'])} triangles, stored as {positions.dtype}")


if __name__ == "__main__":
    main()
