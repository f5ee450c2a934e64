#!/usr/bin/env bash
# openapi-generator 7.14.0 knows no format uint64, which the format registry of OpenAPI has: it makes it the default integer type of the
# language, of 32 bits in Java, Kotlin, C#, Go and Rust, although it knows int64. A value from 2^31 on cannot be read.
# Seen on 2026-11-29. Needs: python 3 with venv, java 11 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check openapi-generator-cli==7.14.0
cat >api.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "counter", "version": "1" },
  "paths": {},
  "components": { "schemas": { "Counts": {
    "type": "object",
    "required": ["signed", "plain"],
    "properties": { "signed": { "type": "integer", "format": "int64" }, "plain": { "type": "integer", "format": "uint64" } }
  } } }
}
JSON
# Generates the model for one language, and prints the type of each property as the pattern finds it.
types() {
  venv/bin/openapi-generator-cli generate -i api.json -g "$1" -o "$1" --global-property models,modelTests=false,modelDocs=false >log 2>&1 || { cat log; exit 1; }
  echo "$1: $(grep -rhoP "$2" "$1" | sort -u | paste -sd ' ')"
}
seen=$(
  types java 'private (Long|Integer) \w+'
  types kotlin 'val \w+: kotlin\.\w+'
  types csharp 'public (long|int) \w+'
  types go '^\s+(Signed|Plain) int\d+'
  types rust 'pub \w+: [iu]\d+'
)
echo "$seen"
diff <(echo "$seen" | tr -s '\t ' ' ') - <<'SEEN'
java: private Integer plain private Long signed
kotlin: val plain: kotlin.Int val signed: kotlin.Long
csharp: public int Plain public long Signed
go: Plain int32 Signed int64
rust: pub plain: i32 pub signed: i64
SEEN
