/** Bodies made to cost memory: whatever is refused or ignored is never made into values. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { attempt } from "../../runtime/tools.js";
import { clientOf, ECHO, type FaultServer, FULL, memoryOf, startFaultServer } from "./harness.js";

const LINUX = { skip: process.platform !== "linux" && "needs /proc" };
const MIB = 1024 * 1024;
/** Values are not bounded, so that the bodies are read whole. */
const OPTIONS = { nodeOptions: ["--max-old-space-size=256", "--expose-gc"], maxInputValues: 100_000_000 };
/** What a body may cost above the idle server: its own bytes, and its tape, which has 100 MB here and is copied as it grows. */
const ALLOWED = 260 * MIB;

/** A JSON array of a repeated item, close below a size. */
const items = (item: string, size: number) => `[${item.repeat(Math.floor(size / item.length))}0]`;
const names = (size: number) => `{${Array.from({ length: Math.floor(size / 13) }, (_, i) => `"n${i}":0`).join(",")}}`;

/** Arrays of empty objects, of digits, of numbers that are printed anew; objects of distinct names. */
const hostile = (size: number) => [
  items("0,", size),
  names(size),
  ...(FULL ? [items("{},", size), items("1.2345678901234567e-9,", size), items('"\\u0041",', size)] : []),
];

/** The most bytes that a server ever had resident. */
function mostBytes({ process: child }: FaultServer): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Sends a body to a server whose garbage is collected first, so that what is seen is the cost of one. */
async function post(
  server: FaultServer,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  await memoryOf(server);
  const response = await fetch(`${server.url}/echo/invoke`, { method: "POST", body, headers });
  await response.arrayBuffer();
  return response.status;
}

/** On a busy machine memory may be freed later than it is taken again, so one of several servers must be modest. */
const modest = (served: () => Promise<{ readonly server: FaultServer; readonly idle: number }>) =>
  attempt(`less than ${ALLOWED / MIB} MiB above idle`, async () => {
    const { server, idle } = await served();
    const cost = mostBytes(server) - idle;
    assert.equal(await server.stop(), 0);
    return cost < ALLOWED;
  });

it("unsigned bodies of 12 MiB, ignored and refused, with 256 MB of heap", LINUX, () =>
  modest(async () => {
    const server = await startFaultServer({ config: "{}", ...OPTIONS });
    assert.equal(await post(server, '{"value":1}'), 200);
    const { resident: idle } = await memoryOf(server);
    for (const value of hostile(12 * MIB - 100)) {
      // The limit on values is raised; the memory that they might take is not there.
      assert.equal(await post(server, `{"ignored":${value},"value":1}`), 413);
      assert.equal(await post(server, `{"ignored":${value}}`), 413);
      assert.equal(await post(server, `{"ignored":${value}`), 422);
    }
    return { server, idle };
  }),
);

it("signed bodies of 8 MiB whose hash does not match, with 256 MB of heap", LINUX, () =>
  modest(async () => {
    const server = await startFaultServer(OPTIONS);
    const client = await clientOf(server, ECHO);
    const { headers } = client.sign({ value: 1 });
    const { resident: idle } = await memoryOf(server);
    for (const value of hostile(8 * MIB - 100)) {
      for (const data of [value, value.replace(",", " ,")]) {
        const body = `{"ports":[{"port_name":"value","value":{"one":{"kind":"data","data":${data}}}}]}`;
        assert.equal(await post(server, body, headers), 422);
      }
    }
    return { server, idle };
  }),
);
