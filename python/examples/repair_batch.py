"""Repairs a batch of predicted garments: arrays that cross themselves in, certified arrays out.

With arguments, FOLDER_IN and FOLDER_OUT of .npz files with V and F; without, some sheets that were folded through themselves.
"""

import pathlib
import sys

import numpy as np

import percale


def predicted(count, n=14, seed=1):
    """Sheets folded over, the upper layer of which dips through the lower one."""
    dice = np.random.default_rng(seed)
    for _ in range(count):
        u, w = np.meshgrid(np.linspace(-1, 1, 2 * n), np.linspace(-0.5, 0.5, n))
        x, z = np.abs(u).ravel(), w.ravel()
        y = np.where(u.ravel() > 0, 0.02, -0.02) * np.minimum(1, x * 8) + 1e-4 * u.ravel()
        centre, depth = dice.uniform([0.4, -0.1], [0.6, 0.1]), dice.uniform(0.06, 0.09)
        y -= np.where(u.ravel() > 0, depth, 0) * np.exp(-((x - centre[0]) ** 2 + (z - centre[1]) ** 2) / 0.02)
        a = (np.arange(n - 1)[:, None] * 2 * n + np.arange(2 * n - 1)).ravel()
        F = np.vstack([np.column_stack([a, a + 2 * n, a + 1]), np.column_stack([a + 1, a + 2 * n, a + 2 * n + 1])])
        yield np.column_stack([x, y, z]), F


def main(arguments=()):
    if len(arguments) == 2:
        source, target = map(pathlib.Path, arguments)
        target.mkdir(parents=True, exist_ok=True)
        files = sorted(source.glob("*.npz"))
        meshes = ((data["V"], data["F"]) for data in map(np.load, files))
    else:
        files, meshes, target = [f"sheet {k}" for k in range(4)], predicted(4), None
    left = 0
    for name, (V, F) in zip(files, meshes, strict=True):
        x, report = percale.untangle(V, F)
        left += not report["certified"]
        print(
            f"{name}: {report['intersections_before']} crossing pairs, {report['intersections_after']} after {report['steps']} steps;"
            f" {report['moved']} of {len(V)} vertices moved, by {1e3 * report['max_displacement']:.1f} mm at most"
        )
        if target is not None:
            np.savez(target / name.name, V=x, F=F)
    return left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
