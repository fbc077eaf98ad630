// A simulation that runs while one looks: frames come over a websocket, wishes go back.
import { readTouch, type Curve, type Feed, type Meta, type Report, type Settings, type Touch } from "./feed";

/** Frames whose reports are kept for the plot. */
const KEPT = 1200;

export class Live implements Feed {
  frameNumber = 0;
  isRunning = false;
  failure: string | null = null;
  /** Frames per second of late, as they arrive. */
  rate = 0;
  /** What holds in the simulation. */
  settings?: Settings;
  /** Settings that were sent, and those that were answered. */
  private sets = [0, 0];
  private x?: Float32Array;
  private touched?: Touch;
  private curves: Curve[] = [];
  private times: number[] = [];

  private constructor(public meta: Meta, public faces: Uint32Array, public rest: Float32Array, private socket: WebSocket, private arrived: () => void) {
    this.settings = meta.settings;
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => this.take(event.data as ArrayBuffer);
    socket.onclose = (event) => {
      this.isRunning = false;
      this.failure = event.reason || "the connection to `percale play` has ended; start it again and load this page anew";
      this.arrived();
    };
  }

  static async open(arrived: () => void): Promise<Live> {
    const meta = (await (await fetch("data/scene")).json()) as Meta;
    const faces = new Uint32Array(await (await fetch("data/faces")).arrayBuffer());
    const rest = new Float32Array(await (await fetch("data/frame/0")).arrayBuffer());
    const socket = new WebSocket(`ws://${location.host}/live`);
    await new Promise((done, failed) => {
      socket.onopen = done;
      socket.onerror = () => failed(new Error("the live connection was refused"));
    });
    return new Live(meta, faces, rest, socket, arrived);
  }

  send(wish: Record<string, unknown>): void {
    if ("set" in wish) this.sets[0]++;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(wish));
  }

  /** Whether every setting that was sent has been answered. */
  get isSettled(): boolean {
    return this.sets[0] === this.sets[1];
  }

  /** Length of a JSON head, the head, positions (f32), what touches. */
  private take(buffer: ArrayBuffer): void {
    const length = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    let at = 4 + 4 * Math.ceil(length / 4);
    this.frameNumber = head.frame;
    this.isRunning = head.running;
    this.failure = head.failure;
    this.curves = head.paths;
    this.settings = head.settings;
    this.sets[1] = head.sets;
    const count = 3 * (this.meta.bodies.at(-1)?.vertices[1] ?? 0);
    this.x = new Float32Array(buffer, at, count);
    at += 4 * count;
    this.touched = readTouch(buffer, at).touch;
    const reports = this.meta.reports;
    if (head.report) reports.push(head.report as Report);
    if (head.frame === 0) reports.length = 0;
    if (reports.length > KEPT) reports.splice(0, reports.length - KEPT);
    const now = performance.now();
    this.times.push(now);
    while (now - this.times[0] > 2000) this.times.shift();
    this.rate = this.times.length > 1 ? (1000 * (this.times.length - 1)) / (now - this.times[0]) : 0;
    this.meta.frames = head.frame + 1;
    this.arrived();
    this.send({ ack: head.number });
  }

  frame(): Float32Array | undefined {
    return this.x;
  }

  touch(): Touch | undefined {
    return this.touched;
  }

  paths(): Curve[] {
    return this.curves;
  }
}
