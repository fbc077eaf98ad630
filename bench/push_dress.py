#!/usr/bin/env python3
"""Pushes the clean dress of shared/data/garment-mannequin into itself: a tangle whose cure is known.

usage: push_dress.py dress_draped_clean.obj.gz dress_stage.obj.gz OUT_PUSHED.obj OUT_CLEAN.obj

A patch of the skirt of a fifth of its area goes through the layer opposite to it, and two bands of the skirt are folded through
themselves. The texture coordinates of the pattern are added, so that the cure knows the rest shape.
"""
import gzip
import math
import sys

CLOTH = 15656  # vertices of the dress; the mannequin follows


def lines(path):
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


def main():
    clean, stage, out, out_clean = sys.argv[1:]
    x = [list(map(float, l.split()[1:4])) for l in lines(clean) if l.startswith("v ")][:CLOTH]
    pattern = lines(stage)
    vt = [l for l in pattern if l.startswith("vt ")]
    faces = [l for l in pattern if l.startswith("f ")]
    low, high = min(p[1] for p in x), max(p[1] for p in x)
    skirt = low + 0.45 * (high - low)
    centre = [sum(p[k] for p in x if p[1] < skirt) / max(1, sum(p[1] < skirt for p in x)) for k in (0, 2)]

    def bump(d):
        return (1 - d * d) ** 2 if d < 1 else 0.0

    pushed = []
    for p in x:
        q = list(p)
        if p[1] < skirt:
            dx, dz = p[0] - centre[0], p[2] - centre[1]
            angle, radius = math.atan2(dx, dz), math.hypot(dx, dz)
            height = (p[1] - low) / (skirt - low)
            # through the opposite side
            w = bump(math.hypot(angle / 0.9, (height - 0.35) / 0.6))
            q[2] -= 3.3 * radius * w * math.cos(angle)
            # bands that are turned about the axis faster than their neighbours
            for middle in (1.9, -1.9):
                w = bump(math.hypot((angle - middle) / 0.45, (height - 0.5) / 0.5))
                turn = 1.5 * w * math.sin(6 * (angle - middle))
                q[0] += radius * (math.sin(angle + turn) - math.sin(angle))
                q[2] += radius * (math.cos(angle + turn) - math.cos(angle))
        pushed.append(q)
    for path, points in ((out, pushed), (out_clean, x)):
        with open(path, "w") as file:
            file.writelines(f"v {p[0]!r} {p[1]!r} {p[2]!r}\n" for p in points)
            file.writelines(l + "\n" for l in vt + faces)


main()
