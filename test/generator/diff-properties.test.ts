/**
 * The verdict of `svc-gen diff` on random types and random edits, compared with a judgement by values: random values of
 * the side that sends, read by the generated decoder of the side that takes. `SVC_TEST_FULL=1` runs 1,000 pairs,
 * SVC_TYPE_SEED another selection.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { WireFault } from "#client/wire/fault.js";
import { generateTexts } from "#generator/compile/generate.js";
import { ts } from "#generator/compile/project/typescript.js";
import { diffDocuments } from "#generator/contract/diff.js";
import { findExcluded } from "#generator/contract/inclusion/inclusion.js";
import { type SampleValue, SchemaNodes, Unspecified } from "#generator/contract/inclusion/schema-node.js";
import { sampleOf } from "#generator/openapi/sample.js";
import { type JsonObject, printJson, readJson } from "#generator/text/json.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { Random } from "../types/random.js";
import { edited, type PortType, randomPort, sourceOf, typedValue } from "./random-contracts.js";

const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);
const PAIRS = process.env.SVC_TEST_FULL === "1" ? 1000 : 40;
const BATCH = 40;
const VALUES = 150;

interface Published {
  readonly type: PortType;
  readonly text: string;
  readonly root: JsonObject;
  readonly takes: (body: string) => boolean;
}

/** Generates a tool of each type; undefined for those that svc-gen refuses. */
async function publish(types: readonly PortType[]): Promise<(Published | undefined)[]> {
  const refused = new Set<number>();
  for (;;) {
    const sources = types.flatMap((type, at) =>
      refused.has(at) ? [] : [[`src/t${at}.ts`, sourceOf(type, `T${at}`)] as const],
    );
    const { files, diagnostics } = generateTexts(new Map(sources));
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    for (const { place, message } of errors) {
      const at = /^src\/t(\d+)\.ts$/.exec(place?.file ?? "")?.[1] ?? assert.fail(message);
      refused.add(Number(at));
    }
    if (errors.length > 0) continue;
    const textOf = (path: string) => files.find((each) => each.path === path)?.text ?? assert.fail(path);
    const documents = readJson(textOf("meta.json")) as readonly JsonObject[];
    const listing = JSON.parse(textOf("meta.json")) as { readonly fqn: string }[];
    const code = ts.transpileModule(textOf("src/generated/contracts.ts"), {
      compilerOptions: { module: ts.ModuleKind.ESNext },
    });
    const { contracts } = await import(`data:text/javascript,${encodeURIComponent(code.outputText)}`);
    return types.map((type, at) => {
      const index = listing.findIndex(({ fqn }) => fqn === `xyz.test.tool-t${at}@1`);
      if (index === -1) return undefined;
      const decoder = new InputDecoder((contracts as Contract[])[index] as Contract);
      return {
        type,
        text: JSON.stringify(listing[index]),
        root: documents[index]?.get("input_schema") as JsonObject,
        takes: (body) => {
          try {
            decoder.decodeUnsigned(Buffer.from(body));
            return true;
          } catch (error) {
            if (error instanceof WireFault) return false;
            throw error;
          }
        },
      };
    });
  }
}

/** The counterexample of the judge, with samples where it leaves values open. */
function counterexample(sender: Published, taker: Published, sendsNull: boolean): string | undefined {
  const nodes = new SchemaNodes();
  const nodeOf = ({ root }: Published) => nodes.node({ schema: root, pointer: "" }, root, "");
  const print = (value: SampleValue): string => {
    if (value instanceof Unspecified) {
      const { place, parts } = value.node;
      return printJson(sampleOf(place?.schema, parts[0]?.document.schema ?? sender.root));
    }
    if (Array.isArray(value)) return `[${value.map(print).join()}]`;
    if (value instanceof Map)
      return `{${[...value].map(([name, each]) => `${JSON.stringify(name)}:${print(each as SampleValue)}`).join()}}`;
    return typeof value === "bigint" ? String(value) : JSON.stringify(value);
  };
  const failures = findExcluded(nodeOf(sender), nodeOf(taker), { sendsNull, exact: false });
  const bodies = failures.flatMap(({ witness, certain }) =>
    witness === undefined || !certain ? [] : [print(witness)],
  );
  return bodies.find((body) => sender.takes(body) && !taker.takes(body));
}

/** A value that one side sends and the other refuses. */
function refusedValue(random: Random, sender: Published, taker: Published, sendsNull: boolean): string | undefined {
  for (let count = 0; count < VALUES; count++) {
    const isAbsent = sender.type.port.optional && random.chance(0.2);
    const json = isAbsent ? (sendsNull ? "null" : undefined) : typedValue(random, sender.type, sendsNull).json;
    const body = json === undefined ? "{}" : `{"p":${json}}`;
    if (sender.takes(body) && !taker.takes(body)) return body;
  }
  return undefined;
}

test(`verdicts agree with sampled values, seed ${SEED}`, async (context) => {
  const random = new Random(SEED);
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  for (let pairs = 0; pairs < PAIRS; ) {
    const types = Array.from({ length: Math.min(BATCH, PAIRS - pairs) }, () => randomPort(random));
    const nextTypes = types.map((type) => edited(random, type));
    const [before, after] = [await publish(types), await publish(nextTypes)];
    for (const [at, old] of before.entries()) {
      const next = after[at];
      if (old === undefined || next === undefined) continue;
      pairs++;
      const [difference] = diffDocuments({ name: "old", text: old.text }, { name: "new", text: next.text });
      const { verdict, changes } = difference ?? assert.fail();
      for (const side of ["input", "variant"] as const) {
        const own = changes.filter(({ port }) => port?.startsWith(side));
        const kind = (["breaking", "not decided"] as const).find((level) => own.some((each) => each.kind === level));
        const isPort = own.some(({ change }) => /^it is (?:many|one) now$/.test(change));
        const [sender, taker] = side === "input" ? [old, next] : [next, old];
        const question = [sender, taker, side === "variant"] as const;
        const body =
          refusedValue(random, ...question) ?? (kind === "breaking" ? counterexample(...question) : undefined);
        const name = isPort ? "port" : (kind ?? (verdict === "same" ? "same" : "compatible"));
        const label = `${name}, ${body === undefined ? "no value refused" : "a value refused"}`;
        counts[label] = (counts[label] ?? 0) + 1;
        if (kind === undefined && body !== undefined)
          wrong.unshift(`${side} is ${name}, and ${body} is refused\n${old.text}\n${next.text}`);
        if (kind === "breaking" && !isPort && body === undefined)
          wrong.push(`${side} is breaking, and no value is refused: ${JSON.stringify(own)}\n${old.text}\n${next.text}`);
      }
    }
  }
  context.diagnostic(JSON.stringify(counts));
  for (const label of ["breaking, a value refused", "compatible, no value refused", "same, no value refused"])
    assert.ok((counts[label] ?? 0) > PAIRS / 20, JSON.stringify(counts));
  assert.deepEqual(wrong.length, 0, wrong.slice(0, 4).join("\n\n"));
});
