"""Sweeps from Python: alone, and on a dask cluster of two processes, one of which is killed."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

import percale

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERCALE = ROOT / "target" / "release" / "percale"
SET = {"cloth.0.shape.cells": [16, 16], "obstacle.ball.shape.subdivisions": 2}
VARY = {"friction": [0.1, 0.3, 0.5, 0.7], "cloth.0.fabric": ["silk", "denim"]}
FRAMES = 30


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The hashes of the command line, by folder."""
    out = tmp_path_factory.mktemp("sweep") / "cli"
    sets = [text for key, value in SET.items() for text in ("--set", f"{key}={value}")]
    vary = [text for key, values in VARY.items() for text in ("--vary", f"{key}={','.join(map(str, values))}")]
    done = subprocess.run([PERCALE, "sweep", "drop", *sets, *vary, "--frames", str(FRAMES), "-o", out, "--json"], capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["folder"]: row["totals"]["hash"] for row in rows}


def hashes(rows):
    return {row["folder"]: row["hash"] for row in rows}


def test_a_sweep_has_the_folders_and_hashes_of_the_command_line(expected, tmp_path):
    assert len(set(expected.values())) == 8
    first = percale.sweep("drop", VARY, tmp_path, frames=FRAMES, set=SET, shard=(1, 4))
    assert [row["status"] for row in first].count("done") == 2
    began = time.monotonic()
    rows = percale.sweep("drop", VARY, tmp_path, frames=FRAMES, set=SET)
    took = time.monotonic() - began
    assert hashes(rows) == expected
    began = time.monotonic()
    assert hashes(percale.sweep("drop", VARY, tmp_path, frames=FRAMES, set=SET)) == expected
    assert time.monotonic() - began < 0.5 * took, "what is done is not run again"
    with open(tmp_path / "totals.csv", newline="") as file:
        table = {row["folder"]: row["hash"] for row in csv.DictReader(file)}
    assert table == expected


def test_what_fails_is_listed_and_the_rest_is_finished(tmp_path):
    rows = percale.sweep("drop", {"cloth.0.fabric": ["silc", "silk"]}, tmp_path, frames=1, set=SET)
    assert [row["status"] for row in rows] == ["failed", "done"]
    assert "did you mean" in rows[0]["message"]
    with pytest.raises(percale.SceneError):
        percale.sweep("drop", {"friction": [0.1]}, tmp_path / "b", set={"frictoin": 1})
    with pytest.raises(ValueError, match="did you mean"):
        percale.sweep("drop", {"frictoin": [0.1, 0.2]}, tmp_path / "b")
    assert not (tmp_path / "b").exists(), "where nothing can be run nothing is made"
    rows = percale.sweep("drop", {"cloth.0.fabric": [{"like": "silk", "density": 0.1}, "silk"]}, tmp_path / "c", frames=1, set=SET)
    assert [row["status"] for row in rows] == ["done", "done"]
    assert "density = 0.1" in percale.Recording(tmp_path / "c" / rows[0]["folder"]).scene


def test_folders_of_another_sweep_are_not_taken_for_ones_own(tmp_path):
    vary = {"friction": [0.1, 0.3]}
    rows = percale.sweep("drop", vary, tmp_path, frames=2, set=SET)
    assert [row["status"] for row in rows] == ["done", "done"]
    for other in ({"set": SET | {"fps": 30}, "frames": 2}, {"set": SET, "frames": 1}):
        with pytest.raises(ValueError, match="choose another folder"):
            percale.sweep("drop", vary, tmp_path, **other)
    assert hashes(percale.sweep("drop", vary, tmp_path, frames=2, set=SET)) == hashes(rows)


def test_a_cluster_finishes_with_the_same_hashes_though_a_worker_is_killed(expected, tmp_path):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        pids = sorted(client.run(os.getpid).values())
        assert len(set(pids)) == 2

        # a thread waits until a run is under way, then kills the worker that is at it
        import threading

        killed = []

        def kill():
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not killed:
                for lock in tmp_path.glob("*/lock"):
                    folder, pid = lock.parent, int(lock.read_text().strip() or 0)
                    frames = folder / "frames.jsonl"
                    is_on_the_way = frames.exists() and frames.stat().st_size > 0 and not (folder / "report.json").exists()
                    if is_on_the_way and pid in pids:
                        os.kill(pid, signal.SIGKILL)
                        killed.append(pid)
                        return
                time.sleep(0.002)

        thread = threading.Thread(target=kill)
        thread.start()
        rows = percale.sweep("drop", VARY, tmp_path, frames=FRAMES, set=SET, client=client)
        thread.join()
    assert killed, "a worker was killed on the way"
    assert hashes(rows) == expected
