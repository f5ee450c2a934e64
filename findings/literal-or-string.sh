#!/usr/bin/env bash
# typescript-json-schema 0.65.1 reads `string & {}`, which keeps the literals of `"EUR" | "USD" | (string & {})` in an editor's
# completion, as a value that is an object and a string: the schema refuses all but the literals, where the type takes any string.
# ts-json-schema-generator 2.4.0 makes it a string. Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund typescript-json-schema@0.65.1 ts-json-schema-generator@2.4.0 ajv@8.17.1 >/dev/null
echo 'export interface Price { currency: "EUR" | "USD" | (string & {}) }' >price.ts
node_modules/.bin/typescript-json-schema price.ts Price --required --strictNullChecks >one.json
node_modules/.bin/ts-json-schema-generator --path price.ts --type Price --no-type-check >other.json
cat >judge.cjs <<'JS'
const Ajv = require("ajv");
for (const [name, file] of [["typescript-json-schema", "one"], ["ts-json-schema-generator", "other"]]) {
  const takes = new Ajv({ strict: false }).compile(require(`./${file}.json`));
  console.log(name, ["EUR", "CHF"].map((currency) => `${currency} ${takes({ currency })}`).join(", "));
}
JS
seen=$(node judge.cjs)
echo "$seen"
[ "$seen" = "typescript-json-schema EUR true, CHF false
ts-json-schema-generator EUR true, CHF true" ]
