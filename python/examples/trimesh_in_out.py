"""A mesh of trimesh is checked, cured and written again."""

import sys

import numpy as np
import trimesh

import percale


def crossing_boxes():
    """Two sheets, one upright and through the other."""
    n = 10
    u, w = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n))
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    F = np.vstack([np.column_stack([a, a + n, a + 1]), np.column_stack([a + 1, a + n, a + n + 1])])
    flat = np.column_stack([u.ravel(), 0 * u.ravel(), w.ravel()])
    upright = np.column_stack([0.03 + 0 * u.ravel(), 0.15 * u.ravel() + 0.06, 0.5 * w.ravel() + 0.02])
    return trimesh.Trimesh(np.vstack([flat, upright]), np.vstack([F, F + n * n]), process=False)


def main(source=None, target=None):
    # process=False: trimesh would merge and renumber vertices
    mesh = trimesh.load(source, process=False, force="mesh") if source else crossing_boxes()
    x, report = percale.untangle(mesh.vertices, mesh.faces)
    mesh.vertices = x
    print(f"{report['intersections_before']} crossing pairs before, {len(percale.intersections(mesh.vertices, mesh.faces))} now")
    if target:
        mesh.export(target)
    return mesh


if __name__ == "__main__":
    main(*sys.argv[1:])
