/**
 * Loaded by `svc-gen dev` into the processes of its server, before the generated entrypoint. The entrypoint knows nothing
 * of it, so that no server in production can have these routes.
 */

import { subscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { preloadOptions } from "./openapi-preload-url.js";
import { type App, openApiRoutes } from "./openapi-routes.js";

const { port, signed } = preloadOptions(import.meta.url);

// fastify publishes every application that is made, before it has routes and hooks.
subscribe("fastify.initialization", (message) => {
  const root = process.cwd();
  // Now, because a later run of svc-gen replaces the file while this build still serves.
  const metaJson = readFileSync(join(root, "meta.json"), "utf8");
  openApiRoutes((message as { readonly fastify: App }).fastify, { port, signed, root, metaJson });
});
