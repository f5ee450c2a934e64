/** Source files for mutation, each with the test files that should notice a fault in it, the fastest first. */

const wire = (...names: string[]) => names.map((name) => `test/wire/${name}.test.ts`);
const types = (...names: string[]) => names.map((name) => `test/types/${name}.test.ts`);
const runtime = (...names: string[]) => names.map((name) => `test/runtime/${name}.test.ts`);
const generator = (...names: string[]) => names.map((name) => `test/generator/${name}.test.ts`);

export const TESTS: Readonly<Record<string, readonly string[]>> = {
  "runtime/client/wire/decode/constraints.ts": [...wire("constraints", "input"), ...types("judge")],
  "runtime/client/wire/decode/union/union-choice.ts": wire("input", "constraints", "output"),
  "runtime/client/wire/decode/decoder.ts": wire("input", "constraints", "output"),
  "runtime/client/wire/definitions.ts": wire("input", "constraints", "output"),
  "runtime/client/wire/decode/input.ts": [
    ...wire("input", "constraints"),
    ...runtime("invoke-values", "input-release", "unsigned"),
  ],
  "runtime/client/wire/encode/encoder.ts": wire("output", "constraints"),
  "runtime/client/wire/encode/output.ts": [...wire("output", "constraints"), ...runtime("invoke-results")],
  "runtime/client/wire/json/numbers.ts": wire("json", "input", "envelope", "hostile"),
  "runtime/client/wire/json/print.ts": wire("json", "input", "envelope", "hostile"),
  "runtime/client/wire/json/read.ts": wire("json", "input", "envelope", "hostile"),
  "runtime/client/wire/json/scan.ts": wire("json", "input", "envelope", "hostile"),
  "runtime/client/wire/envelope.ts": [...wire("envelope"), ...runtime("invoke-envelope"), ...wire("hostile")],
  "runtime/client/wire/committed-texts.ts": [...wire("envelope"), ...runtime("invoke-envelope"), ...wire("hostile")],
  "runtime/client/wire/crypto/input-hash.ts": wire("signature", "bcs"),
  "runtime/client/wire/crypto/signature.ts": wire("signature", "bcs"),
  "runtime/server/call/invoke-service.ts": runtime(
    "invoke-shutdown",
    "invoke-faults",
    "invoke-auth",
    "replay-http",
    "unsigned",
    "load",
    "admin",
  ),
  "runtime/server/call/result-signer.ts": runtime("replay-http", "invoke-results"),
  "runtime/server/call/announced-length.ts": runtime("serve", "request-body"),
  "runtime/server/replay/memory.ts": runtime("replay", "replay-http", "replay-http-overlap", "replay-cost"),
  "runtime/server/replay/memory-arena.ts": runtime("replay", "replay-http", "replay-http-overlap", "replay-cost"),
  "runtime/server/replay/memory-index.ts": runtime("replay", "replay-http", "replay-http-overlap", "replay-cost"),
  "runtime/server/replay/claim.ts": runtime("replay", "replay-http", "defaults"),
  "runtime/server/http/request-body.ts": runtime("request-body", "serve", "invoke-envelope"),
  "runtime/server/load/semaphore.ts": runtime("load"),
  "runtime/server/http/tool-routes.ts": runtime("mounted", "serve", "pipelining"),
  "runtime/server/http/limits.ts": runtime("option-effects", "request-body", "defaults", "bootstrap"),
  "runtime/server/call/auth.ts": runtime("invoke-auth", "bootstrap"),
  "runtime/server/log/safe-logger.ts": runtime("safe-logger", "request-log", "log-faults"),
  "generator/compile/emit/check-ports.ts": generator("classes", "contract", "cli"),
  "generator/commands/diff.ts": generator("diff", "cli"),
  "generator/contract/diff.ts": generator("diff", "cli"),
  "generator/contract/inclusion/inclusion.ts": generator("diff", "diff-properties"),
  "generator/contract/inclusion/schema-node.ts": generator("diff", "diff-properties"),
  "generator/compile/types/jsdoc.ts": generator("jsdoc", "classes", "contract", "data-ref", "formats"),
};
