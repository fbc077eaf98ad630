"""The examples of the package run, and show what they say."""

import os
import pathlib
import re
import runpy

import nbclient
import nbformat
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"


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


def test_pyvista_goes_in_and_out(capsys):
    mesh = example("pyvista_in_out")(frames=20)
    assert capsys.readouterr().out.count(": 0 intersections") == 20
    assert mesh.n_points > 625 and mesh["speed"].max() > 0.1


def test_the_notebook_runs_and_shows_what_it_holds():
    file = EXAMPLES / "quickstart.ipynb"  # PERCALE_BLESS=1 writes it anew
    notebook = nbformat.read(file, as_version=4)

    def shown():
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        pictures = sum("image/png" in output.get("data", {}) for output in outputs)
        return [output["text"] for output in outputs if output["output_type"] == "stream"], pictures

    kept = shown()
    assert kept[1] == 3 and "after" in kept[0][0]
    nbclient.NotebookClient(notebook, timeout=300).execute()
    if os.environ.get("PERCALE_BLESS"):
        for cell in notebook.cells:
            cell.metadata = {}
        nbformat.write(notebook, file)
        return
    assert shown() == kept, "the texts and pictures in the file are those of this build"


def test_the_python_programs_of_the_guide_run():
    programs = [program for page in (ROOT / "docs" / "guide").glob("*.md") for program in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)]
    assert programs
    for program in programs:
        exec(compile(program, "guide", "exec"), {})
