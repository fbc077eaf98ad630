#!/usr/bin/env python3
"""Percale, Newton (VBD), Blender and PyBullet on the same scenes, in one run: CPU seconds per frame, and what crosses.

    python bench/peers/scenes.py [--peer percale ...] [--scene drop twist] [--size 50 100] [--frames N] [--limit S] [--json FILE]

Needs the package `percale` (`pip install ./python`) and what each peer is: newton with warp-lang, bpy, pybullet. A peer that
is not there is named and left out. Each run is a process of its own; CPU time is that of all its threads while it steps,
without setting up and without the first frame (which compiles, in Newton). Every tenth frame of everybody, and the last, is
counted by one checker, the exact static test of Percale: pairs of crossing triangles without a common vertex, of the cloth
with itself. A run ends at its last frame or when its limit of CPU seconds is spent.

drop: 1 m of cloth, 0.2 kg/m², falls 0.1 m on a ball (radius 0.25 m) on a floor, friction 0.3. twist: both ends turn twice
against each other within 4 s, no gravity. 60 frames per second. Fabrics are those of each peer's own examples, for their
numbers do not carry over: this compares what people get, not one set of equations.
"""

import argparse
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

FPS, SIDE, DENSITY, GRAVITY, RADIUS, FRICTION, THICKNESS = 60, 1.0, 0.2, 9.81, 0.25, 0.3, 0.003
FRAMES = {"drop": 120, "twist": 240}
TURN = 2 * math.pi * 2 / 4  # radians per second of each end
MODULES = {"percale": "percale", "newton": "newton", "blender": "bpy", "pybullet": "pybullet"}


def sheet(scene, n):
    """Positions, Z up, and faces with alternating diagonals; some noise breaks the symmetry."""
    x, y = np.meshgrid(*[np.linspace(-SIDE / 2, SIDE / 2, n)] * 2)
    noise = np.random.default_rng(1).uniform(-1e-4, 1e-4, n * n)
    if scene == "twist":
        noise[ends(n)] = 0
    V = np.column_stack([x.ravel(), y.ravel(), noise])
    if scene == "drop":
        V += [0.05, 0.03, 2 * RADIUS + 0.1]
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n - 1), np.arange(n - 1)))
    a = j * n + i
    b, c, d = a + 1, a + n, a + n + 1
    even = ((i + j) % 2 == 0)[:, None]
    F = np.where(even, np.column_stack([a, b, d, a, d, c]), np.column_stack([a, b, c, b, d, c])).reshape(-1, 3)
    return V, F


def ends(n):
    left = np.arange(n) * n
    return np.concatenate([left, left + n - 1])


def turned(V, n, t):
    """Where the two ends are at a time."""
    p = V[ends(n)].copy()
    angle = TURN * min(t, 4.0) * np.repeat([1.0, -1.0], n)
    y, z = p[:, 1].copy(), p[:, 2].copy()
    p[:, 1], p[:, 2] = np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z
    return p


def run_percale(scene, n, V, F):
    import percale

    y_up = [0, 2, 1]
    cloth = {"name": "cloth", "shape": {"kind": "mesh", "positions": V[:, y_up], "faces": F[:, ::-1]}}
    world = {"frames": FRAMES[scene], "thickness": THICKNESS, "friction": FRICTION, "cloth": [cloth]}
    if scene == "drop":
        cloth["fabric"] = {"like": "cotton", "density": DENSITY}
        ball = {"name": "ball", "position": [0, RADIUS, 0], "shape": {"kind": "sphere", "radius": RADIUS, "subdivisions": 5}}
        floor = {"name": "floor", "shape": {"kind": "plane", "size": [6, 6]}}
        world["obstacle"] = [ball, floor]
    else:
        # Z up has become Y up by a swap, which turns the sense of rotations
        cloth["fabric"] = {"like": "cotton", "density": DENSITY}
        world["dynamics"] = {"gravity": [0, 0, 0]}
        speed = math.degrees(TURN)
        cloth["pin"] = [
            {"region": {"kind": "edge", "towards": side}, "motion": [{"kind": "rotating", "axis": [1, 0, 0], "speed": sign * speed}]}
            for side, sign in (("-x", -1), ("+x", 1))
        ]
    simulation = percale.Simulation(world)
    return f"percale {percale.__version__}", lambda _: simulation.step(), lambda: simulation.positions[: n * n][:, y_up]


def run_newton(scene, n, V, F):
    import newton
    import warp as wp

    wp.config.quiet = True
    wp.set_device("cpu")
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0.0, 0.0, -GRAVITY if scene == "drop" else 0.0))
    if scene == "drop":
        builder.add_ground_plane()
        builder.add_shape_sphere(-1, xform=wp.transform(wp.vec3(0.0, 0.0, RADIUS), wp.quat_identity()), radius=RADIUS)
    builder.add_cloth_mesh(
        pos=wp.vec3(0.0, 0.0, 0.0), rot=wp.quat_identity(), vel=wp.vec3(0.0, 0.0, 0.0), scale=1.0, density=DENSITY,
        vertices=[wp.vec3(*map(float, p)) for p in V], indices=F.ravel().tolist(), particle_radius=THICKNESS,
        tri_ke=1e3, tri_ka=1e3, tri_kd=2e-4, edge_ke=1e-3, edge_kd=1e-2,
    )  # fmt: skip
    builder.color()
    model = builder.finalize()
    model.soft_contact_ke, model.soft_contact_kd, model.soft_contact_mu = 1e3, 1e-1, FRICTION
    pins = ends(n)
    if scene == "twist":
        flags = model.particle_flags.numpy()
        flags[pins] &= ~int(newton.ParticleFlags.ACTIVE)
        model.particle_flags = wp.array(flags, dtype=model.particle_flags.dtype)
    solver = newton.solvers.SolverVBD(
        model, iterations=4, particle_enable_self_contact=True, particle_self_contact_margin=0.002,
        particle_self_contact_gap=0.0015, particle_vertex_contact_buffer_size=64, particle_edge_contact_buffer_size=128,
    )  # fmt: skip
    states, control = [model.state(), model.state()], model.control()
    pipeline = newton.CollisionPipeline(model)
    contacts, substeps = pipeline.contacts(), 10
    dt = 1 / FPS / substeps

    def step(frame):
        pipeline.collide(states[0], contacts)
        solver.rebuild_bvh(states[0])
        for k in range(substeps):
            states[0].clear_forces()
            if scene == "twist":
                place = turned(V, n, (frame - 1) / FPS + (k + 1) * dt).astype(np.float32)
                for state in states:
                    q = state.particle_q.numpy()
                    q[pins] = place
                    state.particle_q.assign(q)
            solver.step(states[0], states[1], control, contacts, dt)
            states.reverse()

    return f"newton {newton.__version__}, warp {wp.__version__}, VBD 10 x 4", step, lambda: states[0].particle_q.numpy()


def run_blender(scene, n, V, F):
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    world = bpy.context.scene
    world.render.fps, world.frame_start, world.frame_end = FPS, 1, FRAMES[scene] + 1
    mesh = bpy.data.meshes.new("cloth")
    mesh.from_pydata(V.tolist(), [], F.tolist())
    cloth = bpy.data.objects.new("cloth", mesh)
    world.collection.objects.link(cloth)
    if scene == "twist":
        world.use_gravity = False
        pins = [int(v) for v in ends(n)]
        cloth.vertex_groups.new(name="pin").add(pins, 1.0, "REPLACE")
        for side, sign in ((pins[:n], 1), (pins[n:], -1)):
            empty = bpy.data.objects.new("end", None)
            world.collection.objects.link(empty)
            driver = empty.driver_add("rotation_euler", 0).driver
            driver.expression = f"{sign * TURN} * min(frame - 1, {4 * FPS}) / {FPS}"
            hook = cloth.modifiers.new("hook", "HOOK")
            hook.object = empty
            hook.vertex_indices_set(side)
    modifier = cloth.modifiers.new("cloth", "CLOTH")
    settings, contact = modifier.settings, modifier.collision_settings
    settings.quality, settings.mass, settings.air_damping = 10, DENSITY * SIDE**2 / n**2, 0.0  # kg of each vertex
    settings.tension_stiffness = settings.compression_stiffness = 15  # cotton
    settings.shear_stiffness, settings.bending_stiffness = 5, 0.5
    if scene == "twist":
        settings.vertex_group_mass, settings.pin_stiffness = "pin", 50
    contact.collision_quality, contact.use_self_collision = 4, True
    contact.distance_min = contact.self_distance_min = THICKNESS
    modifier.point_cache.frame_end = FRAMES[scene] + 1
    if scene == "drop":
        bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=6, radius=RADIUS, location=(0, 0, RADIUS))
        things = [bpy.context.object]
        bpy.ops.mesh.primitive_plane_add(size=6)
        for thing in [*things, bpy.context.object]:
            thing.modifiers.new("collision", "COLLISION")
            thing.collision.thickness_outer, thing.collision.cloth_friction = 0.001, 5
    world.frame_set(1)

    def positions():
        evaluated = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
        x = np.empty(3 * n * n, np.float32)
        evaluated.to_mesh().vertices.foreach_get("co", x)
        evaluated.to_mesh_clear()
        return x.reshape(-1, 3)

    return f"blender {bpy.app.version_string}, quality 10, collision 4, true mass", lambda frame: world.frame_set(frame + 1), positions


def run_pybullet(scene, n, V, F):
    import pybullet as p

    substeps = 10
    p.connect(p.DIRECT)
    p.resetSimulation(p.RESET_USE_DEFORMABLE_WORLD)
    p.setGravity(0, 0, -GRAVITY if scene == "drop" else 0)
    p.setTimeStep(1 / FPS / substeps)
    if scene == "drop":
        p.createMultiBody(0, p.createCollisionShape(p.GEOM_SPHERE, radius=RADIUS), basePosition=[0, 0, RADIUS])
        p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cloth.obj")
        with open(path, "w") as file:
            file.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in V)
            file.writelines(f"f {a} {b} {c}\n" for a, b, c in F + 1)
        cloth = p.loadSoftBody(
            path, mass=DENSITY * SIDE**2, useNeoHookean=0, useMassSpring=1, useBendingSprings=1, springElasticStiffness=20,
            springDampingStiffness=0.01, springBendingStiffness=0.05, springDampingAllDirections=1, frictionCoeff=FRICTION,
            useSelfCollision=1, useFaceContact=1, collisionMargin=THICKNESS,
        )  # fmt: skip

    def raw():
        return np.array(p.getMeshData(cloth, -1, flags=p.MESH_DATA_SIMULATION_MESH)[1])

    start = raw()
    order = np.array([np.argmin(((start - place) ** 2).sum(1)) for place in V])
    assert len(set(order)) == len(V) == len(start), "its vertices are ours, in another order"
    bars = []
    if scene == "twist":
        for side, sign in ((ends(n)[:n], 1), (ends(n)[n:], -1)):
            centre = np.array([V[side[0], 0], 0, 0])
            bar = p.createMultiBody(1000, p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.001, 0.5, 0.001]), basePosition=centre.tolist())
            p.setCollisionFilterGroupMask(bar, -1, 0, 0)
            for v in side:
                p.createSoftBodyAnchor(cloth, int(order[v]), bar, -1, (V[v] - centre).tolist())
            bars.append((bar, sign, centre.tolist()))

    def step(frame):
        for k in range(substeps):
            angle = TURN * ((frame - 1) / FPS + k / FPS / substeps)
            for bar, sign, centre in bars:
                p.resetBasePositionAndOrientation(bar, centre, p.getQuaternionFromEuler([sign * angle, 0, 0]))
                p.resetBaseVelocity(bar, [0, 0, 0], [sign * TURN, 0, 0])
            p.stepSimulation()

    return f"pybullet {p.getAPIVersion()}, 10 substeps", step, lambda: raw()[order]


def one(peer, scene, n, frames, limit):
    """Runs a peer in this process, and prints what came of it as JSON."""
    import percale

    V, F = sheet(scene, n)
    version, step, positions = globals()[f"run_{peer}"](scene, n, V, F)
    spent, crossing, ended = [], {}, "all frames"
    for frame in range(1, frames + 1):
        began = time.process_time()
        try:
            step(frame)
        except percale.Error as error:
            ended = f"stopped at frame {frame}: {error}"
            break
        x = np.array(positions(), np.float64)
        spent.append(time.process_time() - began)
        is_over = sum(spent[1:]) > limit
        if frame % 10 == 0 or frame == frames or is_over:
            if not np.isfinite(x).all() or np.abs(x).max() > 50:
                ended = f"exploded by frame {frame}"
                break
            pairs = percale.intersections(x, F)
            apart = [len(set(F[a]) & set(F[b])) == 0 for a, b in pairs]
            crossing[frame] = sum(apart)
        if is_over:
            ended = f"limit of {limit:g} CPU s"
            break
    later = spent[1:] or spent
    print(json.dumps({
        "peer": peer, "version": version, "scene": scene, "size": n, "frames": len(spent), "ended": ended,
        "cpu_seconds_per_frame": sum(later) / max(len(later), 1), "most": max(later, default=0.0),
        "crossing_last": crossing[max(crossing)] if crossing else None, "crossing_most": max(crossing.values(), default=None),
    }))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", nargs="+", default=list(MODULES), choices=MODULES)
    parser.add_argument("--scene", nargs="+", default=list(FRAMES), choices=FRAMES)
    parser.add_argument("--size", nargs="+", type=int, default=[50, 100], help="vertices on a side")
    parser.add_argument("--frames", type=int, help="at most; all of a scene by default")
    parser.add_argument("--limit", type=float, default=400, help="CPU seconds of one run")
    parser.add_argument("--json", help="file that each result is appended to, a line each")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        return one(options.peer[0], options.scene[0], options.size[0], options.frames, options.limit)
    print(f"{'peer':<10} {'scene':<6} {'size':>4} {'frames':>6} {'CPU s/frame':>11} {'most':>7} {'crossing: last':>14} {'most':>6}  ended; version")
    for scene in options.scene:
        for n in options.size:
            for peer in options.peer:
                if importlib.util.find_spec(MODULES[peer]) is None:
                    print(f"{peer:<10} {scene:<6} {n:>4}  not run: the module {MODULES[peer]} is not installed")
                    continue
                frames = min(options.frames or FRAMES[scene], FRAMES[scene])
                command = [sys.executable, __file__, "--one", "--peer", peer, "--scene", scene, "--size", n, "--frames", frames, "--limit", options.limit]
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                lines = [line for line in done.stdout.splitlines() if line.startswith('{"peer"')]
                if not lines:
                    print(f"{peer:<10} {scene:<6} {n:>4}  died with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
                    continue
                row = json.loads(lines[-1])
                print(
                    f"{peer:<10} {scene:<6} {n:>4} {row['frames']:>6} {row['cpu_seconds_per_frame']:>11.3f} {row['most']:>7.3f}"
                    f" {row['crossing_last']!s:>14} {row['crossing_most']!s:>6}  {row['ended']}; {row['version']}",
                    flush=True,
                )
                if options.json:
                    with open(options.json, "a") as file:
                        file.write(lines[-1] + "\n")
    return None


if __name__ == "__main__":
    sys.exit(main())
