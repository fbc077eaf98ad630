#!/usr/bin/env python3
"""Detection kernels of Percale and ipctk on the same motion, in one run, by CPU time.

    python3 bench/peers/kernels.py [ARCHIVE.npz | START.ply.gz END.ply.gz] [--repeat 5] [--percale BINARY] [--json FILE]

Makes a virtual environment beside this file from requirements.txt, and builds Percale unless a binary is named. The two
systems take turns within each repetition, one thread each, so that a busy machine disturbs both; the least CPU time counts.

What is compared:
  static   all crossing faces of the start;       ipctk.has_intersections (edge-triangle pairs; lists all whose boxes overlap,
           -any: whether there are any             then stops at the first that cross)
  broad    pairs with overlapping swept boxes     Candidates.build with LBVH
  motion   all impacts, certified; the earliest   compute_collision_free_stepsize with Tight-Inclusion and LBVH (earliest only)
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = HERE / ".venv"


def enter_venv():
    """Runs this script again inside its own environment, which is made if need be."""
    if pathlib.Path(sys.prefix).resolve() == VENV.resolve():
        return
    python = VENV / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text()
    stamp = VENV / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", HERE / "requirements.txt"], check=True)
        stamp.write_text(wanted)
    os.execv(python, [str(python), *sys.argv])


def percale(binary, start, end):
    """CPU seconds and counts of one round of Percale's kernels."""
    command = [binary, "--threads", "1", "bench", "kernels", start, end, "--repeat", "1", "--json"]
    run = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"percale bench kernels failed: {run.stderr}")
    rows = {row["name"]: row for row in json.loads(run.stdout)["kernels"]}
    return {name: (row["cpu_seconds"][0], row["count"]) for name, row in rows.items()}


class Ipctk:
    def __init__(self, x0, x1, faces):
        import ipctk
        import numpy as np

        ipctk.set_logger_level(ipctk.LoggerLevel.error)
        ipctk.set_num_threads(1)
        self.ipctk = ipctk
        self.x0, self.x1 = np.asfortranarray(x0), np.asfortranarray(x1)
        faces = np.asfortranarray(faces.astype(np.int32))
        self.mesh = ipctk.CollisionMesh(self.x0, np.asfortranarray(ipctk.edges(faces)), faces)

    def timed(self, call):
        before = time.process_time()
        result = call()
        return time.process_time() - before, result

    def kernels(self):
        ipctk, mesh = self.ipctk, self.mesh

        def broad():
            candidates = ipctk.Candidates()
            candidates.build(mesh, self.x0, self.x1, 0.0, ipctk.LBVH())
            return len(candidates.fv_candidates) + len(candidates.ee_candidates)

        def motion():
            test = ipctk.TightInclusionCCD()
            return ipctk.compute_collision_free_stepsize(mesh, self.x0, self.x1, 0.0, ipctk.LBVH(), test)

        return {
            "static": self.timed(lambda: ipctk.has_intersections(mesh, self.x0)),
            "broad": self.timed(broad),
            "motion": self.timed(motion),
        }


# our kernel, theirs, what theirs is called
COMPARED = [
    ("static-any", "static", "has_intersections"),
    ("static", "static", "has_intersections"),
    ("audit", "static", "has_intersections"),
    ("pairs", "broad", "Candidates.build, LBVH"),
    ("impacts-fast", "motion", "step size, Tight-Inclusion"),
    ("impacts-exact", "motion", "step size, Tight-Inclusion"),
    ("first-impact", "motion", "step size, Tight-Inclusion"),
]


def load_mesh(path):
    """Positions and triangles of a mesh file, plain or compressed."""
    import gzip

    import numpy as np
    import trimesh

    plain = path.suffix != ".gz"
    with open(path, "rb") if plain else gzip.open(path) as stream:
        kind = path.suffix if plain else pathlib.Path(path.stem).suffix
        mesh = trimesh.load(stream, file_type=kind[1:], process=False)
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)


def load(motion, folder):
    """The two meshes as files for Percale, and as arrays for ipctk."""
    import numpy as np

    sys.path.insert(0, str(ROOT / "bench"))
    from npz_to_ply import write_ply

    if len(motion) == 1:
        archive = np.load(motion[0])
        x0, x1, faces = archive["x0"].astype(np.float64), archive["x1"].astype(np.float64), archive["f"]
    else:
        (x0, faces), (x1, end_faces) = (load_mesh(path) for path in motion)
        if not np.array_equal(faces, end_faces):
            sys.exit(f"{motion[0]} and {motion[1]} are not two states of one mesh")
    start, end = folder / "start.ply", folder / "end.ply"
    write_ply(start, x0, faces)
    write_ply(end, x1, faces)
    return start, end, (x0, x1, faces)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("motion", nargs="*", type=pathlib.Path, default=[HERE / "layers_100.npz"], help="an archive with x0, x1, f, or two meshes [default: layers_100.npz]")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--percale", help="binary [default: built with cargo build --release]")
    parser.add_argument("--json", type=pathlib.Path, help="write all measurements to this file")
    arguments = parser.parse_args()
    if len(arguments.motion) not in (1, 2):
        parser.error("give one archive or two meshes")
    enter_venv()

    binary = arguments.percale
    if binary is None:
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
        target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
        binary = pathlib.Path(target) / "release" / "percale"

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        start, end, arrays = load(arguments.motion, pathlib.Path(folder))
        ipctk = Ipctk(*arrays)
        for _ in range(arguments.repeat):
            ours.append(percale(binary, start, end))
            theirs.append(ipctk.kernels())

    print(f"{len(arrays[0])} vertices, {len(arrays[2])} triangles; least of {arguments.repeat}, CPU seconds, one thread each")
    print(f"{'percale':14} {'s':>7} {'found':>9}   {'ipctk':27} {'s':>7} {'found':>9} {'ratio':>6}")
    rows = []
    for name, peer, title in COMPARED:
        seconds, count = min(run[name][0] for run in ours), ours[0][name][1]
        peer_seconds, result = min(run[peer][0] for run in theirs), theirs[0][peer][1]
        shown = f"{result:.4f}" if isinstance(result, float) else str(result)
        ratio = peer_seconds / seconds
        print(f"{name:14} {seconds:7.3f} {count:9}   {title:27} {peer_seconds:7.3f} {shown:>9} {ratio:5.1f}x")
        rows.append({"percale": name, "seconds": seconds, "count": count, "ipctk": title, "ipctk_seconds": peer_seconds, "ratio": ratio})
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows, "load": os.getloadavg()}, indent=1))


if __name__ == "__main__":
    main()
