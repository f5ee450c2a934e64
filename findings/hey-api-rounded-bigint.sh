#!/usr/bin/env bash
# @hey-api/openapi-ts 0.87.0 with its plugin transformers (bigInt: true) gives an int64 property the type bigint, but the generated
# client makes the bigint from the number of JSON.parse: an integer beyond 2^53 arrives rounded, with a type that says exact.
# The server sends 9007199254740993. Seen on 2026-11-29, Node 20.20.2.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund @hey-api/openapi-ts@0.87.0 typescript@5.9.3 tsx@4.20.6 >/dev/null
cat >api.json <<'JSON'
{
  "openapi": "3.1.0",
  "info": { "title": "counter", "version": "1" },
  "paths": { "/count": { "get": { "operationId": "getCount", "responses": { "200": { "description": "the count", "content": {
    "application/json": { "schema": { "type": "object", "required": ["count"], "properties": { "count": { "type": "integer", "format": "int64" } } } }
  } } } } } }
}
JSON
cat >generate.mjs <<'JS'
import { createClient } from "@hey-api/openapi-ts";
const plugins = ["@hey-api/client-fetch", { name: "@hey-api/transformers", bigInt: true }, { name: "@hey-api/sdk", transformer: true }];
await createClient({ input: "api.json", output: "client", plugins, logs: { level: "silent" } });
JS
node generate.mjs
cat >call.mts <<'JS'
import { createServer } from "node:http";
import { getCount } from "./client/sdk.gen.ts";
const server = createServer((_, response) =>
  response.setHeader("content-type", "application/json").end('{"count":9007199254740993}'),
);
server.listen(0, "127.0.0.1", async () => {
  const { port } = server.address() as { port: number };
  const { data } = await getCount({ baseUrl: `http://127.0.0.1:${port}` });
  console.log(typeof data?.count, data?.count.toString());
  server.close().closeAllConnections();
});
JS
seen=$(node_modules/.bin/tsx call.mts)
grep -F "count: bigint" client/types.gen.ts
echo "$seen"
[ "$seen" = "bigint 9007199254740992" ]
