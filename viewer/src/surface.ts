// The arithmetic of a frame: normals, strain, colours. Typed arrays in, typed arrays out; nothing is allocated per frame.

/** Adds up the area-weighted normals of the faces in [first, end) at their vertices; the shader makes them unit vectors. */
export function normals(x: Float32Array, faces: Uint32Array, first: number, end: number, out: Float32Array, from: number, to: number): void {
  out.fill(0, 3 * from, 3 * to);
  for (let f = 3 * first; f < 3 * end; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ax = x[a], ay = x[a + 1], az = x[a + 2];
    const ux = x[b] - ax, uy = x[b + 1] - ay, uz = x[b + 2] - az;
    const vx = x[c] - ax, vy = x[c + 1] - ay, vz = x[c + 2] - az;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    out[a] += nx; out[a + 1] += ny; out[a + 2] += nz;
    out[b] += nx; out[b + 1] += ny; out[b + 2] += nz;
    out[c] += nx; out[c + 1] += ny; out[c + 2] += nz;
  }
}

/** The rest shape of each face laid into a plane: 1/p, q along, 1/height, so that a frame only multiplies. */
export function restShape(x: Float32Array, faces: Uint32Array): Float32Array {
  const rest = new Float32Array(faces.length);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const p = Math.hypot(ux, uy, uz);
    const q = (vx * ux + vy * uy + vz * uz) / p;
    const h = Math.sqrt(Math.max(vx * vx + vy * vy + vz * vz - q * q, 0));
    rest[f] = 1 / p; rest[f + 1] = q; rest[f + 2] = 1 / h;
  }
  return rest;
}

/** Largest principal stretch of faces in [first, end) minus 1, as the mean at their vertices; `count` has the faces of each vertex. Returns that of the face with the largest. */
export function strain(x: Float32Array, faces: Uint32Array, rest: Float32Array, first: number, end: number, count: Uint16Array, out: Float32Array, from: number, to: number): number {
  out.fill(0, from, to);
  let largest = 0;
  for (let f = 3 * first; f < 3 * end; f += 3) {
    const i = faces[f], j = faces[f + 1], k = faces[f + 2];
    const a = 3 * i, b = 3 * j, c = 3 * k;
    const ax = x[a], ay = x[a + 1], az = x[a + 2];
    const s = rest[f], q = rest[f + 1], t = rest[f + 2];
    const ux = (x[b] - ax) * s, uy = (x[b + 1] - ay) * s, uz = (x[b + 2] - az) * s;
    const vx = (x[c] - ax - q * ux) * t, vy = (x[c + 1] - ay - q * uy) * t, vz = (x[c + 2] - az - q * uz) * t;
    const g = ux * ux + uy * uy + uz * uz, h = vx * vx + vy * vy + vz * vz, m = ux * vx + uy * vy + uz * vz;
    const half = 0.5 * (g - h);
    const e = Math.sqrt(0.5 * (g + h) + Math.sqrt(half * half + m * m)) - 1;
    out[i] += e; out[j] += e; out[k] += e;
    if (e > largest) largest = e;
  }
  for (let v = from; v < to; v++) out[v] /= count[v] || 1;
  return largest;
}

const toLinear = (byte: number): number => {
  const s = byte / 255;
  return Math.round(255 * (s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4));
};

/** Slate at rest, through sand, to red: the colours of `percale render --strain`. */
export const STRAIN = [[58, 82, 139], [74, 151, 168], [224, 213, 150], [232, 138, 62], [178, 24, 33]];

/** 256 colours of values from 0 to 1, as light. */
export const RAMP: Uint8Array = (() => {
  const ramp = new Uint8Array(3 * 256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (STRAIN.length - 1);
    const k = Math.min(Math.floor(at), STRAIN.length - 2);
    for (let c = 0; c < 3; c++) ramp[3 * i + c] = toLinear(STRAIN[k][c] + (at - k) * (STRAIN[k + 1][c] - STRAIN[k][c]));
  }
  return ramp;
})();

export const linear = (rgb: number[]): number[] => rgb.map(toLinear);

/** A colour for a number, far from those of its neighbours: hues by the golden angle. */
export function hue(k: number): [number, number, number] {
  const h = (k * 137.508) % 360, l = 0.5 + 0.12 * ((k % 3) - 1);
  const f = (n: number): number => {
    const m = (n + h / 30) % 12;
    return Math.round(255 * (l - 0.55 * Math.min(l, 1 - l) * Math.max(-1, Math.min(m - 3, 9 - m, 1))));
  };
  return [f(0), f(8), f(4)];
}

/** Numbers of zones that stay the same while zones move on: each takes the number that most of its vertices had before, if no larger zone has it. */
export class ZoneNumbers {
  /** Number at each vertex, from 1; 0 where nothing touches. */
  private before: Uint16Array;
  private vote = new Uint16Array(0);
  private votes = new Uint32Array(0);
  private sizes = new Uint32Array(0);

  constructor(vertices: number) {
    this.before = new Uint16Array(vertices);
  }

  /** A number for each zone of a frame, by the zones of its vertices. */
  next(vertices: Uint32Array, zones: Uint16Array): Uint16Array {
    const { before } = this;
    let count = 0;
    for (const zone of zones) if (zone >= count) count = zone + 1;
    if (this.vote.length < count) {
      this.vote = new Uint16Array(2 * count);
      this.votes = new Uint32Array(2 * count);
      this.sizes = new Uint32Array(2 * count);
    }
    const { vote, votes, sizes } = this;
    votes.fill(0, 0, count);
    sizes.fill(0, 0, count);
    for (let i = 0; i < vertices.length; i++) {
      const zone = zones[i], was = before[vertices[i]];
      sizes[zone]++;
      if (was === 0) continue;
      // the majority, if there is one, is what is left of votes that cancel each other
      if (votes[zone] === 0) vote[zone] = was;
      if (vote[zone] === was) votes[zone]++;
      else votes[zone]--;
    }
    const numbers = new Uint16Array(count);
    const taken = new Set<number>();
    const bySize = Array.from(numbers.keys()).sort((a, b) => sizes[b] - sizes[a]);
    for (const zone of bySize) {
      if (votes[zone] > 0 && !taken.has(vote[zone])) taken.add((numbers[zone] = vote[zone]));
    }
    let free = 1;
    for (const zone of bySize) {
      if (numbers[zone] > 0) continue;
      while (taken.has(free)) free++;
      numbers[zone] = free++;
    }
    before.fill(0);
    for (let i = 0; i < vertices.length; i++) before[vertices[i]] = numbers[zones[i]];
    return numbers;
  }
}
