#!/usr/bin/env bash
# A reply arrives after 50 ms, while the event loop is blocked for 1.5 s, and the time limit is 1 s. Node runs timers before it
# reads sockets, so ioredis 6.0.0, axios 1.12.0 and fetch with AbortSignal.timeout fail although the reply is there: a tool that
# computes looks like an outage of Redis. got 14.4.7 and undici 7.16.0 (headersTimeout) return the reply; so does redis 5.8.0,
# whose `timeout` ends when the command is written. Seen on 2026-11-29, Node 20.20, linux x64.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund ioredis@6.0.0 redis@5.8.0 undici@7.16.0 axios@1.12.0 got@14.4.7 >/dev/null
cat >server.mjs <<'JS'
import net from "node:net";
const answer = (text) => {
  if (text.startsWith("GET")) return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  return (text.includes("HELLO") ? "-ERR unknown command\r\n" : "+OK\r\n").repeat(text.split(/(?=^\*)/m).length);
};
const server = net.createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", (data) => setTimeout(() => socket.write(answer(String(data))), 50));
});
process.on("disconnect", () => process.exit());
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
JS
cat >blocked.mjs <<'JS'
import { fork } from "node:child_process";
import { once } from "node:events";
import axios from "axios";
import got from "got";
import Redis from "ioredis";
import { createClient } from "redis";
import { Agent, request } from "undici";
const [port] = await once(fork("server.mjs"), "message");
const url = `http://127.0.0.1:${port}/`;
const ioredis = new Redis({ port, host: "127.0.0.1", commandTimeout: 1000, enableReadyCheck: false, disableClientInfo: true });
const redis = createClient({ url: `redis://127.0.0.1:${port}`, disableClientInfo: true, commandOptions: { timeout: 1000 } });
await redis.connect();
const dispatcher = new Agent({ headersTimeout: 1000 });
for (const [name, call] of Object.entries({
  ioredis: () => ioredis.get("k"),
  redis: () => redis.get("k"),
  undici: () => request(url, { dispatcher }).then(({ body }) => body.text()),
  axios: () => axios.get(url, { timeout: 1000 }),
  got: () => got(url, { timeout: { request: 1000 }, retry: { limit: 0 } }),
  fetch: () => fetch(url, { signal: AbortSignal.timeout(1000) }).then((response) => response.text()),
})) {
  await call();
  const end = call().then(() => "reply", ({ message }) => message);
  await new Promise((resolve) => setImmediate(resolve));
  for (const until = performance.now() + 1500; performance.now() < until; );
  console.log(`${name}: ${await end}`);
}
process.exit();
JS
seen=$(node blocked.mjs)
echo "$seen"
[ "$seen" = "ioredis: Command timed out
redis: reply
undici: reply
axios: timeout of 1000ms exceeded
got: reply
fetch: The operation was aborted due to timeout" ]
