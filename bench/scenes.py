#!/usr/bin/env python3
"""Runs scenes and prints one Markdown row each: quality beside time.

usage: bench/scenes.py [--full] [SCENE...]      (needs target/release/percale; no packages)
"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

PERCALE = pathlib.Path(__file__).resolve().parents[1] / "target" / "release" / "percale"


def main():
    full = "--full" in sys.argv
    scenes = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if not scenes:
        listed = subprocess.run([PERCALE, "scenes", "--json"], check=True, capture_output=True, text=True)
        scenes = [scene["name"] for scene in json.loads(listed.stdout)]
    print("| scene | frames | intersections | peak impacts | rounds | intervals | retries | fail-safes | smallest gap, m | kept | cpu s/frame | hash |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "result"
            command = [PERCALE, "run", scene, "--json", "-o", out] + ([] if full else ["--small"])
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(command, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not done.stdout:
                print(f"| {scene} | stopped: {done.stderr.strip()} |")
                continue
            r = json.loads(done.stdout)
            report = json.loads((out / "report.json").read_text())
        peak = max((frame["peak_impacts"] for frame in report["frame_reports"]), default=0)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        gap = "-" if r["smallest_gap"] is None else f"{r['smallest_gap']:.1e}"
        kept = "-" if r["kept_share"] is None else f"{r['kept_share']:.2f}"
        print(
            f"| {scene} | {r['frames']} | {r['intersections']} | {peak} | {r['rounds']} | {r['intervals']} | {r['retries']} "
            f"| {r['failsafes']} | {gap} | {kept} | {cpu / max(r['frames'], 1):.3f} | {r['hash'][:8]} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
