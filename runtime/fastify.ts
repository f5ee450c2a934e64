/** svc-runtime/fastify: the plugin that mounts tools in a fastify application, and fastify itself. */

import "./internal/node-version.js";

export {
  default,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
} from "fastify";
export { type SvcToolsOptions, svcTools } from "./server/fastify-plugin.js";
