/** `svc-gen import`: the metadata that svc-gen generates from imported classes is the metadata that was imported. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { documents, metadataOf, roundTrip } from "./imported.js";
import { REPOSITORY, ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

describe("the examples come back", () => {
  for (const name of ["sum", "text", "report", "orders"]) {
    it(name, async () => {
      const text = readFileSync(join(REPOSITORY, "examples", name, "meta.json"), "utf8");
      const { tools, generated } = await roundTrip(text);
      assert.deepEqual(
        tools.map(({ samePorts, differences }) => [samePorts, differences]),
        tools.map(() => [true, []]),
      );
      assert.deepEqual([...generated].sort(), [...documents(text)].sort());
    });
  }
});

describe("recorded schemas", () => {
  interface Case {
    readonly name: string;
    readonly input_schema: string;
    readonly output_schema: string;
    readonly expect: { readonly ok: boolean };
  }
  const { cases } = JSON.parse(readFileSync(join(REPOSITORY, "test/vectors/schema.json"), "utf8")) as {
    readonly cases: readonly Case[];
  };

  /** What svc-gen always writes: its dialect, and variants that are required and closed. */
  const ALWAYS = /^\/(?:input|output)_schema\/\$schema$|^\/output_schema\/oneOf\/\d+\/(?:additionalProperties|type)$/;
  /** What comes instead of schemas that no type has. */
  const INSTEAD: Readonly<Record<string, readonly string[]>> = {
    "nullable array": ["/input_schema/properties/x/items: undefined -> {}"],
    "anyOf array": [
      '/input_schema/properties/x/anyOf: [{"type":"array"},{"type":"null"}] -> undefined',
      '/input_schema/properties/x/type: undefined -> ["array","null"]',
      "/input_schema/properties/x/items: undefined -> {}",
    ],
    "scalar payload": [
      '/output_schema/oneOf/0/properties/ok/type: "integer" -> "object"',
      "/output_schema/oneOf/0/properties/ok/properties: undefined -> {}",
      '/output_schema/oneOf/0/required: undefined -> ["ok"]',
    ],
    "ref variant": [
      "/output_schema/$defs/A/properties/ok/properties/x/items: undefined -> {}",
      '/output_schema/$defs/A/properties/ok/required: undefined -> ["x"]',
      "/output_schema/$defs/A/additionalProperties: undefined -> false",
    ],
  };

  for (const { name, input_schema, output_schema, expect } of cases) {
    it(name, async () => {
      const metadata = metadataOf(input_schema, output_schema);
      if (!expect.ok) {
        const project = new ToolProject({ "imported.json": metadata });
        const { code, err } = await svcGenIn(project.root, ["import", "imported.json"]);
        assert.equal(code, 1);
        assert.match(err, /^svc-gen: xyz\.test\.imported@1 in "imported\.json" cannot be imported: /);
        assert.equal(existsSync(join(project.root, "src")), false);
        return;
      }
      const { tools, generated } = await roundTrip(metadata);
      const [{ samePorts, differences } = assert.fail()] = tools;
      assert.equal(samePorts, true);
      assert.equal(generated.size, 1);
      const others = differences.filter(({ pointer }) => !ALWAYS.test(pointer));
      assert.deepEqual(
        others.map((each) => `${each.pointer}: ${each.imported} -> ${each.generated}`),
        INSTEAD[name] ?? [],
      );
    });
  }
});
