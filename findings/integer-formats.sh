#!/usr/bin/env bash
# `{ "type": "integer", "format": "int64" }` in validators that check the format: ajv-formats 3.0.1 with ajv 8.17.1 takes every whole number,
# such as 1e300 (int32 has its range); openapi-schema-validator 0.9.0 of Python has both ranges, but only for a number without a point
# or an exponent: it refuses 2147483648 as int32 and takes 1e300. Seen on 2026-11-29. Needs: python 3.11 with venv.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund ajv@8.17.1 ajv-formats@3.0.1 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-schema-validator==0.9.0
cat >judge.cjs <<'JS'
const ajv = new (require("ajv"))({ strict: false });
require("ajv-formats")(ajv);
for (const format of ["int32", "int64"]) {
  const words = ["2147483648", "9223372036854775808", "1e300"].map((text) => ajv.validate({ type: "integer", format }, JSON.parse(text)));
  console.log("ajv-formats", format, words.join(" "));
}
JS
cat >judge.py <<'PY'
import json
from openapi_schema_validator import OAS31Validator, oas31_format_checker

for form in ("int32", "int64"):
    validator = OAS31Validator({"type": "integer", "format": form}, format_checker=oas31_format_checker)
    words = [str(validator.is_valid(json.loads(text))).lower() for text in ("2147483648", "9223372036854775808", "1e300")]
    print("openapi-schema-validator", form, " ".join(words))
PY
# Each line: 2147483648, 9223372036854775808, 1e300.
seen=$(node judge.cjs && venv/bin/python judge.py)
echo "$seen"
[ "$seen" = "ajv-formats int32 false false false
ajv-formats int64 true true true
openapi-schema-validator int32 false false true
openapi-schema-validator int64 true false true" ]
