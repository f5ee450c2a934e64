/** Runs recorded vectors against this code: a runner for each file of a directory laid out like this one. */

import { existsSync } from "node:fs";
import { type Ed25519Engine, loadSodiumEngine, nobleEngine, nodeEngine } from "#client/wire/signature/ed25519.js";
import { ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { runHttpCases } from "./http.js";
import { readVectors } from "./read.js";
import { attempt, expect, type Outcome, outcome, runWireCases, WIRE_FILES } from "./wire-cases.js";

type Runner = (file: string, directory: string) => AsyncGenerator<Outcome> | Generator<Outcome>;

const wire: Runner = (file, directory) =>
  runWireCases(file, readVectors<{ cases: unknown }>(file, directory).cases, engines());

/** The files that a directory may hold, in the order in which they run. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  ...Object.fromEntries(WIRE_FILES.map((file) => [file, wire])),
  "config.json": config,
  "http.json": (file, directory) => runHttpCases(file, directory),
};

/** Runs every vector file that the directory holds. */
export async function* runDirectory(directory: string): AsyncGenerator<Outcome> {
  for (const [file, runner] of Object.entries(RUNNERS)) {
    if (existsSync(`${directory}/${file}`)) yield* runner(file, directory);
  }
}

let loaded: readonly Ed25519Engine[] | undefined;

/** Every engine that works here; libsodium is an optional dependency. */
function engines(): readonly Ed25519Engine[] {
  const sodium = loadSodiumEngine();
  loaded ??= [...(sodium === undefined ? [] : [sodium]), nodeEngine, nobleEngine];
  return loaded;
}

interface ConfigCase {
  name: string;
  config: string;
  expect: { ok: boolean; signed_http_is_required?: boolean; has_tool?: boolean };
}

function* config(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: ConfigCase[] }>(file, directory);
  // The limit is a u64: read from the text, since JSON.parse would round it.
  for (const { name, config, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const loaded = attempt(() => ToolkitRuntimeConfig.fromJsonStr(config));
      expect("ok", "value" in loaded, wanted.ok);
      if (!("value" in loaded)) return expect("error", loaded.error.name, "ConfigError");
      const limit = /^\{\s*"invoke_max_body_bytes":\s*(\d+)/.exec(config)?.[1] ?? "12582912";
      expect("invoke_max_body_bytes", loaded.value.invokeMaxBodyBytes(), BigInt(limit));
      expect("signed_http_is_required", loaded.value.signedHttpIsRequired(), wanted.signed_http_is_required);
      expect("has_tool", loaded.value.hasTool("xyz.demo.sum@1"), wanted.has_tool);
    });
  }
}
