"""The package `percale`: the same bits as the command line, arrays of any kind, errors that name the argument."""

import json
import pathlib
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import percale

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERCALE = ROOT / "target" / "release" / "percale"
SMALL = {"cloth.0.shape.cells": [8, 8], "obstacle.ball.shape.subdivisions": 1}
FRAMES = 24  # it has touched the ball by then


def command(*arguments):
    done = subprocess.run([PERCALE, *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def sheet(n, y=0.0, size=1.0):
    """Positions and faces of a grid of n x n vertices."""
    u = np.linspace(-0.5, 0.5, n) * size
    x, z = np.meshgrid(u, u)
    V = np.column_stack([x.ravel(), np.full(n * n, y), z.ravel()])
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    F = np.vstack([np.column_stack([a, a + n, a + 1]), np.column_stack([a + 1, a + n, a + n + 1])])
    return V, F


@pytest.fixture(scope="module")
def falling():
    """Two sheets, the upper of which is sent through the lower."""
    (V0, F), (W, G) = sheet(9), sheet(9, 0.02, 0.9)
    V, F = np.vstack([V0, W]), np.vstack([F, G + len(V0)])
    end = V.copy()
    end[len(V0) :, 1] -= 0.05
    return V, end, F


def write_obj(path, V, F):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in V.tolist()] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in F.tolist()]
    path.write_text("\n".join(lines) + "\n")


def read_obj(path):
    return np.array([list(map(float, line.split()[1:])) for line in path.read_text().splitlines() if line.startswith("v ")])


def test_a_run_has_the_hash_of_the_command_line_also_when_stepped_and_resumed(tmp_path):
    sets = [text for key, value in SMALL.items() for text in ("--set", f"{key}={value}")]
    _, out, err = command("run", "drop", "-o", tmp_path / "cli", "--frames", FRAMES, "--json", *sets)
    expected = json.loads(out)
    assert expected["frames"] == FRAMES, err
    other = percale.run("drop", tmp_path / "other", frames=FRAMES, set=SMALL | {"friction": 0.9})
    assert other["hash"] != expected["hash"], "contact counts by then"

    half = percale.run("drop", tmp_path / "py", frames=FRAMES // 2, set=SMALL)
    assert half["hash"] != expected["hash"]
    told = []
    whole = percale.run("drop", tmp_path / "py", frames=FRAMES, set=SMALL, resume=True, progress=lambda *at: told.append(at))
    assert whole["hash"] == expected["hash"]
    assert told == [(frame, FRAMES) for frame in range(FRAMES // 2 + 1, FRAMES + 1)]

    recording = percale.Recording(tmp_path / "cli")
    assert (len(recording), recording.hash()) == (FRAMES + 1, expected["hash"])
    simulation = percale.Simulation("drop", set=SMALL)
    for number in range(1, FRAMES + 1):
        frame = simulation.step()
        assert frame.number == number and frame.report["intersections"] == 0
        np.testing.assert_array_equal(frame.positions, recording.positions(number))
    assert recording.positions(-1, "cloth").shape == (81, 3)
    assert not frame.positions.flags.writeable
    assert len(recording.reports) == FRAMES and recording.summary["hash"] == expected["hash"]


def test_a_step_has_the_bits_of_the_command_line(falling, tmp_path):
    V0, V1, F = falling
    for name, V in (("a.obj", V0), ("b.obj", V1)):
        write_obj(tmp_path / name, V, F)
    code, out, err = command("resolve", tmp_path / "a.obj", tmp_path / "b.obj", "-o", tmp_path / "c.obj", "--dt", 0.01, "--json")
    assert code == 0, err
    x, report = percale.resolve(V0, V1, F, dt=0.01)
    np.testing.assert_array_equal(x, read_obj(tmp_path / "c.obj"))
    expected = json.loads(out)
    assert report["impacts_before"] == expected["impacts_before"] > 0
    assert report["rounds"] == expected["rounds"] and report["stages"] == expected["stages"]
    assert len(percale.intersections(V1, F)) == 0 and len(percale.intersections(x, F)) == 0
    assert not percale.has_intersections(V1, F)
    assert (x[81:, 1] > x[:81, 1].min()).all() and np.isfinite(report["velocities"]).all()
    hits = percale.impacts(V0, V1, F, ccd="exact")
    _, out, _ = command("check", "--from", tmp_path / "a.obj", tmp_path / "b.obj", "--ccd", "exact", "--json")
    expected = json.loads(out)
    assert len(hits) == expected["impacts"] and hits.times.min() == expected["first_time"]
    first = percale.first_impact(V0, V1, F, ccd="exact")
    assert len(first) == 1 and first.times[0] == hits.times[0] and (first.vertices[0] == hits.vertices[0]).all()
    assert len(percale.first_impact(V0, V0, F)) == 0
    np.testing.assert_allclose(hits.weights[hits.is_vertex_face].sum(axis=1), 0, atol=1e-12)


def test_a_cure_is_that_of_the_command_line(tmp_path):
    (V, F), (W, G) = sheet(8), sheet(8)
    W = W[:, [1, 0, 2]] * [1, 0.2, 0.5] + [0.03, 0.08, 0.02]  # upright, and through the first
    V, F = np.vstack([V, W]), np.vstack([F, G + len(V)])
    write_obj(tmp_path / "a.obj", V, F)
    checked = percale.check(V, F)
    _, out, _ = command("check", tmp_path / "a.obj", "--paths", "--json")
    expected = json.loads(out)
    for key in ("vertices", "triangles", "intersections", "edge_face"):
        assert checked[key] == expected[key]
    assert checked["intersections"] > 0 and checked["pairs"].tolist() == expected["pairs"]
    assert percale.has_intersections(V, F)
    paths = percale.paths(V, F)
    assert [path["type"] for path in paths] == [path["type"] for path in expected["paths"]] != []
    assert all(path["points"].shape[1] == 3 for path in paths)
    x, report = percale.untangle(V, F)
    code, out, err = command("untangle", tmp_path / "a.obj", "-o", tmp_path / "b.obj", "--json")
    assert code == 0, err
    assert report["certified"] and report["intersections_before"] == checked["intersections"]
    np.testing.assert_array_equal(x, read_obj(tmp_path / "b.obj"))
    kept, _ = percale.untangle(V, F, keep=np.arange(len(V)) < 64)
    np.testing.assert_array_equal(kept[:64], V[:64])


@pytest.mark.parametrize("kind", ["float64", "float32", "fortran", "strided", "big-endian", "list", "read-only"])
def test_arrays_of_any_kind_give_the_same(falling, kind):
    V0, V1, F = (np.round(a, 3) if a.dtype.kind == "f" else a for a in falling)
    V0, V1 = (V.astype(np.float32).astype(np.float64) for V in (V0, V1))  # so that all kinds can hold them
    expected, _ = percale.resolve(V0, V1, F)

    def made(a):
        if kind == "float32":
            return a.astype(np.float32 if a.dtype.kind == "f" else np.uint16)
        if kind == "fortran":
            return np.asfortranarray(a)
        if kind == "strided":
            return np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2]
        if kind == "big-endian":
            return a.astype(a.dtype.newbyteorder(">"))
        if kind == "list":
            return a.tolist()
        a = a.copy()
        a.flags.writeable = kind != "read-only"
        return a

    x, _ = percale.resolve(made(V0), made(V1), made(F))
    np.testing.assert_array_equal(x, expected)


def test_a_collider_gives_what_single_calls_give(falling):
    V, _, F = falling
    mass = np.full(len(V), 1e-3)
    collider = percale.Collider(F, mass, fixed=np.arange(81), thickness=2e-3)
    other = V.copy()
    for _ in range(4):
        end = V.copy()
        end[81:, 1] -= 0.01
        V, report = collider.resolve(V, end, dt=0.005)
        other, single = percale.resolve(other, end, F, mass=mass, fixed=list(range(81)), thickness=2e-3, dt=0.005)
        np.testing.assert_array_equal(V, other)
        np.testing.assert_array_equal(report["velocities"], single["velocities"])
    assert len(collider.intersections(V)) == 0 and not collider.has_intersections(V)
    assert collider.has_intersections(V * [1, 0, 1])


def test_an_obstacle_moves_as_it_is_told():
    (V, F), (O, G) = sheet(5, 0.02), sheet(3)
    up = O + [0, 0.05, 0]
    x, report = percale.resolve(V, V, F, obstacle=(O, up, G), thickness=2e-3)
    assert report["impacts_before"] > 0 and (x[:, 1] > 0.05).all()
    collider = percale.Collider(F, obstacle=G, thickness=2e-3)
    y, _ = collider.resolve(V, V, obstacle=(O, up))
    np.testing.assert_array_equal(x, y)


def test_a_scene_of_arrays_is_that_of_a_file(tmp_path):
    V, F = sheet(6, 0.1)
    (tmp_path / "a.obj").write_text("")
    write_obj(tmp_path / "a.obj", V, F)
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.08, "subdivisions": 1}}

    def stepped(shape):
        simulation = percale.Simulation({"frames": 8, "cloth": [{"name": "a", "shape": shape}], "obstacle": [ball]}, base=tmp_path)
        return [frame.positions for frame in simulation.frames_left()]

    arrays = stepped({"kind": "mesh", "positions": V, "faces": F})
    np.testing.assert_array_equal(arrays, stepped({"kind": "file", "file": "a.obj"}))
    assert len(arrays) == 8 and (arrays[-1][:36, 1] < 0.1).any()


def test_checkpoints_go_on_to_the_same_bits_and_are_of_one_scene():
    simulation = percale.Simulation("drop", set=SMALL)
    for _ in range(9):
        simulation.step()
    checkpoint = simulation.checkpoint()
    expected = simulation.step().positions
    fresh = percale.Simulation("drop", set=SMALL)
    fresh.restore(checkpoint)
    assert fresh.frame == 9
    np.testing.assert_array_equal(fresh.step().positions, expected)
    with pytest.raises(percale.ResultError, match="another scene"):
        percale.Simulation("drop", set=SMALL | {"friction": 0.9}).restore(checkpoint)
    with pytest.raises(percale.ResultError, match="damaged"):
        fresh.restore(checkpoint[:-1])


def test_errors_have_fields_and_go_through_pickles(falling, tmp_path):
    V0, V1, F = falling
    with pytest.raises(percale.StepError) as refused:
        percale.resolve(V0, V1, F, fixed=range(len(V0)))
    assert refused.value.kind == "pinched" and refused.value.pinch["overlap"] >= 0
    again = pickle.loads(pickle.dumps(refused.value))
    assert (str(again), again.pinch) == (str(refused.value), refused.value.pinch)
    crossed = V0.copy()
    crossed[81 + 40, 1] = -0.05
    with pytest.raises(percale.StartError, match="^V0: ") as refused:
        percale.resolve(crossed, V1, F)
    assert refused.value.count > 0 and len(refused.value.faces) == 2
    with pytest.raises(percale.SceneError, match="did you mean") as refused:
        percale.Simulation({"frames": 1, "frictoin": 1, "cloth": []})
    (tmp_path / "bad.toml").write_text("frames = 1\nfps = 0\n[[cloth]]\nname = 'a'\nshape = { kind = 'sheet', size = [1, 1], cells = [2, 2] }\n")
    with pytest.raises(percale.SceneError, match="bad.toml:2: fps") as refused:
        percale.Simulation(tmp_path / "bad.toml")
    with pytest.raises(percale.ResultError) as refused:
        percale.Recording(tmp_path)
    assert str(tmp_path) in refused.value.path


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda V, F: percale.intersections(V[:, :2], F), r"^V: an array of shape \(162, 2\)"),
        (lambda V, F: percale.intersections(V, F.astype(float)), "^F: an array of float64"),
        (lambda V, F: percale.intersections(V, F - 1), "^F: face 0 has the vertex -1"),
        (lambda V, F: percale.intersections(V[:-1], F), "^F: face .* uses vertex 161"),
        (lambda V, F: percale.intersections(V * np.nan, F), "^V: vertex 0 is at"),
        (lambda V, F: percale.has_intersections(V * np.nan, F), "^V: vertex 0 is at"),
        (lambda V, F: percale.impacts(V, V[:-1], F), "^V1: "),
        (lambda V, F: percale.first_impact(V, V[:-1], F), "^V1: "),
        (lambda V, F: percale.impacts(V, V, F, ccd="quick"), "^ccd: "),
        (lambda V, F: percale.resolve(V, V, F, dt=0), "^dt: "),
        (lambda V, F: percale.resolve(V, V, F, mass=[1, 2]), "^mass: 2 values"),
        (lambda V, F: percale.resolve(V, V, F, mass=np.full(162, -1)), "^mass: "),
        (lambda V, F: percale.resolve(V, V, F, fixed=[162]), "^fixed: vertex 162"),
        (lambda V, F: percale.resolve(V, V, F, fixed=[True]), "^fixed: a mask"),
        (lambda V, F: percale.resolve(V, V, F, thickness="thin"), "^thickness: 'thin'"),
        (lambda V, F: percale.resolve(V, V, F, friction=-1), "^friction: "),
        (lambda V, F: percale.resolve(V, V, F, response="impulses,hope"), "^response: .*stages are"),
        (lambda V, F: percale.resolve(V, V, F, obstacle=(V, F)), "^obstacle: "),
        (lambda V, F: percale.untangle(V, F, uv=V), "^uv: an array of shape"),
        (lambda V, F: percale.untangle(V, F, layers=[1]), "^layers: 1 numbers"),
        (lambda V, F: percale.Simulation(3), "^scene: a int"),
        (lambda V, F: percale.sweep("drop", {"friction": 0.1}, "x"), "^vary: "),
        (lambda V, F: percale.run("drop", "x", resume=True, force=True), "^resume, force"),
    ],
)
def test_wrong_arguments_are_refused_by_name(falling, call, words):
    V, _, F = falling
    with pytest.raises(ValueError, match=words):
        call(V, F)
    assert not pathlib.Path("x").exists()


def test_other_threads_go_on_while_a_call_computes():
    simulation = percale.Simulation("drop", set={"cloth.0.shape.cells": [40, 40]})
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    began = time.perf_counter()
    for _ in range(3):
        simulation.step()
    ended = time.perf_counter()
    done.set()
    thread.join()
    during = [t for t in counted if began < t < ended]
    assert len(during) > 3 and max(np.diff(during), default=0) < 0.5 * (ended - began)


def test_calls_from_several_threads_wait_for_one_another():
    alone, shared = (percale.Simulation("drop", set=SMALL) for _ in range(2))
    frames = [alone.step() for _ in range(8)]
    seen, wrong = [], []

    def steps():
        try:
            seen.extend(shared.step().report for _ in range(2))
        except Exception as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=steps) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and sorted(report["frame"] for report in seen) == list(range(1, 9))
    np.testing.assert_array_equal(shared.positions, frames[-1].positions)


def test_a_forked_process_is_refused_instead_of_waiting_for_ever(falling):
    script = """
        import os, percale
        V, F = [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2]]
        percale.intersections(V, F)
        child = os.fork()
        if child == 0:
            try:
                percale.intersections(V, F)
            except RuntimeError as error:
                os._exit(7 if "spawn" in str(error) else 1)
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "7", done.stderr


def test_a_scene_that_holds_itself_is_refused():
    scene = {"frames": 1}
    scene["cloth"] = [scene]
    with pytest.raises(ValueError, match="does one hold itself"):
        percale.Simulation(scene)


def test_ctrl_c_ends_a_run_after_a_frame_and_it_can_be_continued(tmp_path):
    # a process in the background of a script begins with SIGINT ignored, and hands that on
    script = f"""
        import signal, percale
        signal.signal(signal.SIGINT, signal.default_int_handler)
        percale.run('drop', {str(tmp_path / "out")!r})
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out" / "frames.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.stat().st_size):
        assert time.monotonic() < deadline and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode != 0 and "KeyboardInterrupt" in err
    frames = len(percale.Recording(tmp_path / "out"))
    assert 1 < frames < 121
    assert percale.run("drop", tmp_path / "out", frames=frames, resume=True)["frames"] == frames


def test_an_array_of_a_million_vertices_is_copied_once():
    # what passing an array in and out takes beyond the array itself, by the most memory that the process ever held
    script = """
        import sys
        import numpy as np
        import percale._arrays as arrays, percale._percale as compiled
        def most():
            with open("/proc/self/status") as file:
                return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        kind = sys.argv[1]
        V = np.ones((1_000_000, 3), dtype=np.float32 if kind == "float32" else np.float64, order="F" if kind == "fortran" else "C")
        compiled.round_trip(V[:10])
        before = most()
        x = compiled.round_trip(arrays.positions("V", V))
        print((most() - before) / x.nbytes)
        assert x.shape == V.shape and x[-1, 2] == 1
    """
    for kind in ("float64", "fortran", "float32"):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script), kind], capture_output=True, text=True, check=True)
        copies = float(done.stdout)
        assert 0.5 < copies < 1.2, f"{kind}: {copies} copies"
