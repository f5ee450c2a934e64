/** svc-runtime/fastify: tools in a fastify application of one's own, and the framework that a tool server is built on. */

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
export { type SvcToolsOptions, svcTools } from "./server/svc-tools.js";
