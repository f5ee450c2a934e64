#!/usr/bin/env bash
# quicktype 26.0.0 merges the objects of a `oneOf` into one type whose members are all optional: of a result that is either `ok` or
# `err` (closed objects with a required member each), it makes a type that takes both, or neither. json-schema-to-typescript 16.0.0
# makes the union. Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund quicktype@26.0.0 json-schema-to-typescript@16.0.0 >/dev/null
variant() { echo "{\"type\":\"object\",\"properties\":{\"$1\":{\"type\":\"$2\"}},\"required\":[\"$1\"],\"additionalProperties\":false}"; }
echo "{\"title\":\"Result\",\"oneOf\":[$(variant ok string),$(variant err number)]}" >result.json
seen=$(
  node_modules/.bin/quicktype --src-lang schema --lang typescript --just-types result.json | xargs
  node_modules/.bin/json2ts --no-bannerComment result.json | xargs
)
echo "$seen"
[ "$seen" = "export interface Result { ok?: string; err?: number; }
export type Result = | { ok: string; } | { err: number; };" ]
