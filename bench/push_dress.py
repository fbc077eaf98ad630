#!/usr/bin/env python3
"""Pushes the clean dress of shared/data/garment-mannequin into itself: a tangle whose cure is known.

usage: push_dress.py dress_draped_clean.obj.gz dress_stage.obj.gz OUT_PUSHED.obj OUT_CLEAN.obj

The pleats of both front panels are turned inside out, as a mirror would show them: over two patches what was the outer layer is the
inner one afterwards, and around each patch all layers pass through each other. Two strips of the hem at the back are rolled up further than once,
through themselves. Then the cloth is given back its lengths (edges and seams as in the drape, each in turn, no collisions), as cloth that is
simulated without collisions would have them: the push itself is not to stretch. Prints how large the patches are, how much area has changed
sides with a layer nearby, and what strain is left. The texture coordinates of the pattern are added, so that the cure knows the rest shape.
"""
import gzip
import sys

import numpy as np

CLOTH = 15656  # vertices of the dress; the mannequin follows
FRONT, BACK = (4045, 11948), (7695, 14053)  # a vertex of each panel of the skirt
PATCHES = tuple(((0, cy), (0.14, 0.062)) for cy in (-0.06, 0.05, 0.16, 0.27))  # middle and half axes in x and y, m
MIRROR = 2.0  # 1 would be flat, 2 is a mirror
CURL, RADIUS = 0.15, 0.011  # length of the hem that is rolled up, and radius of the roll, m
ROLLS = ((0.07, 0.065), (-0.07, 0.065))  # middle and half width in x, m
ROUNDS, MOMENTUM = 6000, 0.9  # of giving lengths back
RINGS = 8  # around what is pushed that give way
NEAR = 0.03  # layers within this distance count as neighbours, m


def lines(path):
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


def panel(faces, seed, count):
    """Vertices that hang together with one."""
    member = np.zeros(count, bool)
    member[seed] = True
    while True:
        touched = member[faces].any(axis=1)
        grown = member.copy()
        grown[faces[touched].ravel()] = True
        if (grown == member).all():
            return member
        member = grown


def bump(d):
    """1 in the middle half, smoothly 0 at 1."""
    t = np.clip((1 - d) / 0.25, 0, 1)
    return t * t * (3 - 2 * t)


def middle(x, front):
    """A smooth surface z(x, y) in the middle of the pleats, by a moving average of 30 mm."""
    p = x[front]
    z = np.empty(len(p))
    for i, q in enumerate(p):
        w = np.exp(-((p[:, 0] - q[0]) ** 2 + (p[:, 1] - q[1]) ** 2) / (2 * 0.03**2))
        z[i] = (w @ p[:, 2]) / w.sum()
    return z


def normals(x, faces):
    c = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    n, a = np.zeros_like(x), np.zeros(len(x))
    for k in range(3):
        np.add.at(n, faces[:, k], c)
        np.add.at(a, faces[:, k], np.linalg.norm(c, axis=1) / 6)
    return n / np.linalg.norm(n, axis=1)[:, None], a


def exchanged(clean, x, faces, edges, patch):
    """Area of vertices that are on the other side of a layer nearby than in the drape, and area of those that have one, m²."""
    n, area = normals(clean, faces)
    m, _ = normals(x, faces)
    around = [[] for _ in clean]
    for a, b in edges:
        around[a].append(b)
        around[b].append(a)
    has = np.zeros(len(clean), bool)
    changed = has.copy()
    for v in np.flatnonzero(patch):
        near = {v}
        ring = {v}
        for _ in range(6):
            ring = {w for u in ring for w in around[u]} - near
            near |= ring
        d = clean - clean[v]
        r = np.linalg.norm(d, axis=1)
        ok = np.flatnonzero((r < NEAR) & (np.abs(d @ n[v]) > 0.9 * r) & (r > 0))
        ok = [w for w in ok if w not in near]
        if ok:
            w = min(ok, key=lambda w: r[w])
            has[v] = True
            changed[v] = ((clean[v] - clean[w]) @ n[w]) * ((x[v] - x[w]) @ m[w]) < 0
    return area[changed].sum(), area[has].sum(), area


def outside(x, who, body, normals):
    """Takes vertices that are behind the nearest vertex of the body, or within 3 mm, out of it."""
    for part in np.array_split(who, max(1, len(who) // 500)):
        d2 = (x[part] ** 2).sum(1)[:, None] - 2 * x[part] @ body.T + (body**2).sum(1)
        at = d2.argmin(axis=1)
        height = ((x[part] - body[at]) * normals[at]).sum(1)
        x[part] += np.clip(0.003 - height, 0, None)[:, None] * normals[at]


def give_back_lengths(clean, x, pairs, fixed, body, normals):
    rest = np.linalg.norm(clean[pairs[:, 0]] - clean[pairs[:, 1]], axis=1)
    count = np.bincount(pairs.ravel(), minlength=len(x)).astype(float)
    last = np.zeros_like(x)
    who = np.flatnonzero(~fixed)
    for k in range(ROUNDS):
        d = x[pairs[:, 1]] - x[pairs[:, 0]]
        length = np.linalg.norm(d, axis=1)
        way = (0.5 * (1 - rest / np.maximum(length, 1e-9)))[:, None] * d
        move = np.zeros_like(x)
        np.add.at(move, pairs[:, 0], way)
        np.add.at(move, pairs[:, 1], -way)
        move *= (1.0 / count)[:, None]
        move += MOMENTUM * last
        move[fixed] = 0
        x, last = x + move, move
        if k % 20 == 0 and k < ROUNDS - 200:
            outside(x, who, body, normals)
    return x


def main():
    clean_path, stage, out, out_clean = sys.argv[1:]
    both = lines(clean_path)
    points = np.array([l.split()[1:4] for l in both if l.startswith("v ")], float)
    clean, body = points[:CLOTH], points[CLOTH:]
    triangles = np.array([[int(i.split("/")[0]) - 1 for i in l.split()[1:4]] for l in both if l.startswith("f ")])
    body_normals, _ = normals(body, triangles[(triangles >= CLOTH).all(axis=1)] - CLOTH)
    near = (np.abs(body[:, 0]) < 0.25) & (body[:, 1] > -0.25) & (body[:, 1] < 0.4)
    pattern = lines(stage)
    vt = [l for l in pattern if l.startswith("vt ")]
    face_lines = [l for l in pattern if l.startswith("f ")]
    faces = np.array([[int(i.split("/")[0]) - 1 for i in l.split()[1:4]] for l in face_lines])
    edges = np.unique(np.sort(np.vstack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    sewn = [l.split()[1:] for l in pattern if l.startswith("stitch ")]
    sewn = np.array([(int(a), int(b) if float(w) < 0.5 else int(c)) for a, b, c, w in sewn])
    front = panel(faces, FRONT[0], CLOTH) | panel(faces, FRONT[1], CLOTH)
    x = clean.copy()
    z = middle(clean, front)
    weight = np.zeros(front.sum())
    for (cx, cy), (rx, ry) in PATCHES:
        p = clean[front]
        weight = np.maximum(weight, bump(np.maximum(np.abs(p[:, 0] - cx) / rx, np.abs(p[:, 1] - cy) / ry)))
    x[front, 2] = z + (1 - MIRROR * weight) * (clean[front, 2] - z)
    for seed in BACK:
        own = panel(faces, seed, CLOTH)
        low = clean[own, 1].min()
        for cx, half in ROLLS:
            w = bump(np.abs(clean[:, 0] - cx) / half) * own
            s = np.clip(low + CURL - clean[:, 1], 0, None)  # length of cloth below the line
            angle = w * s / RADIUS
            safe = np.maximum(angle, 1e-9)
            down, back = s * np.sin(angle) / safe, s * (1 - np.cos(angle)) / safe
            rolled = (s > 0) & (w > 0)
            x[rolled, 1] = low + CURL - down[rolled]
            x[rolled, 2] = clean[rolled, 2] - back[rolled]
    moved = np.flatnonzero((x != clean).any(axis=1))
    pushed = np.zeros(CLOTH, bool)
    pushed[moved] = True
    fixed = ~pushed  # but for the cloth around
    for _ in range(RINGS):
        fixed &= ~np.isin(np.arange(CLOTH), faces[(~fixed)[faces].any(axis=1)])
    pairs = np.vstack([edges, sewn[sewn[:, 0] != sewn[:, 1]]])
    first = x
    x = give_back_lengths(clean, x, pairs, fixed, body[near], body_normals[near])
    rest = np.linalg.norm(clean[edges[:, 0]] - clean[edges[:, 1]], axis=1)
    for name, y in (("pushed", first), ("lengths given back", x)):
        strain = np.abs(np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1) / rest - 1)
        print(f"{name}: strain of edges against the drape, 95th percentile {100 * np.percentile(strain, 95):.2f} %, 99.9th {100 * np.percentile(strain, 99.9):.2f} %, largest {100 * strain.max():.1f} %")
    patch = np.zeros(CLOTH, bool)
    patch[np.flatnonzero(front)[weight > 0]] = True
    changed, has, area = exchanged(clean, x, faces, edges, patch)
    print(f"patches: {100 * area[patch].sum() / area.sum():.1f} % of the dress; {100 * has / area.sum():.1f} % with a layer within {1000 * NEAR:.0f} mm; {100 * changed / area.sum():.1f} % have changed sides with it")
    print(f"largest way {np.linalg.norm(x - clean, axis=1).max():.3f} m")
    for path, points in ((out, x), (out_clean, clean)):
        with open(path, "w") as file:
            file.writelines(f"v {float(p[0])!r} {float(p[1])!r} {float(p[2])!r}\n" for p in points)
            file.writelines(l + "\n" for l in vt + face_lines)


main()
