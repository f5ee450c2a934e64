/** Peak of the resident memory, and the time of `/health` on another connection, while a server is flooded. */

import { whyNoLimit } from "../e2e/fault/cgroup.js";
import { flood, leaderFloods, STRANGERS, startServer } from "../e2e/fault/floods.js";
import { type Bench, type Goal, judgeFigure } from "./report.js";
import { hasRedis, redisEnvironment, withRedis } from "./shared.js";
import { type Summary, summarize } from "./statistics.js";

const MS = 5_000;
/** Some connections, and `undefined` for as many as the server accepts. */
const CONNECTIONS = [300, undefined];

export const floods: Bench = {
  title: "a signed server in a container of 512 MiB while requests flood it",
  run: async ({ repeats }) => {
    const skipped = whyNoLimit();
    if (skipped !== undefined) return { rows: [], skipped };
    const rows: { readonly name: string; readonly figures: Readonly<Record<string, Summary>> }[] = [];
    const goals: Goal[] = [];
    console.log(
      "| flood | answer, bytes | connections | peak, MiB | /health, median, ms | /health, p99, ms | /readyz, p99, ms |",
    );
    const leaders = leaderFloods();
    const inRedis = hasRedis() ? leaders.map((each) => ({ ...each, name: `${each.name}, with Redis` })) : [];
    for (const each of [...STRANGERS, ...leaders, ...inRedis]) {
      const measure = async (env: Record<string, string>, connections: number | undefined) => {
        const server = await startServer(env);
        const damage = await flood(server, each, { ms: MS, ...(connections !== undefined && { connections }) });
        server.child.process.kill("SIGKILL");
        await server.child.ended;
        return damage;
      };
      for (const given of CONNECTIONS) {
        const damages = [];
        for (let i = 0; i < repeats; i++) {
          damages.push(
            await (inRedis.includes(each)
              ? withRedis((redis) => measure(redisEnvironment(redis), given))
              : measure({}, given)),
          );
        }
        const connections = given ?? "most";
        const figures = {
          "peak, MiB": summarize(damages.map(({ peakMiB }) => peakMiB)),
          "/health, median, ms": summarize(damages.map(({ medianMs }) => medianMs)),
          "/health, p99, ms": summarize(damages.map(({ healthMs }) => healthMs)),
          "/readyz, p99, ms": summarize(damages.map(({ adminMs }) => adminMs)),
        };
        const name = `${each.name}, ${connections} connections`;
        const cells = Object.values(figures).map(({ median }) => median.toFixed(0));
        console.log(`| ${[each.name, each.bytes, connections, ...cells].join(" | ")} |`);
        rows.push({ name, figures });
        for (const path of ["/health", "/readyz"])
          goals.push(
            judgeFigure(`p99 of ${path}, ms: ${name}`, { name, figures }, `${path}, p99, ms`, { atMost: 250 }),
          );
      }
    }
    return { rows, goals };
  },
};
