// A replica: one tool that appends each run to a file before it begins and after it has ended. Starts as an operator
// would start it, by variables; `STORE` gives the store in code.
import { randomBytes } from "node:crypto";
import { appendFileSync } from "node:fs";
import { bootstrap, SvcTool } from "#runtime/index.js";
import { provideContracts } from "#runtime/v1.js";

const { fqn, timeoutMs, runs, name, store, options } = JSON.parse(process.env.REPLICA);

const port = { name: "value", many: false, codec: { kind: "json" } };
provideContracts([
  {
    fqn,
    path: "",
    description: "A tool of the replicas.",
    timeout: timeoutMs,
    inputSchema: '{"type":"object","properties":{"value":{}},"required":["value"]}',
    outputSchema:
      '{"oneOf":[{"type":"object","properties":{"ok":{"type":"object","properties":{"value":{}},"required":["value"]}},"required":["ok"]}]}',
    input: [port],
    output: [{ name: "ok", ports: [port] }],
  },
]);

class Counted extends SvcTool {
  static fqn() {
    return fqn;
  }
  static description() {
    return "A tool of the replicas.";
  }
  static path() {
    return "";
  }
  static timeout() {
    return timeoutMs;
  }
  async invoke({ value: { pair, waitMs, bytes = 0, text } }) {
    appendFileSync(runs, `begin ${name} ${process.pid} ${pair} ${Date.now()}\n`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    appendFileSync(runs, `end ${name} ${process.pid} ${pair} ${Date.now()}\n`);
    // No two runs have the same result.
    return { ok: { value: { pair, run: randomBytes(8).toString("hex"), fill: "x".repeat(bytes), text } } };
  }
  health() {
    return 200;
  }
}

async function storeOf({ url, graceMs, timeoutMs, leaseMs }) {
  const { RedisReplayStore } = await import("#runtime/redis/redis-replay-store.js");
  const made = new RedisReplayStore({ url, graceMs, timeoutMs });
  if (leaseMs === undefined) return made;
  const claim = made.claim.bind(made);
  return Object.assign(made, { claim: (request) => claim({ ...request, leaseMs }) });
}

await bootstrap(Counted, { ...options, ...(store && { replayStore: await storeOf(store) }) });
