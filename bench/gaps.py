"""Smallest gap over a run, as a table: python3 bench/gaps.py DIR... (result folders of `percale run`).

One row per folder: the least gap of each tenth of the run in thicknesses, then the least of all in metres.
A dash: nothing was nearer than the thickness.
"""

import json
import pathlib
import re
import sys


def gaps(folder):
    with open(folder / "frames.jsonl") as lines:
        return [json.loads(line)["smallest_gap"] for line in lines]


def thickness(folder):
    text = (folder / "scene.toml").read_text()
    return float(re.search(r"^thickness = (\S+)", text, re.M).group(1))


def main(folders):
    head = [f"{10 * tenth} to {10 * tenth + 10} %" for tenth in range(10)]
    print("| run | " + " | ".join(head) + " | floor, m |")
    print("|---" * 12 + "|")
    for folder in map(pathlib.Path, folders):
        all_gaps, unit = gaps(folder), thickness(folder)
        cells = []
        for tenth in range(10):
            part = all_gaps[len(all_gaps) * tenth // 10 : len(all_gaps) * (tenth + 1) // 10]
            part = [gap for gap in part if gap is not None]
            cells.append(f"{min(part) / unit:.3f}" if part else "-")
        floor = min((gap for gap in all_gaps if gap is not None), default=None)
        cells.append("-" if floor is None else f"{floor:.1e}")
        print(f"| {folder.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
