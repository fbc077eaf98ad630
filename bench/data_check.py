#!/usr/bin/env python3
"""Compare `percale check` with the ground truth of the data folder.

    python bench/data_check.py DATA [--percale target/release/percale]

- dynamic-scenes: impacts of each motion against the complete exact lists, in all three modes; times not later than the exact ones.
- layered-sheets: every pair that Tight-Inclusion lists is reported, or proved apart by rational arithmetic (that list is conservative).
- tangled, garment-mannequin, dynamic-scenes: edge-face crossings as the READMEs count them, cloth and body apart.

Prints one line per comparison and ends with exit code 1 if any fails. Needs NumPy for the .npz archives only.
"""

import argparse
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

failures = 0


def report(ok, text):
    global failures
    failures += not ok
    print(("ok    " if ok else "WRONG ") + text, flush=True)


def check(percale, *arguments):
    """The JSON object that `percale check` prints."""
    run = subprocess.run([percale, "check", "--json", *map(str, arguments)], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"percale check {' '.join(map(str, arguments))}: {run.stderr}")
    return json.loads(run.stdout)


def impacts(percale, start, end, mode):
    """Impacts of a motion: {("vf" | "ee", normalised vertices): time}."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = pathlib.Path(folder) / "pairs.csv"
        check(percale, "--from", start, end, "--ccd", mode, "--pairs", pairs)
        with open(pairs, newline="") as lines:
            rows = list(csv.reader(lines))[1:]
    found = {key(kind, map(int, v)): float(time) for kind, *v, time in rows}
    assert len(found) == len(rows), "a pair is listed twice"
    return found


def key(kind, vertices):
    """A pair, however its features are ordered."""
    a, b, c, d = vertices
    if kind == "vf":
        return kind, (a, *sorted((b, c, d)))
    return kind, tuple(sorted((tuple(sorted((a, b))), tuple(sorted((c, d))))))


def truth(scene):
    """Exact hits, near misses, and times of impact where they are known."""
    hits, misses, times = set(), set(), {}
    for kind in ("vf", "ee"):
        with gzip.open(scene / f"pairs_{kind}.csv.gz", "rt", newline="") as lines:
            reader = csv.reader(lines)
            columns = next(reader)
            for row in reader:
                pair = key(kind, map(int, row[:4]))
                (hits if row[4] == "1" else misses).add(pair)
                if row[4] == "1" and "toi" in columns and row[5]:
                    times[pair] = Fraction(row[5])
    return hits, misses, times


def dynamic_scenes(percale, data):
    for name, first, last in [
        ("cloth-ball", "cloth_ball92", "cloth_ball93"),
        ("cloth-funnel", "227", "228"),
        ("rod-twist", "3036", "3037"),
    ]:
        scene = data / "dynamic-scenes" / name
        hits, misses, times = truth(scene)
        for mode in ("fast", "exact", "cubic"):
            found = impacts(percale, scene / f"{first}.ply.gz", scene / f"{last}.ply.gz", mode)
            missed, extra = hits - found.keys(), found.keys() - hits
            late = sum(Fraction(found[pair]) > time for pair, time in times.items() if pair in found)
            early = max((float(time - Fraction(found[pair])) for pair, time in times.items() if pair in found), default=0)
            ok = not missed and not late and (mode != "exact" or not extra)
            report(
                ok,
                f"{name} {mode}: {len(hits)} hits, {len(missed)} missed, {len(extra)} more "
                f"({len(extra & misses)} listed near misses), {late} of {len(times)} times late, earliest by {early:.1e}",
            )


def layered_sheets(percale, data, folder):
    import numpy as np

    import npz_to_ply

    archive = np.load(data / "layered-sheets" / "layers_100.npz")
    listed = np.load(data / "layered-sheets" / "layers_100_ccd_hits.npz")
    for name in ("x0", "x1"):
        npz_to_ply.write_ply(folder / f"{name}.ply", archive[name], archive["f"])
    wanted = {key(kind, map(int, v)): list(map(int, v)) for kind in ("vf", "ee") for v in listed[f"{kind}_ids"]}
    for mode in ("fast", "exact", "cubic"):
        found = impacts(percale, folder / "x0.ply", folder / "x1.ply", mode)
        missing = sorted(set(wanted) - set(found))
        apart = [proved_apart(pair[0], [archive[x][wanted[pair]].tolist() for x in ("x0", "x1")]) for pair in missing]
        report(
            all(apart),
            f"layered-sheets {mode}: {len(wanted)} listed, {len(missing)} of them not reported, "
            f"{sum(apart)} of these proved apart; {len(set(found) - set(wanted))} not listed",
        )


def proved_apart(kind, ends, depth=60):
    """Whether rational arithmetic proves that two features never touch in their straight motion.

    Over a part of the motion a feature stays within the hull of its vertices at both ends of the part; two hulls are disjoint
    if all vertices of the one lie strictly beyond those of the other along some direction. Directions come from floats, the
    decision does not; parts without a direction are halved.
    """
    count = 1 if kind == "vf" else 2
    x0, x1 = ([[Fraction(c) for c in p] for p in x] for x in ends)

    def at(t):
        return [[a + (b - a) * t for a, b in zip(p, q)] for p, q in zip(x0, x1)]

    parts = [(Fraction(0), Fraction(1), 0)]
    while parts:
        low, high, level = parts.pop()
        hull = [at(low), at(high)]
        middle = [[float(c) for c in p] for p in at((low + high) / 2)]
        for direction in directions(count, middle):
            exact = [Fraction(c) for c in direction]
            heights = [[sum(a * b for a, b in zip(exact, p)) for p in x] for x in hull]
            if min(h for x in heights for h in x[:count]) > max(h for x in heights for h in x[count:]):
                break
        else:
            if level == depth:
                return False
            half = (low + high) / 2
            parts += [(low, half, level + 1), (half, high, level + 1)]
    return True


def directions(count, x):
    """Directions that may separate the two features, from the second to the first."""

    def minus(a, b):
        return [p - q for p, q in zip(a, b)]

    def dot(a, b):
        return sum(p * q for p, q in zip(a, b))

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    sides = [(1, 2), (2, 3), (3, 1)] if count == 1 else [(0, 1), (2, 3)]
    edges = [minus(x[b], x[a]) for a, b in sides]
    tried = [cross(edges[0], edges[1])]
    tried += [cross(tried[0], e) for e in edges]
    for a in range(count):
        for b in range(count, 4):
            apart = minus(x[a], x[b])
            tried.append(apart)
            # the difference without its part along an edge: between a vertex and an edge, or two parallel edges
            for e in edges:
                if dot(e, e) > 0:
                    share = dot(apart, e) / dot(e, e)
                    tried.append(minus(apart, [share * c for c in e]))
    for d in tried:
        yield d
        yield [-c for c in d]


def static(percale, data, folder):
    def edge_face(path, is_cloth, wanted):
        """Counts within cloth, between cloth and body, within body; components are numbered by their first faces."""
        answer = check(percale, path)
        counts = [0, 0, 0]
        for row in answer["by_body"]:
            kinds = [is_cloth(row[side]) for side in "ab"]
            counts[2 - sum(kinds)] += row["edge_face"]
        name = "/".join(path.parts[-2:])
        assert sum(counts) == answer["edge_face"]
        text = f"{name}: edge-face {counts[0]} cloth, {counts[1]} cloth-body, {counts[2]} body; {answer['intersections']} face pairs"
        report(counts == wanted, text + ("" if counts == wanted else f"; README {wanted}"))

    def first_components(count):
        return lambda name: "/" not in name or int(name.rsplit("/")[-1]) < count

    scenes, tangled, garment = data / "dynamic-scenes", data / "tangled", data / "garment-mannequin"
    edge_face(scenes / "cloth-ball" / "cloth_ball92.ply.gz", first_components(1), [62655, 0, 0])
    edge_face(scenes / "cloth-ball" / "cloth_ball93.ply.gz", first_components(1), [98728, 0, 0])
    edge_face(scenes / "cloth-funnel" / "227.ply.gz", first_components(1), [0, 0, 285])
    edge_face(scenes / "cloth-funnel" / "228.ply.gz", first_components(1), [0, 0, 370])
    for frame in ("3036", "3037"):
        edge_face(scenes / "rod-twist" / f"{frame}.ply.gz", first_components(1), [0, 0, 0])
    for name, wanted in [("BLI", 1), ("BIBI", 2), ("Closed", 3), ("Eight", 2)]:
        edge_face(tangled / "canonical" / f"unit_{name}.obj", first_components(2), [wanted, 0, 0])
    edge_face(tangled / "gia" / "better_cloth.obj.gz", first_components(1), [124, 0, 0])
    for frame, wanted in [("040", 656), ("048", 765), ("060", 629)]:
        edge_face(tangled / "body" / f"kick_{frame}_tangled.obj.gz", lambda _: False, [0, 0, wanted])
    # the dress is the first 14 components, one per panel
    edge_face(garment / "dress_stage.obj.gz", lambda _: True, [0, 0, 0])
    edge_face(garment / "dress_draped_clean.obj.gz", first_components(14), [0, 0, 499])
    edge_face(garment / "dress_draped_crossing.obj.gz", first_components(14), [528, 0, 499])
    edge_face(garment / "mannequin_rest.obj.gz", lambda _: False, [0, 0, 499])
    with gzip.open(garment / "mannequin_rest.obj.gz", "rt") as lines:
        faces = [line for line in lines if line.startswith("f")]
    for frame, wanted in [("040", 496), ("048", 492), ("060", 496)]:
        with gzip.open(garment / "kick" / f"{frame}.v.obj.gz", "rt") as lines:
            text = lines.read()
        path = folder / f"kick_{frame}.obj"
        path.write_text(text + "".join(faces))
        edge_face(path, lambda _: False, [0, 0, wanted])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--percale", default="target/release/percale")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        static(arguments.percale, arguments.data, pathlib.Path(folder))
        dynamic_scenes(arguments.percale, arguments.data)
        layered_sheets(arguments.percale, arguments.data, pathlib.Path(folder))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
