// The report as a plot over frames; a click chooses a frame.
import type { Report } from "./feed";

const sum = (value: unknown): number =>
  typeof value === "number" ? value : value && typeof value === "object" ? Object.values(value).reduce((a: number, b) => a + sum(b), 0) : 0;
const phase = (name: string) => (r: Report): number => sum((r.phases as Record<string, number> | undefined)?.[name]);

/** What can be plotted: title, and the value of a frame. */
export const SERIES: Record<string, { title: string; value: (r: Report) => number }> = {
  impacts: { title: "impacts", value: (r) => sum(r.impacts) },
  rounds: { title: "rounds", value: (r) => sum(r.rounds) },
  retries: { title: "retries", value: (r) => sum(r.retries) + sum(r.stretched) },
  energy: { title: "kinetic energy, J", value: (r) => sum(r.kinetic_energy) },
  strain: { title: "largest strain, %", value: (r) => 100 * sum(r.largest_strain) },
  crossings: { title: "crossings left", value: (r) => sum(r.crossings) + sum(r.intersections) },
  wall: { title: "time, ms", value: phase("wall_ms") },
  propose: { title: "dynamics, ms of CPU", value: phase("propose_ms") },
  repel: { title: "contact, ms of CPU", value: phase("repel_ms") },
  respond: { title: "response, ms of CPU", value: phase("respond_ms") },
  accept: { title: "certification, ms of CPU", value: phase("accept_ms") },
};

/** A number in few characters. */
export const short = (x: number): string =>
  !Number.isFinite(x) ? "–" : x === 0 ? "0" : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(1) : String(Number(x.toPrecision(3)));

const LEFT = 54, TOP = 4, BOTTOM = 14;

export class Plot {
  series = "impacts";
  private base?: ImageData;
  private key = "";

  constructor(private canvas: HTMLCanvasElement, seek: (frame: number) => void, private last: () => number) {
    const at = (event: PointerEvent): void => {
      const box = canvas.getBoundingClientRect();
      const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - 6);
      seek(Math.round(Math.min(Math.max(share, 0), 1) * this.last()));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      at(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons & 1 && at(event));
  }

  draw(reports: Report[], frame: number): void {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (w === 0 || h === 0) return;
    const c = canvas.getContext("2d", { willReadFrequently: true })!;
    const last = Math.max(this.last(), 1);
    const x = (n: number): number => ratio * LEFT + ((w - ratio * (LEFT + 6)) * n) / last;
    const key = [w, h, this.series, reports.length, reports.at(-1)?.frame, last].join();
    if (key !== this.key || !this.base) {
      this.key = key;
      [canvas.width, canvas.height] = [w, h];
      const { title, value } = SERIES[this.series];
      let top = 0;
      for (const report of reports) {
        const v = value(report);
        if (v > top && v < Infinity) top = v;
      }
      top ||= 1;
      const y = (v: number): number => ratio * TOP + (h - ratio * (TOP + BOTTOM)) * (1 - v / top);
      c.font = `${11 * ratio}px system-ui, sans-serif`;
      c.fillStyle = "#5a616b";
      c.textAlign = "right";
      c.fillText(short(top), ratio * (LEFT - 6), ratio * (TOP + 9));
      c.fillText("0", ratio * (LEFT - 6), y(0));
      c.textAlign = "left";
      c.fillText(title, ratio * (LEFT + 6), ratio * (TOP + 14));
      c.strokeStyle = "#b9bec5";
      c.lineWidth = ratio;
      c.strokeRect(x(0), ratio * TOP, x(last) - x(0), y(0) - ratio * TOP);
      c.strokeStyle = "#0072b2";
      c.lineWidth = 1.5 * ratio;
      c.beginPath();
      reports.forEach((r, i) => (i ? c.lineTo(x(r.frame), y(value(r))) : c.moveTo(x(r.frame), y(value(r)))));
      c.stroke();
      this.base = c.getImageData(0, 0, w, h);
    } else {
      c.putImageData(this.base, 0, 0);
    }
    c.strokeStyle = "#d55e00";
    c.lineWidth = ratio;
    c.beginPath();
    c.moveTo(x(frame), 0);
    c.lineTo(x(frame), h - ratio * BOTTOM);
    c.stroke();
  }
}
