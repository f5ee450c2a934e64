#!/usr/bin/env bash
# TypeScript 5.9.3 attaches a JSDoc comment to a member only if the comment is the first thing on its line. In an interface on one
# line, the members have no tags, and generators of JSON Schema (typescript-json-schema 0.65.1, ts-json-schema-generator 2.4.0) drop
# constraints such as `@minimum` without a warning. Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund typescript@5.9.3 typescript-json-schema@0.65.1 ts-json-schema-generator@2.4.0 >/dev/null
cat >ports.ts <<'TS'
export interface OneLine { /** @minimum 1 */ count: number }
export interface Lines {
  /** @minimum 1 */ count: number;
}
TS
cat >tags.cjs <<'JS'
const ts = require("typescript");
const program = ts.createProgram(["ports.ts"], {});
program.getTypeChecker();
for (const { name, members } of program.getSourceFile("ports.ts").statements)
  console.log(`${name.text}: ${ts.getJSDocTags(members[0]).map((tag) => tag.tagName.text).join() || "no tag"}`);
JS
seen=$(
  node tags.cjs
  for type in OneLine Lines; do
    echo "typescript-json-schema, $type: $(node_modules/.bin/typescript-json-schema ports.ts "$type" | grep -c minimum)"
    echo "ts-json-schema-generator, $type: $(node_modules/.bin/ts-json-schema-generator --path ports.ts --type "$type" --no-type-check | grep -c minimum)"
  done || true
)
echo "$seen"
[ "$seen" = "OneLine: no tag
Lines: minimum
typescript-json-schema, OneLine: 0
ts-json-schema-generator, OneLine: 0
typescript-json-schema, Lines: 1
ts-json-schema-generator, Lines: 1" ]
