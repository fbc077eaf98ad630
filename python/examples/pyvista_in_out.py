"""A run as a mesh of pyvista, coloured by speed; and a mesh of pyvista as a cloth. `pip install pyvista`."""

import numpy as np
import pyvista

import percale


def as_pyvista(V, F):
    return pyvista.PolyData.from_regular_faces(np.asarray(V), np.asarray(F))


def main(picture=None, frames=30):
    plane = pyvista.Plane(i_resolution=24, j_resolution=24, direction=(0, 1, 0)).triangulate()
    cloth = {"name": "cloth", "position": [0, 0.3, 0]}
    cloth["shape"] = {"kind": "mesh", "positions": plane.points.astype(float), "faces": plane.regular_faces}
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.25, "subdivisions": 3}}
    simulation = percale.Simulation({"frames": frames, "cloth": [cloth], "obstacle": [ball]})
    for frame in simulation.frames_left():
        print(f"frame {frame.number}: {frame.report['intersections']} intersections")
    mesh = as_pyvista(simulation.positions, simulation.faces)
    mesh["speed"] = np.linalg.norm(simulation.velocities, axis=1)
    if picture:
        plotter = pyvista.Plotter(off_screen=True)
        plotter.add_mesh(mesh, scalars="speed", show_edges=True)
        plotter.screenshot(picture)
    return mesh


if __name__ == "__main__":
    main("cloth.png")
