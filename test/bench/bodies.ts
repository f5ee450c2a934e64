/** Calls with large bodies, beside the least work on the same bytes. */

import { floor } from "./calls.js";
import { Caller, type LoadRequest, measureInTurn } from "./load.js";
import { type Bench, compare, judgeRatio, type Side } from "./report.js";
import { CallSigner, nextSerial, signedConfig, uniqueText } from "./requests.js";
import { type Target, withTarget } from "./target.js";
import { type BenchTool, type BuiltServer, ROWS, TEXT, withServer } from "./tools.js";

const MIB = 1_048_576;
const FIGURE = "ms CPU";

/** The JSON text of one string, of exactly some bytes. */
function stringOfBytes(bytes: number): string {
  return `"${uniqueText(bytes - 2)}"`;
}

/** The JSON text of an array of objects, of at most some bytes and hardly fewer. */
function rowsOfBytes(bytes: number): string {
  const rows: string[] = [];
  for (let left = bytes - 2; ; ) {
    const n = nextSerial();
    const row = `{"id":${n},"name":"row number ${n}","active":${n % 2 === 0},"score":${n % 89}.5,"tags":["x","tag ${n % 7}"]}`;
    left -= row.length + 1;
    if (left < 0) return `[${rows.join()}]`;
    rows.push(row);
  }
}

interface BodyKind {
  readonly tool: BenchTool;
  /** Makes the JSON text of the only port, different each time. */
  text(): string;
}

/** A call needs some tenths of a second: few of them are enough. */
const callsOf = (calls: number) => ({ measured: Math.max(2, Math.ceil(calls / 400)), ahead: Math.ceil(calls / 1600) });

function served(server: BuiltServer, { tool, text }: BodyKind, calls: number): Side {
  const signer = new CallSigner(tool.ports);
  // The arrays have a million values.
  const env = { SVC_MAX_INPUT_VALUES: "10000000" };
  const options = { args: [server.entrypoint], path: tool.path, config: signedConfig(server.fqns), env };
  const request = () => signer.sign([[text()]]);
  return {
    name: "svc-runtime signed",
    measure: () =>
      withTarget(options, async (target) => {
        const { measured, ahead } = callsOf(calls);
        await measureInTurn(target, ahead, request);
        const { "µs CPU": micros, ...figures } = await measureInTurn(target, measured, request);
        return { [FIGURE]: micros / 1000, ...figures };
      }),
  };
}

/** The floors, from one server: the work alone, and all that the process did. */
function floors({ text }: BodyKind, calls: number): [Side, Side] {
  const request = (): LoadRequest => ({
    headers: {},
    body: Buffer.from(text()),
  });
  const options = floor("JSON");
  const inProcess = (name: string, use: (target: Target, count: number) => Promise<number>): Side => ({
    name,
    measure: () =>
      withTarget(options, async (target) => {
        const { measured, ahead } = callsOf(calls);
        await measureInTurn(target, ahead, request);
        return { [FIGURE]: (await use(target, measured)) / 1000 };
      }),
  });
  return [
    inProcess("JSON.parse and SHA-256", async (target, count) => {
      const caller = new Caller(target);
      let micros = 0;
      for (let i = 0; i < count; i++) micros += Number((await caller.success(request())).headers["work-micros"]);
      caller.close();
      return micros / count;
    }),
    inProcess(
      "the same behind node:http",
      async (target, count) => (await measureInTurn(target, count, request))["µs CPU"],
    ),
  ];
}

function bodyBench(title: string, limit: number, kind: BodyKind): Bench {
  return {
    title,
    run: ({ repeats, calls }) =>
      withServer([kind.tool], async (server) => {
        const rows = await compare(repeats, [...floors(kind, calls), served(server, kind, calls)], FIGURE);
        return {
          rows,
          goals: [judgeRatio(`CPU of ${title}, of the work on the same bytes`, rows[2], { atMost: limit })],
        };
      }),
  };
}

/** The whole input budget. */
const LARGEST = 8 * MIB;

export const string = bodyBench("a signed call with 8 MiB of JSON, one string", 3, {
  tool: TEXT,
  text: () => stringOfBytes(LARGEST),
});

export const array = bodyBench("a signed call with 8 MiB of JSON, an array of objects", 3, {
  tool: ROWS,
  text: () => rowsOfBytes(LARGEST),
});
