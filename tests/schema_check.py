#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# schema_check.py SCHEMA MODEL...: validates models by a JSON Schema; prints "MODEL: ok" or "MODEL: PLACE: what is wrong".
# schema_check.py --misspell SCHEMA MODEL...: misspells each key of each model; fails if one is not noticed.
# Numbers are read as YAML 1.2 reads them, which PyYAML alone does not (1e-3).
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {}
for tag, text, first in [
    ("bool", r"^(?:true|false)$", "tf"),
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(text), list(first))
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))
Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))

NAMED = {"parameters", "points", "tables", "roads", "bodies", "joints", "forces", "measures", "objectives", "parts",
         "positions", "velocities", "experiments", "channels", "numbers", "variables",
         "scenarios", "set", "minimize", "blocks"}  # their keys are the user's


def keys(node, path=()):
    """Places of all keys that have a meaning of their own."""
    if isinstance(node, list):
        for i, child in enumerate(node):
            yield from keys(child, path + (i,))
    if not isinstance(node, dict):
        return
    own = bool(path) and path[-1] in NAMED and not (len(path) > 1 and path[-2] in NAMED)
    for key, child in node.items():
        if not own:
            yield path, key
        yield from keys(child, path + (key,))


def misspelt(model, path, key):
    copy = json.loads(json.dumps(model))
    node = copy
    for step in path:
        node = node[step]
    node[key + "q"] = node.pop(key)
    return copy


def describe(error):
    return f"{'.'.join(map(str, error.absolute_path))}: {error.message[:150]}"


arguments = sys.argv[1:]
misspell = arguments[0] == "--misspell"
schema = json.load(open(arguments[misspell]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
tried = passed = 0
for path in arguments[misspell + 1:]:
    try:
        model = yaml.load(open(path), Loader=Loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError) as wrong:
        print(f"{path}: not YAML: {str(wrong).splitlines()[0]}")
        continue
    if misspell:
        places = list(keys(model))
        for place, key in places[:: 1 + len(places) // 8]:
            tried += 1
            if validator.is_valid(misspelt(model, place, key)):
                print(f"{path}: {'.'.join(map(str, place))}: '{key}q' is not noticed")
                passed += 1
        continue
    error = jsonschema.exceptions.best_match(validator.iter_errors(model))
    print(f"{path}: ok" if error is None else f"{path}: {describe(error)}")
if misspell:
    print(f"{tried} misspelt keys, {passed} not noticed")
    sys.exit(passed > 0 or tried < 80)
