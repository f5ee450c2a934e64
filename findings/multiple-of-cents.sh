#!/usr/bin/env bash
# `"multipleOf": 0.01`, the keyword for prices, gets two answers from validators that follow JSON Schema: for 19.99, ajv 8.17.1 and
# Python's jsonschema 4.25.1 refuse (they divide in binary), and npm's jsonschema 1.5.0, @cfworker/json-schema 4.1.1, fastjsonschema
# 2.21.2 and jsonschema-rs 0.61.2 accept. ajv accepts too with multipleOfPrecision. Seen on 2026-11-29. Needs: python 3.11 with venv.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund ajv@8.17.1 jsonschema@1.5.0 @cfworker/json-schema@4.1.1 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jsonschema==4.25.1 fastjsonschema==2.21.2 jsonschema-rs==0.61.2
cat >price.cjs <<'JS'
const schema = { type: "number", multipleOf: 0.01 };
const Ajv = require("ajv");
console.log("ajv", new Ajv().compile(schema)(19.99));
console.log("ajv, multipleOfPrecision", new Ajv({ multipleOfPrecision: 6 }).compile(schema)(19.99));
console.log("jsonschema of npm", new (require("jsonschema").Validator)().validate(19.99, schema).valid);
console.log("@cfworker/json-schema", new (require("@cfworker/json-schema").Validator)(schema).validate(19.99).valid);
JS
cat >price.py <<'PY'
import fastjsonschema, jsonschema, jsonschema_rs
schema = {"type": "number", "multipleOf": 0.01}
print("jsonschema of PyPI", jsonschema.Draft202012Validator(schema).is_valid(19.99))
print("fastjsonschema", fastjsonschema.compile(schema)(19.99) == 19.99)
print("jsonschema-rs", jsonschema_rs.is_valid(schema, 19.99))
PY
seen=$(node price.cjs && venv/bin/python price.py)
echo "$seen"
[ "$seen" = "ajv false
ajv, multipleOfPrecision true
jsonschema of npm true
@cfworker/json-schema true
jsonschema of PyPI False
fastjsonschema True
jsonschema-rs True" ]
