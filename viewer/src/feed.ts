// Where the page gets its frames: a server of `percale view`, or data inside of the page itself.

/** One object of the scene; ranges are half open. */
export interface Body {
  name: string;
  kind: "cloth" | "obstacle";
  vertices: [number, number];
  faces: [number, number];
  front: [number, number, number];
  back: [number, number, number];
  ground: boolean;
}

/** A frame's entry of report.json; the viewer shows what it knows of it. */
export interface Report {
  frame: number;
  [key: string]: unknown;
}

export interface Meta {
  title: string;
  /** Which run the folder holds; another one has other frames. */
  run: string;
  kind: "run" | "refused" | "mesh" | "pair" | "play";
  fps: number;
  thickness: number;
  frames: number;
  complete: boolean;
  /** Whether somebody is writing the run. */
  written: boolean;
  stopped: string | null;
  bodies: Body[];
  camera: { eye: number[]; target: number[]; fov: number };
  reports: Report[];
  /** Of `play`: responses to choose from, and what holds at first. */
  methods?: string[];
  settings?: Settings;
}

/** What can be changed in `play`; metres, metres per second. */
export interface Settings {
  friction: number;
  thickness: number;
  wind: number;
  response: string;
}

/** A curve where surfaces cross: its type, colour, and points one after the other. */
export interface Curve {
  kind: string;
  colour: [number, number, number];
  points: number[];
}

/** Vertices that touch something: `impacts` is 0 where they are only near, `zones` numbers what hangs together. */
export interface Touch {
  vertices: Uint32Array;
  impacts: Uint8Array;
  zones: Uint16Array;
}

export interface Feed {
  meta: Meta;
  faces: Uint32Array;
  /** Positions at the start, since which strain is counted. */
  rest: Float32Array;
  /** Positions of a frame if they are at hand; otherwise they are asked for. */
  frame(n: number): Float32Array | undefined;
  touch(n: number): Touch | undefined;
  paths(n: number): Curve[] | undefined;
  /** Why what was asked for does not come. */
  readonly failure: string | null;
  /** Asks for what is new; true if there was something. None if nothing ever is. */
  refresh?(): Promise<boolean>;
}

/** Vertex numbers (u32), impacts (u8, padded to 4), zones (u16): as `touch` of the server writes them, after their count. */
export function readTouch(buffer: ArrayBuffer, offset = 0): { touch: Touch; end: number } {
  const count = new DataView(buffer).getUint32(offset, true);
  const vertices = new Uint32Array(buffer, offset + 4, count);
  const impactsAt = offset + 4 + 4 * count;
  const impacts = new Uint8Array(buffer, impactsAt, count);
  const zonesAt = impactsAt + 4 * Math.ceil(count / 4);
  const zones = new Uint16Array(buffer, zonesAt, count);
  return { touch: { vertices, impacts, zones }, end: zonesAt + 4 * Math.ceil(count / 2) };
}

/** Answers that were asked for, the oldest forgotten beyond a size. */
class Memory<T> {
  private held = new Map<number, { value: T; bytes: number }>();
  private asked = new Set<number>();
  /** What did not come, and is not asked for again before [`retry`]. */
  private failed = new Map<number, string>();
  private bytes = 0;
  constructor(
    private load: (n: number) => Promise<{ value: T; bytes: number }>,
    private limit: number,
    private arrived: () => void,
  ) {}

  get(n: number): T | undefined {
    const item = this.held.get(n);
    if (item === undefined) this.ask(n);
    return item?.value;
  }

  ask(n: number): void {
    if (this.held.has(n) || this.asked.has(n) || this.failed.has(n) || this.asked.size > 8) return;
    this.asked.add(n);
    this.load(n)
      .then((item) => {
        this.held.set(n, item);
        this.bytes += item.bytes;
        for (const [old, { bytes }] of this.held) {
          if (this.bytes <= this.limit || this.held.size < 3) break;
          this.held.delete(old);
          this.bytes -= bytes;
        }
      })
      .catch((error) => this.failed.set(n, error instanceof Error ? error.message : String(error)))
      .finally(() => {
        this.asked.delete(n);
        this.arrived();
      });
  }

  failure(): string | undefined {
    return this.failed.values().next().value;
  }

  /** Whether there was something that did not come. */
  retry(): boolean {
    const isAny = this.failed.size > 0;
    this.failed.clear();
    return isAny;
  }
}

async function get(path: string): Promise<Response> {
  const answer = await fetch(path, { cache: "no-store" }).catch(() => {
    throw new Error("This page gets no answer: is `percale view` still running?");
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}

const MEMORY_BYTES = 400e6;
const AHEAD = 4;

/** Frames of a server, asked for when they are looked at. */
export class Served implements Feed {
  private frames: Memory<Float32Array>;
  private touches: Memory<Touch>;
  private curves: Memory<Curve[]>;
  private lost: string | null = null;

  private constructor(
    public meta: Meta,
    public faces: Uint32Array,
    public rest: Float32Array,
    arrived: () => void,
  ) {
    this.frames = new Memory(async (n) => {
      const value = new Float32Array(await (await get(`data/frame/${n}`)).arrayBuffer());
      return { value, bytes: value.byteLength };
    }, MEMORY_BYTES, arrived);
    this.touches = new Memory(async (n) => {
      const buffer = await (await get(`data/touch/${n}`)).arrayBuffer();
      return { value: readTouch(buffer).touch, bytes: buffer.byteLength };
    }, MEMORY_BYTES / 8, arrived);
    this.curves = new Memory(async (n) => {
      const text = await (await get(`data/paths/${n}`)).text();
      return { value: JSON.parse(text) as Curve[], bytes: text.length };
    }, MEMORY_BYTES / 8, arrived);
  }

  static async open(arrived: () => void): Promise<Served> {
    const meta = (await (await get("data/scene")).json()) as Meta;
    const faces = new Uint32Array(await (await get("data/faces")).arrayBuffer());
    const rest = new Float32Array(await (await get("data/frame/0")).arrayBuffer());
    return new Served(meta, faces, rest, arrived);
  }

  frame(n: number): Float32Array | undefined {
    const found = this.frames.get(n);
    for (let k = 1; k <= AHEAD && n + k < this.meta.frames; k++) this.frames.ask(n + k);
    return found;
  }

  touch(n: number): Touch | undefined {
    return this.touches.get(n);
  }

  paths(n: number): Curve[] | undefined {
    return this.curves.get(n);
  }

  get failure(): string | null {
    return this.lost ?? this.frames.failure() ?? this.touches.failure() ?? this.curves.failure() ?? null;
  }

  async refresh(): Promise<boolean> {
    const { meta } = this;
    let news: Pick<Meta, "run" | "written" | "frames" | "complete" | "stopped" | "reports">;
    try {
      news = await (await get(`data/news/${meta.reports.length}`)).json();
    } catch (error) {
      const isNew = this.lost === null;
      this.lost = error instanceof Error ? error.message : String(error);
      return isNew;
    }
    if (news.run !== meta.run) {
      location.reload(); // nothing of what the page has is of this run
      return false;
    }
    const isRetried = [this.frames.retry(), this.touches.retry(), this.curves.retry()].includes(true);
    const isNew = news.frames !== meta.frames || news.complete !== meta.complete || news.written !== meta.written || this.lost !== null || isRetried;
    const { frames, complete, written, stopped, reports } = news;
    Object.assign(meta, { frames, complete, written, stopped });
    meta.reports.push(...reports);
    this.lost = null;
    return isNew;
  }
}

/** What the page carries inside: positions as whole numbers of 16 bits, as differences from frame to frame, compressed. */
interface Inside {
  meta: Meta;
  faces: { bytes: number };
  /** For each body: the smallest corner of its box over all frames, the size of one unit, and whether it ever moves. */
  boxes: { low: number[]; unit: number[]; moves: boolean }[];
  touches: number;
  paths: Curve[][];
}

async function unpack(id: string): Promise<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const element of document.querySelectorAll(`script[data-part="${id}"]`)) {
    const text = atob(element.textContent ?? "");
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    parts.push(bytes);
    element.remove();
  }
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Frames that lie in the page. */
export class Contained implements Feed {
  readonly failure = null;
  meta: Meta;
  rest: Float32Array;
  private units: Uint16Array[];
  private out: Float32Array;

  private constructor(
    private inside: Inside,
    public faces: Uint32Array,
    packed: Uint8Array,
    private touched: Touch[],
  ) {
    this.meta = inside.meta;
    const { bodies, frames } = this.meta;
    this.out = new Float32Array(3 * (bodies.at(-1)?.vertices[1] ?? 0));
    // frame after frame, of each body that moves (of all bodies in the first): low bytes, then high bytes of the differences
    this.units = bodies.map((body, b) => {
      const count = 3 * (body.vertices[1] - body.vertices[0]);
      return new Uint16Array(count * (inside.boxes[b].moves ? frames : 1));
    });
    let at = 0;
    for (let n = 0; n < frames; n++) {
      bodies.forEach((body, b) => {
        if (n > 0 && !inside.boxes[b].moves) return;
        const count = 3 * (body.vertices[1] - body.vertices[0]);
        const units = this.units[b];
        const here = n * count;
        for (let i = 0; i < count; i++) {
          const difference = packed[at + i] | (packed[at + count + i] << 8);
          units[here + i] = (n > 0 ? units[here - count + i] : 0) + difference;
        }
        at += 2 * count;
      });
    }
    this.rest = this.frame(0).slice();
  }

  static async open(): Promise<Contained> {
    const inside = JSON.parse(document.getElementById("percale-scene")?.textContent ?? "null") as Inside;
    const faces = new Uint32Array(await unpack("faces"));
    const packed = new Uint8Array(await unpack("frames"));
    const buffer = await unpack("touches");
    const touched: Touch[] = [];
    for (let n = 0, at = 0; n < inside.touches; n++) {
      const { touch, end } = readTouch(buffer, at);
      touched.push(touch);
      at = end;
    }
    return new Contained(inside, faces, packed, touched);
  }

  frame(n: number): Float32Array {
    this.meta.bodies.forEach((body, b) => {
      const { low, unit, moves } = this.inside.boxes[b];
      const units = this.units[b];
      const count = 3 * (body.vertices[1] - body.vertices[0]);
      const from = moves ? n * count : 0;
      const to = 3 * body.vertices[0];
      for (let i = 0; i < count; i += 3) {
        this.out[to + i] = low[0] + unit[0] * units[from + i];
        this.out[to + i + 1] = low[1] + unit[1] * units[from + i + 1];
        this.out[to + i + 2] = low[2] + unit[2] * units[from + i + 2];
      }
    });
    return this.out;
  }

  touch(n: number): Touch {
    return this.touched[n] ?? { vertices: new Uint32Array(), impacts: new Uint8Array(), zones: new Uint16Array() };
  }

  paths(n: number): Curve[] {
    return this.inside.paths[n] ?? [];
  }
}
