"""Ten thousand random calls, most of them wrong: each is answered or refused by an ordinary exception, and nothing crashes."""

import random
import subprocess
import sys

import numpy as np

import percale

CALLS = 10_000
SEED = 23


def awkward(dice):
    """Something that may or may not be an argument."""
    n = dice.choice([0, 1, 2, 3, 4, 6, 7])
    kinds = [np.float64, np.float32, np.float16, np.int64, np.int32, np.uint8, np.uint64, bool, complex, "U3", "S2", object, "datetime64[s]"]
    array = np.array([[dice.choice([0, 1, 2, 3, 5, 6, 7]) for _ in range(3)] for _ in range(n)]).reshape(n, 3)
    makers = [
        lambda: array,
        lambda: array.astype(float) + [[dice.random() for _ in range(3)] for _ in range(n)] if n else array,
        lambda: array.astype(dice.choice(kinds)),
        lambda: array.astype(float) * dice.choice([np.nan, np.inf, 1e-80, 1e40, -1.0]),
        lambda: array - dice.choice([1, 2**40]),
        lambda: array.T,
        lambda: array[::-1, ::-1],
        lambda: array.reshape(-1),
        lambda: array[None],
        lambda: np.asfortranarray(array),
        lambda: array.astype(array.dtype.newbyteorder(">")),
        lambda: array.tolist(),
        lambda: [[1, 2], [3]],
        lambda: np.zeros((0, 3)),
        lambda: np.ma.masked_array(array, mask=True),
        lambda: dice.choice([None, "", "drop", "\0", b"x", 0, -1, 2**70, 1e308, float("nan"), float("inf"), True, object(), {}, [], set(), (1, 2, 3)]),
        lambda: {dice.choice(["frames", "cloth", "friction", 3]): dice.choice([1, -1, None, array, {"a": object()}, [1, "x", None]])},
        lambda: dice.choice(["impulses", "impulses,hold", ["hold", 3], [{"kind": "hold", "max_rounds": -1}], [{}]]),
        lambda: (awkward(dice), awkward(dice)),
        lambda: (awkward(dice), awkward(dice), awkward(dice)),
    ]
    return dice.choice(makers)()


def valid(dice):
    """A small mesh and its end."""
    V = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]])
    end = V + [[dice.uniform(-0.2, 0.2) for _ in range(3)] for _ in range(6)]
    return V, end, np.array([[0, 1, 2], [3, 4, 5]])


def one_call(dice, keep):
    V, end, F = valid(dice)

    def maybe(value):
        return value if dice.random() < 0.6 else awkward(dice)

    options = {}
    for name in ("mass", "fixed", "obstacle", "rest", "thickness", "friction", "response"):
        if dice.random() < 0.15:
            options[name] = awkward(dice)
    calls = [
        lambda: percale.intersections(maybe(V), maybe(F)),
        lambda: percale.check(maybe(V), maybe(F)),
        lambda: percale.impacts(maybe(V), maybe(end), maybe(F), ccd=dice.choice(["fast", "exact", "cubic", "x", None])),
        lambda: percale.paths(maybe(end), maybe(F), uv=awkward(dice)),
        lambda: percale.untangle(maybe(end), maybe(F), keep=maybe(None), layers=maybe(None), body=maybe(None), max_steps=maybe(3)),
        lambda: percale.resolve(maybe(V), maybe(end), maybe(F), dt=maybe(0.01), **options),
        lambda: keep.append(percale.Collider(maybe(F), **options)),
        lambda: dice.choice(keep).resolve(maybe(V), maybe(end), obstacle=maybe(None), dt=maybe(0.01)),
        lambda: dice.choice(keep).intersections(maybe(V), obstacle=maybe(None)),
        lambda: dice.choice(keep).impacts(maybe(V), maybe(end)),
        lambda: percale.Simulation(awkward(dice), set=awkward(dice) if dice.random() < 0.3 else None),
        lambda: percale.Recording("/nonexistent").positions(awkward(dice)),
        lambda: percale.sweep("drop", maybe({}), "/dev/null/x", frames=maybe(1), shard=maybe((1, 1))),
    ]
    return dice.choice(calls)


def test_bad_calls_are_refused_and_nothing_crashes():
    # in a process of its own: a crash is then a failure with its seed, not the end of the tests
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    answered, refused = map(int, done.stdout.split())
    assert answered + refused == CALLS
    assert answered > CALLS // 20 and refused > CALLS // 4, "both kinds are there"


def main():
    keep = [percale.Collider([[0, 1, 2], [3, 4, 5]])]
    answered = refused = 0
    for number in range(CALLS):
        dice = random.Random(f"{SEED} {number}")
        del keep[1:-3]
        try:
            one_call(dice, keep)()
            answered += 1
        except (ValueError, TypeError, percale.Error, OSError, OverflowError, IndexError) as error:
            refused += 1
            assert str(error), f"call {number}: {type(error)} says nothing"
        except BaseException:
            print(f"call {number}", flush=True)
            raise
    print(answered, refused)


if __name__ == "__main__":
    main()
