// The page: panel, timeline, and what they do to the picture.
import { Contained, Served, type Feed, type Report, type Settings } from "./feed";
import { Live } from "./live";
import { Plot, SERIES, short } from "./plot";
import { IMPACT, MODES, NEAR, Stage, type Mode } from "./stage";
import { STRAIN } from "./surface";

const $ = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector)!;

/** An element with properties and children. */
function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
}

const css = (rgb: readonly number[]): string => `rgb(${rgb.join()})`;

/** Milliseconds between two questions of what is new: of a run that goes on, and of anything else. */
const [SOON, SLOWLY] = [700, 3000];

function fail(error: unknown): void {
  const banner = $("#banner");
  banner.hidden = false;
  banner.textContent = String(error instanceof Error ? error.message : error);
}

class Player {
  private stage: Stage;
  private plot: Plot;
  /** The frame that is wanted, the one whose positions are seen, and the one that is seen with all that belongs to it. */
  private frame = 0;
  private seen = 0;
  private shown = -1;
  private isPlaying = false;
  private speed = 1;
  private clock = 0;
  private isWire = false;
  private showsPaths = true;
  private visible: boolean[];
  private isDirty = true;
  private scriptTimes: number[] = [];
  private slider = el("input", { type: "range", id: "scrub", min: "0", step: "1" });
  private label = el("output", { id: "frame" });
  private playButton = el("button", { id: "play", textContent: "Play" });
  private readonly live?: Live;
  /** Have controls of `play` show what holds. */
  private controls: ((settings: Settings) => void)[] = [];

  constructor(private feed: Feed) {
    this.live = feed instanceof Live ? feed : undefined;
    const { meta } = feed;
    document.title = `${meta.title} – Percale`;
    this.visible = meta.bodies.map(() => true);
    this.stage = new Stage($("#view canvas"), meta, feed.faces, feed.rest);
    const canvas = el("canvas", { id: "plot" });
    this.plot = new Plot(canvas, (n) => this.seek(n), () => Math.max(this.reports().at(-1)?.frame ?? 0, this.live ? 1 : meta.frames - 1));
    this.buildPanel();
    this.buildTime(canvas);
    if (this.live) this.buildDrag(this.live);
    this.tellState();
    requestAnimationFrame((now) => this.tick(now));
    if (!meta.complete && !this.live) this.seek(Infinity); // what a run that goes on has come to
    if (feed.refresh) this.follow();
  }

  private reports(): Report[] {
    return this.feed.meta.reports;
  }

  private buildPanel(): void {
    const { meta, faces } = this.feed;
    const panel = $("#panel");
    const cloths = meta.bodies.filter((b) => b.kind === "cloth").length;
    panel.append(
      el("h1", { textContent: meta.title }),
      el("div", { id: "about", textContent: `${meta.bodies.at(-1)?.vertices[1] ?? 0} vertices, ${faces.length / 3} triangles, ${cloths} cloth${cloths === 1 ? "" : "s"}` }),
      el("div", { id: "state" }),
    );
    if (this.live) this.buildControls(panel, this.live);

    const mode = el("select", { id: "mode" });
    for (const [value, title] of Object.entries(MODES)) mode.append(el("option", { value, textContent: title }));
    const top = el("input", { type: "range", id: "strain-top", min: "1", max: "50", value: String(100 * this.stage.strainTop) });
    const percent = el("output");
    const scale = el("div", { id: "strain-scale" }, el("label", {}, "strain up to", percent), top);
    const setTop = (): void => {
      this.stage.strainTop = Number(top.value) / 100;
      percent.textContent = `${top.value} %`;
      this.redo();
    };
    top.oninput = setTop;
    const swatches = meta.bodies.map(() => el("span", { className: "swatch" }));
    const setMode = (): void => {
      this.stage.setMode(mode.value as Mode);
      scale.hidden = mode.value !== "strain";
      swatches.forEach((swatch, k) => {
        const painted = this.stage.painted(k)?.map(css);
        swatch.style.background = painted ? `linear-gradient(135deg, ${painted[0]} 50%, ${painted[1]} 50%)` : "repeating-linear-gradient(135deg, #d4d7db 0 2px, #fff 2px 4px)";
      });
      this.live?.send({ touches: this.needsTouch() });
      this.redo();
    };
    mode.onchange = setMode;
    setTop();
    setMode();
    panel.append(el("h2", { textContent: "Colour by" }), mode, scale);

    const box = (id: string, text: string, checked: boolean, change: (on: boolean) => void): HTMLLabelElement => {
      const input = el("input", { type: "checkbox", id, checked });
      input.onchange = () => change(input.checked);
      return el("label", {}, input, text);
    };
    panel.append(
      el("h2", { textContent: "Show" }),
      box("wire", "edges of triangles", false, (on) => {
        this.isWire = on;
        this.setVisible();
      }),
      box("paths", "intersection paths", true, (on) => {
        this.showsPaths = on;
        this.redo();
      }),
      el("h2", { textContent: "Objects" }),
    );
    meta.bodies.forEach((body, k) => {
      const label = box(`body-${k}`, "", true, (on) => {
        this.visible[k] = on;
        this.setVisible();
      });
      label.append(swatches[k], body.name);
      panel.append(label);
    });
    if (this.hasReports()) panel.append(el("h2", { textContent: "This frame" }), el("table", { id: "numbers" }));
  }

  private buildControls(panel: HTMLElement, live: Live): void {
    const { settings, methods } = live.meta;
    if (!settings || !methods) return;
    const button = (id: string, textContent: string, wish: () => Record<string, unknown>): HTMLButtonElement => {
      const made = el("button", { id, textContent });
      made.onclick = () => live.send(wish());
      return made;
    };
    const buttons = el("div", {});
    this.playButton.onclick = () => this.toggle();
    buttons.append(this.playButton, " ", button("step", "Step", () => ({ step: 1 })), " ", button("restart", "Restart", () => ({ restart: true })));
    panel.append(el("h2", { textContent: "Simulation" }), buttons);
    const slide = (key: "friction" | "thickness" | "wind", title: string, unit: string, scale: number, [min, max, step]: number[]): void => {
      const input = el("input", { type: "range", id: key, min: String(min), max: String(max), step: String(step) });
      const number = el("output", { id: `${key}-value` });
      const tell = (x: number): string => (number.textContent = `${Number(x.toPrecision(3))} ${unit}`);
      input.oninput = () => {
        tell(Number(input.value));
        live.send({ set: { [key]: Number(input.value) / scale } });
      };
      this.controls.push((settings) => {
        input.value = String(scale * settings[key]);
        tell(scale * settings[key]);
      });
      panel.append(el("label", {}, title, number), input);
    };
    slide("friction", "friction", "", 1, [0, 1.5, 0.05]);
    const mm = 1000 * settings.thickness;
    slide("thickness", "thickness", "mm", 1000, [Math.min(0.1, mm), Math.max(5 * mm, 5), 0.1]);
    slide("wind", "wind along x", "m/s", 1, [-15, 15, 0.5]);
    const method = el("select", { id: "response" });
    for (const value of methods) method.append(el("option", { value, textContent: value }));
    method.onchange = () => live.send({ set: { response: method.value } });
    this.controls.push(({ response }) => (method.value = response));
    panel.append(el("label", {}, "response"), method, el("div", { textContent: "Drag cloth with the left mouse button; drag anything else to turn." }));
  }

  private buildTime(canvas: HTMLCanvasElement): void {
    const { meta } = this.feed;
    const series = el("select", { id: "series" });
    for (const [value, { title }] of Object.entries(SERIES)) series.append(el("option", { value, textContent: title }));
    series.onchange = () => {
      this.plot.series = series.value;
      this.isDirty = true;
    };
    const row = el("div", { id: "row" });
    const time = $("#time");
    const isStill = !this.live && meta.complete && meta.frames === 1;
    if (isStill) time.hidden = true;
    if (this.hasReports()) time.append(canvas);
    if (this.live) {
      row.append(series, this.label);
    } else {
      const speed = el("select", { id: "speed" });
      for (const value of [0.1, 0.25, 0.5, 1, 2, 4]) speed.append(el("option", { value: String(value), textContent: `${value}×`, selected: value === 1 }));
      speed.onchange = () => (this.speed = Number(speed.value));
      this.slider.oninput = () => this.seek(Number(this.slider.value));
      this.playButton.onclick = () => this.toggle();
      row.append(this.playButton, speed, this.slider, this.label);
      if (this.hasReports()) row.append(series);
    }
    document.addEventListener("keydown", (event) => {
      const { target, key } = event;
      // what has the focus has its own keys; a slider has none for the space bar
      const isRange = target instanceof HTMLInputElement && target.type === "range";
      const isOwn = target instanceof HTMLSelectElement || target instanceof HTMLInputElement || target instanceof HTMLButtonElement;
      if (isOwn && !(isRange && key === " ")) return;
      const go: Record<string, () => void> = { " ": () => this.toggle(), ArrowRight: () => this.seek(this.frame + 1), ArrowLeft: () => this.seek(this.frame - 1), Home: () => this.seek(0), End: () => this.seek(Infinity) };
      if (!go[key] || isStill) return;
      event.preventDefault();
      go[key]();
    });
    time.append(row);
    new ResizeObserver(() => (this.isDirty = true)).observe(time);
  }

  /** Whether there are figures of frames, or will be. */
  private hasReports(): boolean {
    const { meta } = this.feed;
    return this.live !== undefined || meta.reports.length > 0 || !meta.complete;
  }

  private buildDrag(live: Live): void {
    const canvas = $<HTMLCanvasElement>("#view canvas");
    let held: { vertex: number; at: ReturnType<Stage["onPlane"]> } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      held = this.stage.pick(event.clientX, event.clientY);
      if (!held) return;
      event.stopImmediatePropagation(); // the camera stays where it is
      canvas.setPointerCapture(event.pointerId);
      live.send({ drag: { vertex: held.vertex, to: held.at.toArray() } });
    }, { capture: true });
    canvas.addEventListener("pointermove", (event) => {
      if (held) live.send({ drag: { vertex: held.vertex, to: this.stage.onPlane(event.clientX, event.clientY, held.at).toArray() } });
    });
    const end = (): void => {
      if (held) live.send({ drag: null });
      held = undefined;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
  }

  private setVisible(): void {
    this.visible.forEach((on, k) => this.stage.setVisible(k, on, this.isWire));
  }

  private needsTouch(): boolean {
    return this.stage.mode === "impacts" || this.stage.mode === "zones";
  }

  /** Shows the frame anew, with other colours or lines. */
  redo(): void {
    this.shown = -1;
    this.isDirty = true;
  }

  seek(n: number): void {
    if (this.live) return;
    this.frame = Math.min(Math.max(n, 0), this.feed.meta.frames - 1);
    this.clock = this.frame;
    this.isDirty = true;
  }

  private toggle(): void {
    if (this.live) {
      this.live.send({ run: !this.live.isRunning });
      return;
    }
    this.isPlaying = !this.isPlaying;
    if (this.isPlaying && this.frame >= this.feed.meta.frames - 1) this.seek(0);
    this.isDirty = true;
  }

  private last = 0;
  private tick(now: number): void {
    const { meta } = this.feed;
    const seconds = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    if (this.isPlaying) {
      this.clock += seconds * meta.fps * this.speed;
      const to = Math.min(Math.floor(this.clock), meta.frames - 1);
      if (to !== this.frame) {
        this.frame = to;
        this.isDirty = true;
      }
      if (to >= meta.frames - 1) {
        this.clock = to;
        if (meta.complete) this.toggle();
      }
    }
    if (this.live && this.live.frameNumber !== this.frame) {
      this.frame = this.live.frameNumber;
      this.isDirty = true;
    }
    if (this.isDirty) this.update();
    requestAnimationFrame((next) => this.tick(next));
  }

  private update(): void {
    this.isDirty = false;
    const { meta } = this.feed;
    if (this.shown !== this.frame || this.live) {
      const began = performance.now();
      const x = this.feed.frame(this.frame);
      if (x) {
        this.seen = this.frame;
        this.stage.show(x);
        const touch = this.needsTouch() ? this.feed.touch(this.frame) : undefined;
        const largest = this.stage.colour(touch);
        const curves = this.showsPaths ? this.feed.paths(this.frame) : [];
        if (curves) this.stage.showPaths(curves);
        this.scriptTimes.push(performance.now() - began);
        if (this.scriptTimes.length > 400) this.scriptTimes.shift();
        if (curves && (touch || !this.needsTouch())) this.shown = this.frame;
        this.legend(largest, curves ?? [], touch?.vertices.length ?? 0);
      }
    }
    this.slider.max = String(meta.frames - 1);
    this.slider.value = String(this.frame);
    const running = this.live ? this.live.isRunning : this.isPlaying;
    this.playButton.textContent = running ? "Pause" : this.live ? "Run" : "Play";
    const rate = this.live ? `, ${this.live.rate.toFixed(0)} frames/s` : "";
    const name = meta.kind === "pair" ? [" (before)", " (after)"][this.seen] : meta.complete || this.live ? "" : ", not ended yet";
    const wanted = this.seen === this.frame ? "" : ` (${this.frame} is not here yet)`;
    this.label.textContent = `frame ${this.seen}${this.live ? "" : ` of ${meta.frames - 1}`}${rate}${name}${wanted}`;
    if (this.live?.settings && this.live.isSettled) for (const tell of this.controls) tell(this.live.settings);
    this.plot.draw(this.reports(), this.frame);
    this.numbers();
    this.tellState();
  }

  private legend(largest: number, curves: { kind: string; colour: readonly number[] }[], touching: number): void {
    const lines: Node[] = [];
    const line = (colour: readonly number[], text: string): void => {
      const swatch = el("span", { className: "swatch" });
      swatch.style.background = css(colour);
      lines.push(el("div", {}, swatch, ` ${text}`));
    };
    if (this.stage.mode === "strain") {
      STRAIN.forEach((colour, k) => line(colour, `${short((100 * this.stage.strainTop * k) / (STRAIN.length - 1))} %`));
      lines.push(el("div", { textContent: `most: ${short(100 * largest)} % since frame 0` }));
    }
    if (this.stage.mode === "impacts") {
      line(IMPACT, "would meet within a frame, if it went straight on");
      line(NEAR, "nearer than 1.5 thicknesses");
    }
    if (this.stage.mode === "zones") lines.push(el("div", { textContent: "one colour for what touches and hangs together" }));
    if (this.needsTouch()) lines.push(el("div", { textContent: `${touching} vertices` }));
    const counts = new Map<string, { colour: readonly number[]; count: number }>();
    for (const { kind, colour } of curves) counts.set(kind, { colour, count: (counts.get(kind)?.count ?? 0) + 1 });
    for (const [kind, { colour, count }] of counts) line(colour, `${count} ${kind}`);
    $("#legend").replaceChildren(...lines);
  }

  private numbers(): void {
    if (!this.hasReports()) return;
    const report = this.reports().findLast((r) => r.frame === this.seen);
    const rows = report ? Object.values(SERIES).map(({ title, value }) => el("tr", {}, el("td", { textContent: title }), el("td", { textContent: short(value(report)) }))) : [];
    $("#numbers").replaceChildren(...rows);
  }

  private tellState(): void {
    const { meta, failure, refresh } = this.feed;
    const banner = $("#banner");
    const text = failure ?? meta.stopped ?? "";
    banner.hidden = !text;
    if (banner.textContent !== text) banner.textContent = text;
    const goesOn = !meta.complete && meta.kind === "run";
    const how = meta.written ? "The run goes on, and this page follows it." : "The run was broken off: nobody is writing it. `percale run` goes on with --resume.";
    $("#state").textContent = goesOn && refresh ? how : "";
  }

  private follow(): void {
    const again = async (): Promise<void> => {
      const wasLast = this.frame >= this.feed.meta.frames - 1;
      if (await this.feed.refresh?.()) {
        if (wasLast && !this.isPlaying) this.seek(Infinity);
        this.redo();
      }
      const { complete, written } = this.feed.meta;
      setTimeout(again, !complete && written ? SOON : SLOWLY);
    };
    void again();
  }

  /** What tests ask. */
  state(): Record<string, unknown> {
    const times = [...this.scriptTimes].sort((a, b) => a - b);
    return { frame: this.frame, seen: this.seen, shown: this.shown, frames: this.feed.meta.frames, playing: this.isPlaying, running: this.live?.isRunning, rate: this.live?.rate, complete: this.feed.meta.complete, updates: times.length, median: times[times.length >> 1] ?? 0, worst: times.at(-1) ?? 0 };
  }
  forget(): void {
    this.scriptTimes = [];
  }
  vertex(v: number): number[] {
    return this.stage.vertex(v);
  }
  project(x: number[]): [number, number] {
    return this.stage.project(x);
  }
}

async function start(): Promise<void> {
  let player: Player | undefined;
  const arrived = (): void => player?.redo();
  const source = document.documentElement.dataset.feed;
  const feed = source === "inside" ? await Contained.open() : source === "live" ? await Live.open(arrived) : await Served.open(arrived);
  player = new Player(feed);
  Object.assign(window, { percale: player });
}

start().catch(fail);
