#!/usr/bin/env bash
# `Record<`x-${string}`, number>`, names with a prefix, in generators of JSON Schema: typescript-json-schema 0.68.0 makes an object
# without members that is closed (--noExtraProps), so that the schema refuses every value of the type but {}; ts-json-schema-generator 2.4.0 drops the prefix
# and takes every name. The same type as an index signature is an error for the first. Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund typescript-json-schema@0.68.0 ts-json-schema-generator@2.4.0 ajv@8.17.1 >/dev/null
cat >headers.ts <<'TS'
export interface Mapped { headers: Record<`x-${string}`, number> }
export interface Indexed { headers: { [name: `x-${string}`]: number } }
TS
first() { node_modules/.bin/typescript-json-schema headers.ts "$1" --required --strictNullChecks --noExtraProps; }
first Mapped >one.json
node_modules/.bin/ts-json-schema-generator --path headers.ts --type Mapped >other.json
cat >judge.cjs <<'JS'
const Ajv = require("ajv");
for (const [name, file] of [["typescript-json-schema", "one"], ["ts-json-schema-generator", "other"]]) {
  const takes = new Ajv({ strict: false }).compile(require(`./${file}.json`));
  console.log(name, ["x-a", "a"].map((key) => `${key} ${takes({ headers: { [key]: 1 } })}`).join(", "));
}
JS
seen=$(node judge.cjs)
echo "$seen"
[ "$seen" = "typescript-json-schema x-a false, a false
ts-json-schema-generator x-a true, a true" ]
! first Indexed >/dev/null 2>error.txt
grep --quiet "Not supported: IndexSignatureDeclaration" error.txt
