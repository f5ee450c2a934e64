#!/usr/bin/env bash
# A tuple of JSON Schema 2020-12 and OpenAPI 3.1, `prefixItems` closed by `items: false`, in generators of types:
# json-schema-to-typescript 16.0.0 makes it `never[]`, which no tuple fits; json-schema-to-zod 2.8.1 checks only the length;
# openapi-python-client 0.29.1 generates nothing for a document with `items: false`, and without it a list of any of the items.
# datamodel-code-generator 0.89.0 makes the tuple. Seen on 2026-11-29. Needs: python 3.11 with venv.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund json-schema-to-typescript@16.0.0 json-schema-to-zod@2.8.1 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 'datamodel-code-generator[black]==0.89.0'
open='"type":"array","prefixItems":[{"type":"number"},{"type":"string"}],"minItems":2,"maxItems":2'
schema() { echo "{\"title\":\"Place\",\"type\":\"object\",\"required\":[\"at\"],\"properties\":{\"at\":{$1}}}"; }
document() { echo "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"places\",\"version\":\"1\"},\"paths\":{},\"components\":{\"schemas\":{\"Place\":$(schema "$1")}}}"; }
schema "$open,\"items\":false" >schema.json
document "$open,\"items\":false" >closed.json
document "$open" >open.json
# Prints the field `at` of the generated client, or that there is none.
python_client() {
  venv/bin/openapi-python-client generate --path "$1" --output-path "$2" --meta none >/dev/null 2>&1 || true
  grep -m1 -oE '^ +at: .*' "$2/models/place.py" 2>/dev/null | sed 's/^ */python client: /' || echo "python client: none"
}
seen=$(
  echo "typescript: $(node_modules/.bin/json2ts schema.json | grep -oE 'at: .*;')"
  echo "zod: $(node_modules/.bin/json-schema-to-zod -i schema.json | grep -oE 'z\.array\(.*max\(2\)')"
  python_client closed.json closed
  python_client open.json open
  echo "datamodel: $(venv/bin/datamodel-codegen --input closed.json --input-file-type openapi 2>/dev/null | grep -oE 'at: .*')"
)
echo "$seen"
[ "$seen" = "typescript: at: never[];
zod: z.array(z.any()).min(2).max(2)
python client: none
python client: at: list[float | str]
datamodel: at: tuple[float, str]" ]
