// The picture: one mesh for each body, lights, camera, lines of intersection paths.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import type { Body, Curve, Meta, Touch } from "./feed";
import { RAMP, ZoneNumbers, hue, linear, normals, restShape, strain } from "./surface";

export const MODES = {
  cloth: "cloth, both sides",
  sides: "front and back",
  body: "body",
  strain: "strain",
  impacts: "impacts",
  zones: "zones",
} as const;
export type Mode = keyof typeof MODES;

/** Modes in which vertices have colours of their own. */
const BY_VERTEX: Mode[] = ["strain", "impacts", "zones"];
const FRONT = [70, 116, 170], BACK = [226, 130, 60];
const WHITE = [255, 255, 255];
/** Colours of bodies, far from each other; further bodies have hues. */
const BODIES = [[70, 116, 170], [226, 130, 60], [82, 156, 116], [190, 96, 132], [204, 172, 78], [110, 100, 178], [92, 170, 196], [150, 104, 76]];
export const NEAR = [232, 200, 110], IMPACT = [200, 30, 40];
const PLAIN = [176, 180, 186];
const [LINEAR_PLAIN, LINEAR_NEAR, LINEAR_IMPACT] = [PLAIN, NEAR, IMPACT].map(linear);
/** Faces of obstacles that meet at more than this many degrees have an edge between them, and are not drawn as one smooth surface. */
const CREASE = 40;
/** Edges of triangles are drawn so much nearer to the eye, as a share of their distance: else faces would hide half of each line. */
const NEARER = 0.002;

interface Part {
  body: Body;
  mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  wire: THREE.Mesh;
  sides: { uFront: { value: THREE.Color }; uBack: { value: THREE.Color } };
  x: THREE.BufferAttribute;
  n: THREE.BufferAttribute;
  colour: THREE.BufferAttribute;
}

/** Whether there is no graphics card: then pictures are made with less effort, for they take time from everything else. */
function drawsInSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  const name = gl && (gl.getExtension("WEBGL_debug_renderer_info") ? gl.getParameter(0x9246) : gl.getParameter(gl.RENDERER));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(String(name));
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly camera: THREE.PerspectiveCamera;
  readonly controls: OrbitControls;
  readonly renderer: THREE.WebGLRenderer;
  mode: Mode = "cloth";
  /** Strain that has the last colour, as a share. */
  strainTop = 0.1;
  private parts: Part[] = [];
  private x: Float32Array<ArrayBuffer>;
  private n: Float32Array<ArrayBuffer>;
  private colours: Uint8Array<ArrayBuffer>;
  private strains: Float32Array;
  private faceCount: Uint16Array;
  private rest: Float32Array;
  private isFirst = true;
  private isCloth: Uint8Array;
  private zoneNumbers: ZoneNumbers;
  private zoneColours: number[][] = [];
  private lines = new THREE.Group();
  private needed = true;

  constructor(private canvas: HTMLCanvasElement, meta: Meta, private faces: Uint32Array, rest: Float32Array) {
    this.rest = restShape(rest, faces);
    const count = meta.bodies.at(-1)?.vertices[1] ?? 0;
    this.x = new Float32Array(3 * count);
    this.n = new Float32Array(3 * count);
    this.colours = new Uint8Array(3 * count).fill(255);
    this.strains = new Float32Array(count);
    this.faceCount = new Uint16Array(count);
    for (const v of faces) this.faceCount[v]++;
    this.zoneNumbers = new ZoneNumbers(count);
    this.isCloth = new Uint8Array(count);
    for (const { kind, vertices } of meta.bodies) this.isCloth.fill(kind === "cloth" ? 1 : 0, vertices[0], vertices[1]);

    const isSoftware = drawsInSoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !isSoftware, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(isSoftware ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    if (isSoftware) this.renderer.shadowMap.type = THREE.BasicShadowMap;
    const texels = isSoftware ? 512 : 2048;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.scene.background = new THREE.Color(0xeef0f2);
    this.camera = new THREE.PerspectiveCamera(meta.camera.fov, 1, 0.01, 100);
    this.camera.position.fromArray(meta.camera.eye);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.target.fromArray(meta.camera.target);
    this.controls.addEventListener("change", () => this.draw());
    this.controls.update();

    const span = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = span / 200;
    this.camera.far = span * 50;
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x9aa0a8, 1.6));
    const sun = new THREE.DirectionalLight(0xffffff, 1.9);
    sun.position.copy(this.controls.target).add(new THREE.Vector3(-0.45, 1, 0.5).multiplyScalar(1.2 * span));
    sun.target.position.copy(this.controls.target);
    sun.castShadow = true;
    sun.shadow.mapSize.set(texels, texels);
    const reach = 0.6 * span;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.05 * span, far: 4 * span });
    sun.shadow.normalBias = (2 * 2 * reach) / texels; // two texels along the normal: no acne on cloth
    sun.shadow.radius = 2;
    this.scene.add(sun, sun.target, this.lines);
    meta.bodies.forEach((body, k) => this.add(body, k));
    this.setMode("cloth");
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
    const loop = (): void => {
      if (this.needed) {
        this.needed = false;
        this.renderer.render(this.scene, this.camera);
      }
      requestAnimationFrame(loop);
    };
    requestAnimationFrame(loop);
  }

  private add(body: Body, k: number): void {
    const [from, to] = body.vertices;
    const geometry = new THREE.BufferGeometry();
    const x = new THREE.BufferAttribute(this.x.subarray(3 * from, 3 * to), 3).setUsage(THREE.DynamicDrawUsage);
    const n = new THREE.BufferAttribute(this.n.subarray(3 * from, 3 * to), 3).setUsage(THREE.DynamicDrawUsage);
    const colour = new THREE.BufferAttribute(this.colours.subarray(3 * from, 3 * to), 3, true);
    geometry.setAttribute("position", x).setAttribute("normal", n).setAttribute("color", colour);
    geometry.setIndex(new THREE.BufferAttribute(this.faces.slice(3 * body.faces[0], 3 * body.faces[1]).map((v) => v - from), 1));
    // no polygon offset: it would push steep faces behind what they lie on
    const material = new THREE.MeshStandardMaterial({ side: THREE.DoubleSide, vertexColors: true, roughness: 0.9, metalness: 0 });
    const sides = { uFront: { value: new THREE.Color() }, uBack: { value: new THREE.Color() } };
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, sides);
      shader.fragmentShader = shader.fragmentShader
        .replace("void main() {", "uniform vec3 uFront;\nuniform vec3 uBack;\nvoid main() {")
        .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= gl_FrontFacing ? uFront : uBack;");
    };
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = !body.ground;
    mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    const lines = new THREE.MeshBasicMaterial({ color: 0x1c2430, wireframe: true, transparent: true, opacity: 0.45 });
    lines.onBeforeCompile = (shader) => {
      const nearer = `gl_Position = projectionMatrix * vec4(${1 - NEARER} * mvPosition.xyz, 1.0);`;
      shader.vertexShader = shader.vertexShader.replace("#include <project_vertex>", `#include <project_vertex>\n${nearer}`);
    };
    const wire = new THREE.Mesh(geometry, lines);
    wire.frustumCulled = false;
    wire.visible = false;
    mesh.userData.number = k;
    this.scene.add(mesh, wire);
    this.parts.push({ body, mesh, wire, sides, x, n, colour });
  }

  private resize(): void {
    const { clientWidth: w, clientHeight: h } = this.canvas.parentElement!;
    this.renderer.setSize(w, h, false);
    this.camera.aspect = w / Math.max(h, 1);
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  /** Has the picture drawn before the next one is shown. */
  draw(): void {
    this.needed = true;
  }

  /** Front and back of a body as they are painted; none if its vertices have colours of their own. */
  painted(k: number): [readonly number[], readonly number[]] | undefined {
    const { mode } = this;
    const { body } = this.parts[k];
    const isByVertex = BY_VERTEX.includes(mode);
    if (isByVertex && body.kind === "cloth") return undefined;
    if (isByVertex || body.ground || mode === "cloth") return [body.front, body.back];
    if (mode === "sides") return [FRONT, BACK];
    const colour = BODIES[k] ?? hue(k);
    return [colour, colour];
  }

  setMode(mode: Mode): void {
    this.mode = mode;
    this.parts.forEach(({ sides, colour }, k) => {
      const painted = this.painted(k);
      const [front, back] = painted ?? [WHITE, WHITE];
      sides.uFront.value.setRGB(front[0] / 255, front[1] / 255, front[2] / 255, THREE.SRGBColorSpace);
      sides.uBack.value.setRGB(back[0] / 255, back[1] / 255, back[2] / 255, THREE.SRGBColorSpace);
      if (painted) {
        (colour.array as Uint8Array).fill(255);
        colour.needsUpdate = true;
      }
    });
    this.draw();
  }

  setVisible(k: number, isVisible: boolean, isWire: boolean): void {
    this.parts[k].mesh.visible = isVisible;
    this.parts[k].wire.visible = isVisible && isWire;
    this.draw();
  }

  /** Shows positions; what did not move is not computed or sent again. */
  show(next: Float32Array): void {
    const { x, faces } = this;
    const { isFirst } = this;
    this.isFirst = false;
    for (const { body, x: attribute, n, mesh } of this.parts) {
      const [from, to] = [3 * body.vertices[0], 3 * body.vertices[1]];
      let isMoved = isFirst;
      for (let i = from; i < to && !isMoved; i++) {
        isMoved = x[i] !== next[i];
      }
      if (!isMoved) continue;
      x.set(next.subarray(from, to), from);
      attribute.needsUpdate = true;
      normals(x, faces, body.faces[0], body.faces[1], this.n, body.vertices[0], body.vertices[1]);
      n.needsUpdate = true;
      mesh.geometry.boundingSphere = null;
      if (isFirst && body.kind === "obstacle" && this.hasCreases(body)) mesh.material.flatShading = true;
    }
    this.draw();
  }

  private hasCreases(body: Body): boolean {
    const other = new Map<number, number[]>();
    const { x, faces } = this;
    const count = body.vertices[1];
    const limit = Math.cos((CREASE * Math.PI) / 180);
    for (let f = body.faces[0]; f < body.faces[1]; f++) {
      const c = [0, 1, 2].map((i) => faces[3 * f + i]);
      const [a, b, d] = c.map((v) => new THREE.Vector3(x[3 * v], x[3 * v + 1], x[3 * v + 2]));
      const n = b.sub(a).cross(d.sub(a)).normalize();
      for (let i = 0; i < 3; i++) {
        const [p, q] = [c[i], c[(i + 1) % 3]];
        const key = Math.min(p, q) * count + Math.max(p, q);
        const before = other.get(key);
        if (before && before[0] * n.x + before[1] * n.y + before[2] * n.z < limit) return true;
        other.set(key, [n.x, n.y, n.z]);
      }
    }
    return false;
  }

  private zoneColour(number: number): number[] {
    return (this.zoneColours[number] ??= linear(hue(number - 1)));
  }

  /** Colours of vertices for the mode at hand; the largest strain of a face. */
  colour(touch: Touch | undefined): number {
    let largest = 0;
    const { colours, strains } = this;
    if (this.mode === "strain") {
      const scale = 255 / this.strainTop;
      for (const { body, colour } of this.parts) {
        if (body.kind !== "cloth") continue;
        const [from, to] = body.vertices;
        const most = strain(this.x, this.faces, this.rest, body.faces[0], body.faces[1], this.faceCount, strains, from, to);
        if (most > largest) largest = most;
        for (let v = from; v < to; v++) {
          const at = 3 * Math.min(Math.max(Math.round(strains[v] * scale), 0), 255);
          colours[3 * v] = RAMP[at];
          colours[3 * v + 1] = RAMP[at + 1];
          colours[3 * v + 2] = RAMP[at + 2];
        }
        colour.needsUpdate = true;
      }
    } else if (this.mode === "impacts" || this.mode === "zones") {
      const isZones = this.mode === "zones";
      const isCloth = this.isCloth;
      for (const { body, colour } of this.parts) {
        if (body.kind !== "cloth") continue;
        for (let i = 3 * body.vertices[0]; i < 3 * body.vertices[1]; i += 3) {
          colours[i] = LINEAR_PLAIN[0];
          colours[i + 1] = LINEAR_PLAIN[1];
          colours[i + 2] = LINEAR_PLAIN[2];
        }
        colour.needsUpdate = true;
      }
      const numbers = touch && isZones ? this.zoneNumbers.next(touch.vertices, touch.zones) : [];
      for (let i = 0; touch && i < touch.vertices.length; i++) {
        const v = touch.vertices[i];
        if (isCloth[v] === 0) continue;
        const rgb = isZones ? this.zoneColour(numbers[touch.zones[i]]) : touch.impacts[i] > 0 ? LINEAR_IMPACT : LINEAR_NEAR;
        colours[3 * v] = rgb[0];
        colours[3 * v + 1] = rgb[1];
        colours[3 * v + 2] = rgb[2];
      }
    }
    this.draw();
    return largest;
  }

  /** Lines of intersection paths, seen through the cloth. */
  showPaths(curves: Curve[]): void {
    for (const line of this.lines.children as LineSegments2[]) {
      line.geometry.dispose();
      line.material.dispose();
    }
    this.lines.clear();
    for (const { colour, points } of curves) {
      const ends: number[] = [];
      for (let i = 0; i + 5 < points.length; i += 3) ends.push(...points.slice(i, i + 6));
      if (ends.length === 0) continue;
      const [r, g, b] = colour;
      const material = new LineMaterial({ color: new THREE.Color().setRGB(r / 255, g / 255, b / 255, THREE.SRGBColorSpace), linewidth: 3, depthTest: false, transparent: true });
      const line = new LineSegments2(new LineSegmentsGeometry().setPositions(ends), material);
      line.renderOrder = 1;
      line.frustumCulled = false;
      this.lines.add(line);
    }
    this.draw();
  }

  /** The cloth vertex under a point of the canvas, nothing in front of it, and where it is. */
  pick(clientX: number, clientY: number): { vertex: number; at: THREE.Vector3 } | undefined {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const hit = ray.intersectObjects(this.parts.filter((p) => p.mesh.visible).map((p) => p.mesh), false)[0];
    const part = hit && this.parts[hit.object.userData.number];
    if (!hit?.face || part.body.kind !== "cloth") return undefined;
    const place = (v: number): THREE.Vector3 => new THREE.Vector3().fromBufferAttribute(part.x, v);
    const corners = [hit.face.a, hit.face.b, hit.face.c].sort((a, b) => place(a).distanceTo(hit.point) - place(b).distanceTo(hit.point));
    return { vertex: part.body.vertices[0] + corners[0], at: hit.point };
  }

  /** The point under the mouse on the plane through `through` that faces the camera. */
  onPlane(clientX: number, clientY: number, through: THREE.Vector3): THREE.Vector3 {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const normal = this.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through);
    return ray.ray.intersectPlane(plane, new THREE.Vector3()) ?? through.clone();
  }

  /** Where a point of the scene is on the page, in pixels; for tests. */
  project(x: number[]): [number, number] {
    const p = new THREE.Vector3().fromArray(x).project(this.camera);
    const box = this.canvas.getBoundingClientRect();
    return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
  }

  vertex(v: number): number[] {
    return Array.from(this.x.subarray(3 * v, 3 * v + 3));
  }
}
