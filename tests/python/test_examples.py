"""The examples of the package run, and show what they say."""

import pathlib
import runpy

import numpy as np

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "python" / "examples"


def example(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]


def test_a_mass_spring_cloth_of_sixty_lines_stays_clean():
    assert len((EXAMPLES / "mass_spring.py").read_text().splitlines()) <= 64
    assert example("mass_spring")(steps=240) > 0, "it has met the ball"


def test_a_batch_is_repaired(capsys, tmp_path):
    assert example("repair_batch")() == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(": 0 crossing" not in line and ", 0 after" in line for line in lines)
    V = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 1, 0.2], [0.3, 1, 0.2], [0.2, -0.1, 0.2]])
    (tmp_path / "in").mkdir()
    np.savez(tmp_path / "in" / "a.npz", V=V, F=[[0, 1, 2], [3, 4, 5]])
    assert example("repair_batch")([tmp_path / "in", tmp_path / "out"]) == 0
    assert np.load(tmp_path / "out" / "a.npz")["V"].shape == (6, 3)


def test_trimesh_goes_in_and_out(capsys, tmp_path):
    mesh = example("trimesh_in_out")(target=tmp_path / "out.ply")
    assert capsys.readouterr().out.strip().endswith("0 now")
    assert example("trimesh_in_out")(tmp_path / "out.ply").vertices.shape == mesh.vertices.shape
