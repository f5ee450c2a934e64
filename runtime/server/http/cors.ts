/** CORS for `allowedOrigins` (Fetch standard, section 3.2): preflights, and headers that let pages read answers. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import type { SignatureHeaders } from "svc-client/internal/wire/protocol";
import type { AllowedOrigins } from "../call/allowed-origins.js";
import { StartupError } from "../errors/startup-error.js";
import { unreadBytes } from "./lingering-close.js";
import { REQUEST_ID_HEADER } from "./request-id.js";
import type { ToolRoutes } from "./tool-routes.js";

/** Web pages that may read answers. */
export interface Pages {
  readonly origins: AllowedOrigins;
  readonly headers: SignatureHeaders;
}

/** Time, in seconds, for which browsers cache a preflight. Otherwise every signed call would need a preflight. */
const PREFLIGHT_SECONDS = 600;

/**
 * Registers @fastify/cors for the tools' routes, unless the application has registered it. For other origins, this only
 * adds `Vary: Origin`.
 */
export async function allowPages(
  app: FastifyInstance,
  { origins, headers }: Pages,
  routes: Pick<ToolRoutes, "isRefused" | "owns" | "refuse">,
): Promise<void> {
  if (origins.isEmpty || app.hasPlugin("@fastify/cors")) return;
  if (app.hasRoute({ method: "OPTIONS", url: "/*" })) {
    throw new StartupError(
      "allowedOrigins: the application already has a route OPTIONS *; remove the route, or register @fastify/cors yourself and remove allowedOrigins",
    );
  }
  const { toolSignature, ...sent } = headers;
  const allowed = {
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: ["Content-Type", "Accept", ...Object.values(sent)],
    exposedHeaders: [headers.version, toolSignature, headers.replayMemory, "Retry-After", REQUEST_ID_HEADER],
    maxAge: PREFLIGHT_SECONDS,
    cacheControl: "no-store",
  };
  const { default: cors } = await import("@fastify/cors");
  await app.register(cors, {
    delegator: (request, done) => {
      const { origin } = request.headers;
      if (origins.has(origin) && routes.owns(request))
        done(null, { ...allowed, origin, preflight: isPreflight(request) && !routes.isRefused(request) });
      else done(null, { origin: false });
    },
  });
  // The plugin adds an OPTIONS route for every path; OPTIONS requests that are not preflights must still be rejected.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.method === "OPTIONS") routes.refuse(request, reply);
    else done();
  });
}

/** Whether a request is a preflight, which has no body. */
function isPreflight({ headers, raw }: FastifyRequest): boolean {
  return headers["access-control-request-method"] !== undefined && unreadBytes(raw) === 0;
}
