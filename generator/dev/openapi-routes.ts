/** `/openapi.json` and the reference page in a server of development. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DocumentedServer } from "./openapi-file.js";
import { type ReferenceFile, referenceFile } from "./reference-files.js";

/** The used part of a fastify application. */
export interface App {
  addHook(name: "onRequest", hook: (request: Request, reply: Reply, done: () => void) => void): unknown;
}

interface Request {
  readonly raw: IncomingMessage;
}

interface Reply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

export interface ServedProject extends DocumentedServer {
  /** The port of the tools; the process may serve others. */
  readonly port: number;
}

/**
 * Answers `/openapi.json` and `/reference` in front of every other hook and route, and lets the reference page call the
 * tools. Only under names of this machine: a page of another site that rebinds its name to 127.0.0.1 gets nothing.
 */
export function openApiRoutes(app: App, project: ServedProject): void {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${project.port}`);
  const origins = hosts.flatMap((host) => [`http://${host}`, `https://${host}`]);
  // Made when it is asked for, once a build: with 200 tools it takes seconds.
  let document: Promise<ReferenceFile> | undefined;
  app.addHook("onRequest", ({ raw: request }, reply, done) => {
    const { headers, method, socket } = request;
    const isOurs = socket.localPort === project.port && hosts.includes(headers.host ?? "");
    const page = isOurs && method === "GET" ? pageOf(request.url) : undefined;
    if (page === undefined) {
      // A page of this origin came from this server. The server itself compares no origin with a host, see allowedOrigins.
      if (isOurs && origins.includes(headers.origin ?? "")) {
        delete headers.origin;
        delete headers["sec-fetch-site"];
      }
      done();
      return;
    }
    reply.hijack();
    void answer(reply.raw, async () => {
      if (page !== DOCUMENT) return referenceFile(page, project.signed);
      document ??= import("./openapi-file.js").then(({ documentFile }) => documentFile(project));
      return document;
    });
  });
}

const DOCUMENT = "openapi.json";

/** The name of the page's file, or of the document; undefined for every other path. */
function pageOf(url = ""): string | undefined {
  const [path = ""] = url.split("?");
  if (path === `/${DOCUMENT}`) return DOCUMENT;
  if (path === "/reference") return "index.html";
  return /^\/reference\/([a-z-]+\.(?:js|css))$/.exec(path)?.[1];
}

async function answer(response: ServerResponse, find: () => Promise<ReferenceFile | undefined>): Promise<void> {
  try {
    const found = await find();
    if (found === undefined) response.writeHead(404).end();
    else response.writeHead(200, { ...SAFETY, ...found.headers }).end(found.body);
  } catch (error) {
    response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end(`${(error as Error).message}\n`);
  }
}

const SAFETY = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    // Swagger UI has style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
};
