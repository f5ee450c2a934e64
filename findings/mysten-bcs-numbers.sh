#!/usr/bin/env bash
# @mysten/bcs 2.1.2 writes a number with a fraction as an integer of 8, 16 or 32 bits without an error, cut off; for 64 bits, the same
# number is refused. And although each value has one form in BCS, it reads others: bytes behind the value are left, and keys of a map may
# be unsorted or repeated (the last counts), so that writing what was read gives other bytes. Lengths, booleans and options are read
# strictly. Seen on 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund @mysten/bcs@2.1.2 >/dev/null
cat >numbers.mjs <<'JS'
import { bcs } from "@mysten/bcs";

const of = (action) => {
  try {
    return action();
  } catch {
    return "refused";
  }
};
for (const type of ["u8", "u16", "u32", "u64"]) console.log(type, 1.9, of(() => bcs[type]().serialize(1.9).toHex()));
const map = bcs.map(bcs.u8(), bcs.u8());
const again = (type, ...bytes) => of(() => type.serialize(type.parse(Uint8Array.from(bytes))).toHex());
console.log("0107 as u8:", again(bcs.u8(), 1, 7));
console.log("0202050106 as a map:", again(map, 2, 2, 5, 1, 6));
console.log("0201050106 as a map:", again(map, 2, 1, 5, 1, 6));
console.log("02 as bool:", again(bcs.bool(), 2));
console.log("810007 as a vector:", again(bcs.vector(bcs.u8()), 0x81, 0, 7));
JS
seen=$(node numbers.mjs)
echo "$seen"
[ "$seen" = "u8 1.9 01
u16 1.9 0100
u32 1.9 01000000
u64 1.9 refused
0107 as u8: 01
0202050106 as a map: 0201060205
0201050106 as a map: 010106
02 as bool: refused
810007 as a vector: refused" ]
