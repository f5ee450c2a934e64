/** Load at a constant rate of arrival. Times count from when a call was due, so none is left out while others wait. */

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type LoadRequest, withRequestFile } from "./load.js";
import { type Destination, LOAD_CORE, spawnOn, TYPESCRIPT } from "./target.js";

/** More than are ever busy at once, unless the server cannot keep up. */
const CONNECTIONS = 64;

/** One call of an open loop; times in milliseconds from the start. */
export interface Arrival {
  readonly due: number;
  readonly sent: number;
  readonly answered: number;
  readonly status: number;
}

/** Sends each request once, `rate` of them in a second, from a process on the other core. */
export function sendAtRate(target: Destination, requests: readonly LoadRequest[], rate: number): Promise<Arrival[]> {
  return withRequestFile(target, requests, async (file) => {
    const { hostname, port } = new URL(target.url);
    const program = fileURLToPath(new URL("sender.ts", import.meta.url));
    const args = [...TYPESCRIPT, program, hostname, port, file, String(rate), String(CONNECTIONS)];
    const child = spawnOn(LOAD_CORE, process.execPath, args);
    const chunks: Buffer[] = [];
    let log = "";
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => {
      log += chunk;
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (code !== 0) throw new Error(`the sender ended with exit code ${code}:\n${log}`);
    return readArrivals(Buffer.concat(chunks));
  });
}

function readArrivals(bytes: Buffer): Arrival[] {
  return Array.from({ length: bytes.length / 32 }, (_, index) => {
    const at = (place: number) => bytes.readDoubleLE(index * 32 + place * 8);
    return { due: at(0), sent: at(1), answered: at(2), status: at(3) };
  });
}

/** Milliseconds from when each call was due to its answer. */
export function latencies(arrivals: readonly Arrival[]): number[] {
  return arrivals.map(({ due, answered }) => answered - due);
}
