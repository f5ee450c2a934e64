/** Tools in a fastify application of a test. */

import { type FastifyInstance, fastify, type SvcToolsOptions, svcTools } from "#runtime/fastify.js";
import { atEnd } from "../teardown.js";
import { type CountingTool, keptLog, UNSIGNED } from "./tools.js";

export type Setup = (app: FastifyInstance) => unknown;

/** An application with tools and a route of its own, `/own`, that listens until the end of the test file. */
export async function mounted(
  tools: readonly CountingTool[],
  {
    before,
    app = fastify(),
    ...options
  }: Partial<SvcToolsOptions> & { prefix?: string; before?: Setup; app?: FastifyInstance } = {},
) {
  const log = keptLog();
  await before?.(app);
  app.post("/own", async (request) => ({ got: request.body }));
  await app.register(svcTools, { tools: tools.map((tool) => tool.class), config: UNSIGNED, logger: log, ...options });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  atEnd(() => app.close());
  return { app, url, log };
}
