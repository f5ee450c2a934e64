#!/usr/bin/env bash
# Libraries for canonical JSON disagree on an integer of 64 bits, so that hashes of the same value differ. For 2^53 + 1 in Python, jcs 0.2.1
# writes the integer beside it, rfc8785 0.1.4 refuses (2^53 too, which is a double), canonicaljson 2.0.0 writes the digits. For a BigInt,
# canonicalize 4.0.0 and json-canonicalize 3.0.1 of npm refuse, safe-stable-stringify 3.0.0 writes the digits. RFC 8785 takes numbers
# for doubles, and asks for strings in place of larger integers. Seen on 2026-11-29. Needs: python 3.11 with venv.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund canonicalize@4.0.0 json-canonicalize@3.0.1 safe-stable-stringify@3.0.0 >/dev/null
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check jcs==0.2.1 rfc8785==0.1.4 canonicaljson==2.0.0
cat >big.mjs <<'JS'
import canonicalize from "canonicalize";
import { canonicalize as jsonCanonicalize } from "json-canonicalize";
import stringify from "safe-stable-stringify";

const libraries = { canonicalize, "json-canonicalize": jsonCanonicalize, "safe-stable-stringify": stringify };
for (const [name, write] of Object.entries(libraries)) {
  let text;
  try {
    text = write([9007199254740993n]);
  } catch {
    text = "refused";
  }
  console.log(name, text);
}
JS
cat >big.py <<'PY'
import canonicaljson
import jcs
import rfc8785

libraries = {"jcs": jcs.canonicalize, "rfc8785": rfc8785.dumps, "canonicaljson": canonicaljson.encode_canonical_json}
for name, write in libraries.items():
    for number in (2**53, 2**53 + 1):
        try:
            text = write([number]).decode()
        except ValueError:
            text = "refused"
        print(name, number, text)
PY
seen=$(node big.mjs && venv/bin/python big.py)
echo "$seen"
[ "$seen" = "canonicalize refused
json-canonicalize refused
safe-stable-stringify [9007199254740993]
jcs 9007199254740992 [9007199254740992]
jcs 9007199254740993 [9007199254740992]
rfc8785 9007199254740992 refused
rfc8785 9007199254740993 refused
canonicaljson 9007199254740992 [9007199254740992]
canonicaljson 9007199254740993 [9007199254740993]" ]
