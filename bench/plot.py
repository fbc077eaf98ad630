#!/usr/bin/env python3
"""Draws Figure 4 of Sifakis 2008 from what `percale compare` writes, MINRES curves from `percale bench volume
--residuals`, the time of one call by the number of pairs from `percale bench volume --calls`, or what is left at
each step of a cure from `percale untangle --json`.

    bench/plot.py compare DIR/compare.csv OUT.png
    bench/plot.py residuals FILE.csv OUT.png
    bench/plot.py calls FILE.csv OUT.png
    bench/plot.py cure FILE.json OUT.png

Needs Pillow.
"""

import csv
import json
import math
import sys

from PIL import Image, ImageDraw

COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 900, 300, 80, 30, 30


def panel(draw, y, title, curves, failed, bottom, top, label):
    """One plot: curves are {name: [(x, value)]}; failed {name: [x]}."""
    last = max((x for points in curves.values() for x, _ in points), default=1)
    at_x = lambda x: LEFT + (WIDTH - LEFT - 20) * x / last
    at_y = lambda v: y + TOP + (HEIGHT - TOP - BOTTOM) * (1 - (v - bottom) / ((top - bottom) or 1))
    draw.text((LEFT, y + 8), title, fill="black")
    draw.line([(LEFT, at_y(top)), (LEFT, at_y(bottom)), (WIDTH - 20, at_y(bottom))], fill="#888888")
    for v in (bottom, top):
        draw.text((8, at_y(v) - 6), label(v), fill="black")
    draw.text((WIDTH - 60, y + HEIGHT - BOTTOM + 8), f"{last:g}", fill="black")
    for colour, (name, points) in zip(COLOURS, curves.items()):
        draw.line([(at_x(x), at_y(v)) for x, v in points], fill=colour, width=2)
        for x in failed.get(name, []):
            draw.text((at_x(x) - 3, at_y(bottom) - 6), "x", fill=colour)


def legend(draw, y, names):
    x = LEFT
    for colour, name in zip(COLOURS, names):
        draw.rectangle([x, y + 4, x + 12, y + 16], fill=colour)
        draw.text((x + 18, y + 4), name, fill="black")
        x += 30 + 8 * len(name)


def compare(rows):
    """Mean interval and run time by frame."""
    interval, time, failed = {}, {}, {}
    for row in rows:
        name, frame = row["method"], int(row["frame"])
        phases = ["propose_ms", "repel_ms", "respond_ms", "accept_ms"]
        interval.setdefault(name, []).append((frame, float(row["mean_interval"])))
        time.setdefault(name, [])
        if row["failed"] == "true":
            failed.setdefault(name, []).append(frame)
        else:
            time[name].append((frame, sum(float(row[p]) for p in phases)))
    most = max(v for points in time.values() for _, v in points)
    return [
        ("mean interval between successful resolutions, frames", interval, failed, 0, 1, "{:.1f}".format),
        ("run time without the audit, ms of processor time", time, failed, 0, most, "{:.0f}".format),
    ]


def residuals(rows):
    """Residual by iteration, as powers of ten."""
    curves = {}
    for row in rows:
        name = f"{row['pairs']} pairs, {row['form']}"
        curves.setdefault(name, []).append((int(row["iteration"]), math.log10(float(row["residual"]))))
    least = min(v for points in curves.values() for _, v in points)
    return [("residual / right side by iteration", curves, {}, math.floor(least), 0, lambda v: f"1e{v:.0f}")]


def calls(rows):
    """Processor time of one call by the number of pairs, for motions of one frame; an x where it was not resolved."""
    curves, failed = {}, {}
    for row in rows:
        if row["frames"] != "1":
            continue
        name, pairs = row["method"], int(row["pairs"])
        curves.setdefault(name, []).append((pairs, float(row["seconds"])))
        if row["resolved"] != "true":
            failed.setdefault(name, []).append(pairs)
    most = max(v for points in curves.values() for _, v in points)
    return [("one call by pairs, s of processor time", curves, failed, 0, most, "{:.1f}".format)]


def cure(rows):
    """Crossing pairs of faces at each step, one curve for each mesh."""
    curves = {row["file"].split("/")[-1]: list(enumerate(row["curve"])) for row in rows}
    most = max(v for points in curves.values() for _, v in points)
    return [("crossing pairs of faces by step", curves, {}, 0, most, "{:.0f}".format)]


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("compare", "residuals", "calls", "cure"):
        sys.exit(__doc__)
    with open(sys.argv[2], newline="") as file:
        rows = [json.loads(line) for line in file] if sys.argv[1] == "cure" else list(csv.DictReader(file))
    panels = {"compare": compare, "residuals": residuals, "calls": calls, "cure": cure}[sys.argv[1]](rows)
    image = Image.new("RGB", (WIDTH, HEIGHT * len(panels) + 30), "white")
    draw = ImageDraw.Draw(image)
    for i, (title, curves, failed, bottom, top, label) in enumerate(panels):
        panel(draw, HEIGHT * i, title, curves, failed, bottom, top, label)
    legend(draw, HEIGHT * len(panels), list(panels[0][1]))
    image.save(sys.argv[3])


if __name__ == "__main__":
    main()
