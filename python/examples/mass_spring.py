"""A mass-spring cloth in NumPy falls on a ball; Percale keeps it from going through, step by step."""

import numpy as np

import percale


def grid(n):
    """A sheet of n x n vertices, 1 m wide, and its faces."""
    x, z = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n))
    V = np.column_stack([x.ravel(), np.full(n * n, 0.3), z.ravel()])
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    return V, np.vstack([np.column_stack([a, a + n, a + 1]), np.column_stack([a + 1, a + n, a + n + 1])])


def ball(n, radius):
    """A ball of n rings, and its faces."""
    u, v = np.meshgrid(np.linspace(0, np.pi, n + 1)[1:-1], np.arange(2 * n) * np.pi / n, indexing="ij")
    V = radius * np.column_stack([(np.sin(u) * np.cos(v)).ravel(), np.cos(u).ravel(), (np.sin(u) * np.sin(v)).ravel()])
    V, w, k = np.vstack([V, [0, radius, 0], [0, -radius, 0]]), 2 * n, np.arange(2 * n)
    F = [[len(V) - 2, (j + 1) % w, j] for j in k] + [[len(V) - 1, (n - 2) * w + j, (n - 2) * w + (j + 1) % w] for j in k]
    for i in range(n - 2):
        for j in k:
            a, b, c, d = i * w + j, i * w + (j + 1) % w, (i + 1) * w + j, (i + 1) * w + (j + 1) % w
            F += [[a, b, c], [b, d, c]]
    return V, np.array(F)


def main(n=16, steps=360, dt=1 / 480, mass=0.2, stiffness=20.0, damping=0.02):
    x, F = grid(n)
    obstacle, G = ball(12, 0.25)
    m = np.full(len(x), mass / len(x))
    edges = np.unique(np.sort(np.vstack([F[:, [0, 1]], F[:, [1, 2]], F[:, [2, 0]]]), axis=1), axis=0)
    a, b = edges.T
    rest = np.linalg.norm(x[b] - x[a], axis=1)
    v = np.zeros_like(x)
    collider = percale.Collider(F, m, obstacle=(G, len(obstacle)), rest=x, thickness=4e-3, friction=0.3)
    met = 0
    for step in range(1, steps + 1):
        way = x[b] - x[a]
        length = np.linalg.norm(way, axis=1)
        along = way / length[:, None]
        pull = stiffness * (length - rest) + damping * np.einsum("ij,ij->i", v[b] - v[a], along)
        force = np.tile([0, -9.81 * m[0], 0], (len(x), 1))
        np.add.at(force, a, pull[:, None] * along)
        np.add.at(force, b, -pull[:, None] * along)
        v = v + dt * force / m[:, None]
        x, report = collider.resolve(x, x + dt * v, obstacle=(obstacle, obstacle), dt=dt)  # certified, or StepError
        v = report["velocities"]
        met += report["impacts_before"]
        if step % 120 == 0:
            crossing = len(collider.intersections(x, obstacle=obstacle))
            print(f"{step * dt:.2f} s: {met} impacts so far, {crossing} crossing, lowest vertex at {x[:, 1].min():.3f} m")
            assert crossing == 0
    return met


if __name__ == "__main__":
    main()
