/** Cost of large bodies that are ignored or refused: undeclared members, wrong inputs, wrong hashes. */

import { floor, sum } from "./calls.js";
import { type LoadRequest, measureInTurn } from "./load.js";
import { type Bench, compare, judgeFigure, type Side } from "./report.js";
import { SUM, signedCalls, signedConfig } from "./requests.js";
import { type TargetOptions, withTarget } from "./target.js";

const MIB = 1_048_576;
const FIGURE = "ms CPU";

/** An array of items that are cheap to send and dear to make. */
const array = (item: string) => (bytes: number) => `[${item.repeat(Math.floor(bytes / item.length))}0]`;

const FORMS: Readonly<Record<string, (bytes: number) => string>> = {
  "{}": array("{},"),
  "0": array("0,"),
  numbers: array("1.2345678901234567e-9,"),
  escapes: array('"\\u0041",'),
  names: (bytes) => `{${Array.from({ length: Math.floor(bytes / 13) }, (_, n) => `"n${n}":0`).join()}}`,
};

function side(name: string, options: TargetOptions, request: LoadRequest, status: number): Side {
  return {
    name,
    measure: () =>
      withTarget(options, async (target) => {
        await measureInTurn(target, 1, () => request, status);
        return { [FIGURE]: (await measureInTurn(target, 3, () => request, status))["µs CPU"] / 1000 };
      }),
  };
}

/** The same value as an ignored member, as one of a wrong input, and under a signature of another input. */
function sides(form: string, make: (bytes: number) => string): Side[] {
  const [ignored, signed] = [make(12 * MIB - 256), make(8 * MIB - 256)];
  const request = (body: string, headers = {}): LoadRequest => ({ headers, body: Buffer.from(body) });
  const port = `{"port_name":"label","value":{"one":{"kind":"data","data":${signed}}}}`;
  const headers = signedCalls(1)[0]?.headers;
  return [
    side("JSON.parse and SHA-256 of 12 MiB", floor("JSON"), request(ignored), 200),
    side(`${form}: ignored`, sum({}), request(`{"a":1,"b":2,"label":"x","tags":["x"],"ignored":${ignored}}`), 200),
    side(`${form}: refused`, sum({}), request(`{"ignored":${ignored}}`), 422),
    side(`${form}: another hash`, sum(signedConfig([SUM.fqn])), request(`{"ports":[${port}]}`, headers), 422),
  ];
}

export const refused: Bench = {
  title: "bodies that are ignored or refused: 12 MiB unsigned, 8 MiB signed with the hash of another input",
  async run({ repeats }) {
    const rows = [];
    for (const [form, make] of Object.entries(FORMS)) rows.push(...(await compare(repeats, sides(form, make), FIGURE)));
    const goals = rows.flatMap((row) =>
      row.ratio === undefined ? [] : [judgeFigure(`ms CPU, ${row.name}`, row, FIGURE, { atMost: 300 })],
    );
    return { rows, goals };
  },
};
