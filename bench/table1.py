#!/usr/bin/env python3
"""Table 1 of Harmon et al. 2008 again: six scenes at the paper's sizes, rigid zones against inelastic projection.

usage: bench/table1.py [-o DIR] [--scenes funnel,ribbon] [--frames N] [--minutes M] [--impulses KEYS] [--set KEY=VALUE] [--percale FILE]

One run after the other, one thread each, two for each scene; in both a few rounds of impulses come first, as the course notes have
them (one pass over what was detected, nothing remembered), so that the fail-safe has something to do. What impulses and the
fail-safe leave is retried at shorter intervals and then held, in both alike, and counted. Prints a Markdown table.

Times are processor seconds of the steps, summed from DIR/SCENE-STAGE/frames.jsonl: `collision` is repulsions, response and
certification, `total` is all but the audit of every frame, which the paper does not have. A run that is stopped (Ctrl-C, --minutes)
goes on where it was when the script is started again with the same DIR and the same program; rows tell how far runs came.
No packages needed.
"""

import argparse
import array
import hashlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# seconds by the paper: total and collision, with rigid impact zones and with inelastic projection
PAPER = {
    "funnel": (1000, (23711.75, 18814.60), (13124.61, 9613.79)),
    "funnel-low": (1000, (18763.28, 15933.07), (13714.11, 10899.00)),
    "ribbon": (1000, (7627.33, 6647.97), (5029.29, 4049.09)),
    "crushed-cylinder": (1000, (2833.33, 1911.35), (2846.09, 1923.50)),
    "squares-incline": (2500, (1578.13, 1540.98), (853.67, 816.08)),
    "squares-plane": (2500, (1224.55, 1178.21), (1388.75, 1341.87)),
}
STAGES = ["rigid_zones", "inelastic"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=pathlib.Path, default=pathlib.Path("out/table1"), help="result folders [out/table1]")
    parser.add_argument("--scenes", default=",".join(PAPER), help="by comma [all six]")
    parser.add_argument("--frames", type=int, help="stop each run after this many [the paper's]")
    parser.add_argument("--minutes", type=float, help="stop each run after this time [none]")
    parser.add_argument("--impulses", default='max_rounds = 5, form = "notes"', help="settings of the impulses before, or 'none'")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="another key of all scenes")
    parser.add_argument("--percale", type=pathlib.Path, default=ROOT / "target" / "release" / "percale", help="the program [target/release/percale]")
    parser.add_argument("--report", action="store_true", help="run nothing, print the table of what is there")
    arguments = parser.parse_args()
    scenes = arguments.scenes.split(",")
    unknown = [scene for scene in scenes if scene not in PAPER]
    if unknown:
        parser.error(f"no scene {unknown[0]}; there are {', '.join(PAPER)}")
    program = None if arguments.report else hashlib.sha256(arguments.percale.read_bytes()).hexdigest()
    for scene in scenes:
        for stage in [] if arguments.report else STAGES:
            run(arguments, program, scene, stage)
    print(table(arguments.out, scenes, arguments.frames))


def run(arguments, program, scene, stage):
    """Runs or continues one scene with one fail-safe, until its end or the time limit."""
    folder = arguments.out / f"{scene}-{stage}"
    stages = [] if arguments.impulses == "none" else [f'{{ kind = "impulses", {arguments.impulses} }}']
    stages.append(f'{{ kind = "{stage}" }}')
    response = f"[{', '.join(stages)}]"
    # what was made by another program or other settings is not continued
    mark = folder.with_suffix(".made-by")
    made_by = " ".join([program, response, *arguments.set])
    known = (folder / "checkpoint").exists() and mark.exists() and mark.read_text() == made_by
    if folder.exists() and not known:
        shutil.rmtree(folder)
    arguments.out.mkdir(parents=True, exist_ok=True)
    mark.write_text(made_by)
    goal = arguments.frames or PAPER[scene][0]
    if known and len(frames_of(folder)) >= goal:
        return
    command = [arguments.percale, "run", scene, "--threads", "1", "--json", "-o", folder, "--frames", str(goal)]
    for change in [f"response={response}", *arguments.set]:
        command += ["--set", change]
    command += ["--resume"] if known else []
    print(f"{scene}, {stage}{' (continued)' if known else ''} ...", file=sys.stderr, flush=True)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        limit = arguments.minutes * 60 if arguments.minutes else None
        _, errors = process.communicate(timeout=limit)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as interruption:
        process.send_signal(signal.SIGINT)  # it ends after the frame
        _, errors = process.communicate()
        if isinstance(interruption, KeyboardInterrupt):
            raise SystemExit(130)
    for line in errors.splitlines():
        print(f"  {line}", file=sys.stderr, flush=True)


def frames_of(folder):
    path = folder / "frames.jsonl"
    if not path.exists():
        return []
    lines = path.read_text().split("\n")[:-1]  # what is half-written has no end
    return [json.loads(line) for line in lines]


def below_outlet(folder):
    """Share of the cloth's vertices under the outlet in the last frame; none where there is no funnel."""
    funnel, cache = folder / "objects" / "funnel.obj", folder / "objects" / "cloth.x64"
    if not (funnel.exists() and cache.exists()):
        return None
    outlet = min(float(line.split()[2]) for line in funnel.read_text().splitlines() if line.startswith("v "))
    data = cache.read_bytes()
    count = int.from_bytes(data[8:16], "little")
    whole = (len(data) - 16) // (24 * count)
    last = array.array("d", data[16 + 24 * count * (whole - 1) : 16 + 24 * count * whole])
    return sum(y < outlet for y in last[1::3]) / count


def figures(folder):
    """Totals of a run, none if there is none."""
    frames = frames_of(folder)
    if not frames:
        return None
    ms = lambda *phases: 1e-3 * sum(frame["phases"][f"{phase}_ms"] for frame in frames for phase in phases)
    return {
        "frames": len(frames),
        "total": ms("propose", "repel", "respond", "accept"),
        "collision": ms("repel", "respond", "accept"),
        "audit": ms("audit"),
        "intersections": sum(frame["intersections"] for frame in frames),
        "retries": sum(frame["retries"] for frame in frames),
        "held": sum(sum(frame["failsafes"].values()) for frame in frames),
        "used": sum(any(frame["rounds"].get(stage, 0) for stage in STAGES) for frame in frames),
        "unsolved": sum(frame["unsolved_zones"] for frame in frames),
        "lost": sum(part["energy_before"] - part["energy_after"] for frame in frames for part in frame["stages"].values()),
        "below": below_outlet(folder),
    }


def table(out, scenes, limit):
    rows = [
        "| scene | fail-safe | frames | frames with it | intersections | retries | held | unsolved zones | below the outlet "
        "| energy lost, J | collision, s | total, s | paper, collision | paper, total |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    ratios = [
        "| scene | rigid / projection: collision | total | paper: collision | total |",
        "|---|---|---|---|---|",
    ]
    for scene in scenes:
        goal, *paper = PAPER[scene]
        goal = limit or goal
        both = [figures(out / f"{scene}-{stage}") for stage in STAGES]
        for stage, (paper_total, paper_collision), f in zip(STAGES, paper, both):
            if f is None:
                rows.append(f"| {scene} | {stage} | not run |")
                continue
            reached = f"{f['frames']}" if f["frames"] >= goal else f"{f['frames']} of {goal}"
            below = "" if f["below"] is None else f"{100 * f['below']:.1f} %"
            rows.append(
                f"| {scene} | {stage} | {reached} | {f['used']} | {f['intersections']} | {f['retries']} | {f['held']} "
                f"| {f['unsolved']} | {below} | {f['lost']:.3g} | {f['collision']:.1f} | {f['total']:.1f} "
                f"| {paper_collision:.0f} | {paper_total:.0f} |"
            )
        if None not in both and both[0]["frames"] == both[1]["frames"]:
            of = lambda key: both[0][key] / both[1][key]
            (rigid_total, rigid_collision), (total, collision) = paper
            ratios.append(
                f"| {scene} | {of('collision'):.2f} | {of('total'):.2f} | {rigid_collision / collision:.2f} | {rigid_total / total:.2f} |"
            )
    return "\n".join(rows + [""] + ratios)


if __name__ == "__main__":
    main()
