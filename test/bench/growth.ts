/** How the cost of a call and of a start grows with tools, leader keys, nonces and connections. */

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { LONG_TTL_MS, sum, warm } from "./calls.js";
import { callReply, startOf } from "./footprint.js";
import { measure, SPARE } from "./load.js";
import { type Bench, compare, type Figures, type Goal, judgeRatio, type Row } from "./report.js";
import { CallSigner, SUM, signedCalls, signedConfig, strangersOf } from "./requests.js";
import { type Target, withTarget } from "./target.js";
import { REPLY, toolSet, withServer } from "./tools.js";

const FIGURE = "µs CPU";
/** Requests that are made at a time, for the memory of the load. */
const BATCH = 20_000;

type Measure = (size: number, calls: number) => Promise<Figures>;

async function sumCalls(target: Target, calls: number): Promise<Figures> {
  await warm(target, signedCalls);
  return measure(target, signedCalls(calls + SPARE));
}

const ofTools: Measure = (size, calls) =>
  withServer(toolSet(size), async (server) => {
    const options = { args: [server.entrypoint], path: REPLY.path, config: signedConfig(server.fqns) };
    const started = await startOf(options, callReply);
    return withTarget(options, async (target) => {
      const signer = new CallSigner(REPLY.ports);
      const requests = (count: number) => Array.from({ length: count }, (_, i) => signer.sign([[`"${i}"`]]));
      await warm(target, requests);
      const figures = await measure(target, requests(calls + SPARE));
      return { ...figures, "ms CPU of the start": started["ms CPU"] as number };
    });
  });

const ofKeys: Measure = async (size, calls) => {
  const options = sum(signedConfig([SUM.fqn], LONG_TTL_MS, strangersOf(size - 1)));
  const started = await startOf(options);
  const figures = await withTarget(options, (target) => sumCalls(target, calls));
  return { ...figures, "ms CPU of the start": started["ms CPU"] as number };
};

const ofNonces: Measure = (size, calls) =>
  withTarget(sum(signedConfig([SUM.fqn], LONG_TTL_MS), { SVC_REPLAY_MAX_BYTES: "2000000000" }), async (target) => {
    for (let left = size; left > 0; left -= BATCH) await measure(target, signedCalls(Math.min(left, BATCH) + SPARE));
    return sumCalls(target, calls);
  });

/** A connection that has had one answer and stays open. */
async function idle({ url }: Target): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /health HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await once(socket, "data");
  return socket;
}

const ofConnections: Measure = (size, calls) =>
  withTarget(sum(signedConfig([SUM.fqn], LONG_TTL_MS), { SVC_MAX_CONNECTIONS: "15000" }), async (target) => {
    await warm(target, signedCalls);
    const sockets: Socket[] = [];
    for (let i = 0; i < size; i++) sockets.push(await idle(target));
    const figures = await measure(target, signedCalls(calls + SPARE));
    for (const socket of sockets) socket.destroy();
    return figures;
  });

const SERIES: readonly (readonly [what: string, sizes: readonly number[], Measure])[] = [
  ["tools", [1, 10, 100, 1_000], ofTools],
  ["leader keys", [1, 1_000, 10_000, 100_000], ofKeys],
  ["nonces", [0, 10_000, 100_000, 1_000_000], ofNonces],
  ["idle connections", [0, 100, 1_000, 10_000], ofConnections],
];

export const growth: Bench = {
  title: "a signed call and a start, beside tools, leader keys, nonces and idle connections of growing number",
  run: async ({ repeats, calls }) => {
    const rows: Row[] = [];
    const goals: Goal[] = [];
    for (const [what, sizes, measured] of SERIES) {
      const sides = sizes.map((size) => ({
        name: `${size.toLocaleString("en")} ${what}`,
        measure: () => measured(size, calls),
      }));
      const series = await compare(repeats, sides, FIGURE);
      rows.push(...series);
      goals.push(judgeRatio(`CPU a call at the most ${what}, of the fewest`, series.at(-1), { atMost: 1.1 }));
    }
    return { rows, goals };
  },
};
