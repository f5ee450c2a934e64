/** The HTTP framework that a tool server is built on, with its main types, for programs that embed it beside one. */

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
