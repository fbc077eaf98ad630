"""The JSON Schema of scene files, judged by another implementation: scenes fit, errors of form do not."""

import json
import pathlib
import tomllib

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "scenes" / "scene.schema.json").read_text())
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)


def errors(path):
    return list(VALIDATOR.iter_errors(tomllib.loads(path.read_text())))


@pytest.mark.parametrize("path", sorted((ROOT / "scenes").glob("*.toml")), ids=lambda path: path.stem)
def test_every_scene_fits(path):
    assert errors(path) == []


@pytest.mark.parametrize(
    "name",
    [
        "missing-cells",
        "missing-frames",
        "negative-count",
        "no-cloth",
        "too-few-numbers",
        "unknown-direction",
        "unknown-key",
        "unknown-key-of-a-cloth",
        "unknown-shape",
        "unknown-shape-key",
        "unknown-stage",
        "wrong-type",
    ],
)
def test_errors_of_form_do_not(name):
    assert errors(ROOT / "tests" / "data" / "broken" / f"{name}.toml")


def test_the_schema_is_a_schema_and_explains_itself():
    VALIDATOR.check_schema(SCHEMA)
    assert "friction" in SCHEMA["properties"] and SCHEMA["properties"]["friction"]["description"]
