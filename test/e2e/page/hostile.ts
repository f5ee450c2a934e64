/** A server whose metadata and results are made to break a page, and the page that shows it. */

import { createServer } from "node:http";
import { RESULT_CONTENT_TYPE } from "#client/wire/protocol.js";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import { listen } from "../../listening.js";
import { atEnd } from "../../teardown.js";
import { encodeOutputDeclared } from "../../wire/declared-bcs.js";

/** Text that a page may show and never obeys. */
export const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>{{x}}`;

const text = JSON.stringify(HOSTILE);

const META = `{"fqn":"xyz.page.hostile@1","url":"http://localhost/","timeout":10000,"description":${text},
"input_schema":{"type":"object","description":${text},"properties":{
  ${text}:{"type":"string","description":${text},"pattern":${text},"examples":[${text}]},
  "choice":{"type":"string","enum":[${text},"b"]},
  "map":{"type":"object","additionalProperties":{"type":"string"}}},
  "required":[${text},"choice","map"]},
"output_schema":{"oneOf":[{"type":"object","properties":{${text}:{"type":"object","properties":{${text}:{"type":"string"}},"required":[${text}]}},"required":[${text}]}]}}`;

const RESULT = encodeOutputDeclared({
  tag: HOSTILE,
  ports: [{ name: HOSTILE, values: [{ kind: "inline", bytes: Buffer.from(text) }] }],
});

/** Starts both; the address of the page. */
export async function hostileServer(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isMeta = request.url === "/meta";
    if (request.method === "GET" && !isMeta) {
      response.writeHead(request.url === "/health" ? 200 : 404, { "X-Hostile": HOSTILE }).end();
      return;
    }
    const type = isMeta ? "application/json" : RESULT_CONTENT_TYPE;
    const length = request.headers["content-length"] === "0";
    if (length && !isMeta) response.writeHead(422).end(`{"error":"input_deserialization_error","details":${text}}`);
    else response.writeHead(200, { "Content-Type": type, "X-Hostile": HOSTILE }).end(isMeta ? META : RESULT);
  });
  const page = new DevelopmentPage({ url: `http://${await listen(server)}`, leader: () => ({}) });
  await page.open();
  atEnd(() => page.close());
  return page.url;
}
