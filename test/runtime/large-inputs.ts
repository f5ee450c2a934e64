/** Types whose largest inputs cost the most, and a process that serves a tool of each. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Codec } from "#client/wire/codec/contract.js";
import { scratchFolder } from "../scratch-folder.js";
import { type Child, run } from "./child.js";

const member = (name: string, codec: Codec, optional = false) => ({ name, codec, optional });
const object = (...members: ReturnType<typeof member>[]): Codec => ({ kind: "object", members });
const list = (item: Codec): Codec => ({ kind: "array", item });
const NUMBER: Codec = { kind: "number" };
const literal = (value: string): Codec => ({ kind: "literal", values: [value] });
const union = (count: number, branch: (at: number) => Codec): Codec => ({
  kind: "union",
  branches: Array.from({ length: count }, (_, at) => branch(at)),
});
const TREE: Codec = { kind: "ref", name: "Tree" };

/** Definitions of all of them. */
export const DEFINITIONS = [
  [
    "Tree",
    { kind: "union", branches: [NUMBER, object(member("left", TREE, true), member("right", TREE, true)), list(TREE)] },
  ],
] as const satisfies readonly (readonly [string, Codec])[];

interface LargeInput {
  readonly codec: Codec;
  /** An item of the body's array. */
  readonly item: string;
  /** The answer to the largest array that is permitted, with a heap of 256 MB; 200 unless given. */
  readonly status?: number;
}

const unions = (count: number): Readonly<Record<string, LargeInput>> => ({
  [`union of ${count} branches with a literal`]: {
    codec: union(count, (at) => object(member("value", NUMBER), member("kind", literal(`k${at}`)))),
    item: `{"value":1,"kind":"k${count - 1}"}`,
  },
  [`union of ${count} branches of other members`]: {
    codec: union(count, (at) => object(member("value", NUMBER), member(`m${at}`, NUMBER))),
    item: `{"value":1,"m${count - 1}":1}`,
  },
  [`union of ${count} branches of the same members`]: {
    codec: union(count, (at) => object(member("value", object(member(`m${at}`, NUMBER))))),
    item: `{"value":{"m${count - 1}":1}}`,
    status: 422,
  },
});

export const LARGE_INPUTS: Readonly<Record<string, LargeInput>> = {
  "number[]": { codec: NUMBER, item: "1" },
  "{x?: number}[]": { codec: object(member("x", NUMBER, true)), item: "{}" },
  "object of 1,000 optional members": {
    codec: object(...Array.from({ length: 1_000 }, (_, at) => member(`m${at}`, NUMBER, true))),
    item: '{"m999":1}',
  },
  "recursive union": { codec: TREE, item: '{"left":{},"right":[]}' },
  "unknown, objects": { codec: { kind: "json" }, item: "{}" },
  "unknown, arrays": { codec: { kind: "json" }, item: "[]" },
  "Date[]": { codec: { kind: "date" }, item: '"2020-01-01T00:00:00Z"' },
  // As many small arrays of bytes take more than half of the memory for inputs.
  "Uint8Array[]": { codec: { kind: "bytes" }, item: '"AAAA"', status: 413 },
  ...unions(64),
  ...unions(256),
};

/** The path of the tool that takes an array of a type. */
export const largeTarget = (type: string) => `/t${Object.keys(LARGE_INPUTS).indexOf(type)}/invoke`;

/** A body of an array of items: as many as have `values` values, and at most `bytes` bytes. */
export function largeBody(type: string, values: number, bytes = 12_582_912): string {
  const { item } = LARGE_INPUTS[type] as LargeInput;
  const text = item.replaceAll(/"(?:[^"])*"/g, '"');
  const each = (text.match(/[{[]|"|\b1\b/g) ?? []).length;
  const count = Math.min(Math.floor((values - 3) / each), Math.floor((bytes - 20) / (item.length + 1)));
  return `{"items":[${`${item},`.repeat(count - 1)}${item}]}`;
}

/** A process that serves the tools without signatures. */
export function serveLargeInputs(env: Record<string, string> = {}): Child {
  const tools = Object.values(LARGE_INPUTS).map(({ codec }, at) => ({
    fqn: `xyz.test.t${at}x@1`,
    path: `t${at}`,
    codec,
  }));
  // A command line is too short for the codecs.
  const folder = scratchFolder();
  const file = join(folder, "tools.json");
  writeFileSync(file, JSON.stringify({ tools, definitions: DEFINITIONS }));
  return run(
    `const { readFileSync } = await import("node:fs");
const { tools, definitions } = JSON.parse(readFileSync(${JSON.stringify(file)}, "utf8"));
for (const { fqn, path, codec } of tools) {
  const items = { name: "items", many: false, codec: { kind: "array", item: codec } };
  provide(contract(fqn, path, { input: [items], definitions }));
}
await bootstrap(tools.map(({ fqn, path }) => class extends tool(fqn, path) {
  async invoke({ items }) { return { ok: { value: items.length } }; }
}));`,
    { env: { BIND_ADDR: "127.0.0.1:0", ...env } },
  );
}
