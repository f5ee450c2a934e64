/** How the cost of a signed call grows: with ports, values, tools, the size of its body, and live replay entries. */

import { stringOfBytes } from "./bodies.js";
import { measureBeside, warm } from "./calls.js";
import { firstAnswer, tooled } from "./footprint.js";
import { type LoadRequest, measure, measureInTurn, SPARE } from "./load.js";
import { writePage } from "./page.js";
import { type Plot, plotSvg } from "./plot.js";
import { replyCalls } from "./replay.js";
import { type Bench, digits, type Settings, withSpread } from "./report.js";
import { CallSigner, nextSerial, signedConfig } from "./requests.js";
import { leastSquares, summarize } from "./statistics.js";
import { withTarget } from "./target.js";
import { type BenchTool, type BuiltServer, portsTool, TEXT, toolSet, VALUES, withServer } from "./tools.js";

/** What a cost is measured against. */
interface Dimension {
  readonly name: string;
  /** The thing that is counted, in the singular. */
  readonly unit: string;
  readonly axis: string;
  readonly cost: string;
  /** The costs at some places, one repeat. */
  repeat(settings: Settings): Promise<readonly { readonly x: number; readonly y: number }[]>;
}

const CPU = "µs of CPU a call";

/** CPU of signed calls of a tool, the texts of its ports made anew for each. */
function cost(server: BuiltServer, tool: BenchTool, calls: number, texts: () => string[][]): Promise<number> {
  const signer = new CallSigner(tool.ports);
  const requests = (count: number): LoadRequest[] => Array.from({ length: count }, () => signer.sign(texts()));
  const options = { args: [server.entrypoint], path: tool.path, config: signedConfig(server.fqns) };
  return withTarget(options, async (target) => {
    await warm(target, requests, calls);
    return (await measure(target, requests(calls + SPARE)))["µs CPU"];
  });
}

const shortText = () => `"call ${nextSerial()}"`;

const PORTS = [1, 4, 8, 16, 24, 32];
const VALUE_COUNTS = [1, 32, 64, 128, 192, 256];
const TOOL_COUNTS = [1, 20, 50, 100, 200];
const MIB = 1_048_576;
const BODY_MIB = [0.25, 1, 2, 4, 8];
/** Shares of the entries of the settings. */
const FILLS = [0, 0.25, 0.5, 0.75, 1];

/** Does something at each place, one after the other. */
async function atEach(places: readonly number[], use: (place: number) => Promise<number>) {
  const points: { x: number; y: number }[] = [];
  for (const x of places) points.push({ x, y: await use(x) });
  return points;
}

const DIMENSIONS: readonly Dimension[] = [
  {
    name: "ports",
    unit: "port",
    axis: "input ports of one text each",
    cost: CPU,
    repeat: ({ calls }) => {
      const tools = new Map(PORTS.map((count) => [count, portsTool(count)]));
      return withServer([...tools.values()], (server) =>
        atEach(PORTS, (count) => {
          const tool = tools.get(count) as BenchTool;
          return cost(server, tool, calls, () => tool.ports.map(() => [shortText()]));
        }),
      );
    },
  },
  {
    name: "values",
    unit: "value",
    axis: "values of one port",
    cost: CPU,
    repeat: ({ calls }) =>
      withServer([VALUES], (server) =>
        atEach(VALUE_COUNTS, (count) => cost(server, VALUES, calls, () => [Array.from({ length: count }, shortText)])),
      ),
  },
  {
    name: "tools",
    unit: "tool",
    axis: "tools of the server",
    cost: CPU,
    repeat: ({ calls }) =>
      atEach(TOOL_COUNTS, (count) =>
        withServer(toolSet(count), (server) =>
          withTarget(tooled(server), async (target) => {
            await warm(target, replyCalls, calls);
            return (await measure(target, replyCalls(calls + SPARE)))["µs CPU"];
          }),
        ),
      ),
  },
  {
    name: "start",
    unit: "tool",
    axis: "tools of the server",
    cost: "ms from start to first answer",
    repeat: () =>
      atEach(TOOL_COUNTS, (count) =>
        withServer(toolSet(count), (server) => withTarget(tooled(server), (target) => firstAnswer(target))),
      ),
  },
  {
    name: "body",
    unit: "MiB",
    axis: "MiB of JSON, one string",
    cost: CPU,
    repeat: ({ calls }) =>
      withServer([TEXT], (server) =>
        atEach(BODY_MIB, (size) => {
          const signer = new CallSigner(TEXT.ports);
          const options = { args: [server.entrypoint], path: TEXT.path, config: signedConfig(server.fqns) };
          const request = () => signer.sign([[stringOfBytes(size * MIB)]]);
          return withTarget(options, async (target) => {
            await measureInTurn(target, Math.ceil(calls / 1600), request);
            return (await measureInTurn(target, Math.max(2, Math.ceil(calls / 400)), request))["µs CPU"];
          });
        }),
      ),
  },
  {
    name: "entries",
    unit: "10,000 entries",
    axis: "10,000 live replay entries",
    cost: CPU,
    repeat: ({ calls, entries }) =>
      atEach(
        FILLS.map((fill) => Math.ceil(fill * entries) / 10_000),
        async (live) => (await measureBeside(live * 10_000, entries, calls))["µs CPU"],
      ),
  },
];

/** What was found of one dimension. */
interface Scaling extends Plot {
  readonly name: string;
  readonly unit: string;
}

async function measureDimension(dimension: Dimension, settings: Settings): Promise<Scaling> {
  const measured: { readonly x: number; readonly y: number }[] = [];
  for (let repeat = 0; repeat < settings.repeats; repeat++) measured.push(...(await dimension.repeat(settings)));
  const places = [...new Set(measured.map(({ x }) => x))];
  return {
    name: dimension.name,
    unit: dimension.unit,
    title: `${dimension.cost} against ${dimension.axis}`,
    x: dimension.axis,
    y: dimension.cost,
    points: places.map((x) => ({ x, ...summarize(measured.filter((each) => each.x === x).map(({ y }) => y)) })),
    line: leastSquares(measured),
  };
}

const slopeOf = ({ y, unit, line }: Scaling) =>
  `${digits(line.slope)} ± ${digits(line.slopeError)} ${y.split(" ")[0]} a ${unit}`;

function tableOf(found: readonly Scaling[]): string {
  const lines = found.map((each) => {
    const { name, x, y, line } = each;
    return `| [${y} against ${x}](plots/${name}.svg) | ${slopeOf(each)} | ${digits(line.intercept)} | ${line.r2.toFixed(3)} |`;
  });
  return ["| cost | slope | at none | r² |", "|---|---|---|---|", ...lines].join("\n");
}

export const scaling: Bench = {
  title: "how the cost of a signed call grows; the slopes are of least squares over all repeats",
  async run(settings) {
    const found: Scaling[] = [];
    for (const dimension of DIMENSIONS) {
      const each = await measureDimension(dimension, settings);
      found.push(each);
      const points = each.points.map((point) => `${point.x}: ${withSpread(point)}`).join("   ");
      console.log(`  ${each.title}: ${slopeOf(each)}, r² ${each.line.r2.toFixed(3)}\n    ${points}`);
    }
    const plots = found.map(async (each) => [each.name, await plotSvg(each)] as const);
    writePage(settings.docs, "scaling", tableOf(found), Object.fromEntries(await Promise.all(plots)));
    return { rows: found };
  },
};
