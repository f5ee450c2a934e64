#!/usr/bin/env bash
# @fastify/aws-lambda 6.4.1 returns an answer of an unknown content type as UTF-8 text, so that other bytes are replaced: a fastify 5.12.8
# application that sends Buffer.of(200, 1) as application/x-bytes answers with "\uFFFD\u0001" and isBase64Encoded: false. With the option
# enforceBase64, the bytes arrive. Seen on 2026-11-28.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund fastify@5.12.8 @fastify/aws-lambda@6.4.1 >/dev/null
cat >ask.cjs <<'JS'
const fastify = require("fastify");
const awsLambdaFastify = require("@fastify/aws-lambda");
const http = { method: "GET", path: "/", protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
const ask = async (options) => {
  const app = fastify();
  app.get("/", (_request, reply) => reply.type("application/x-bytes").send(Buffer.of(200, 1)));
  const event = { version: "2.0", rawPath: "/", headers: {}, requestContext: { http } };
  const { body, isBase64Encoded } = await awsLambdaFastify(app, options)(event, {});
  return Buffer.from(body, isBase64Encoded ? "base64" : "utf8").toString("hex");
};
ask({}).then(async (text) => console.log(text, await ask({ enforceBase64: () => true })));
JS
seen=$(node ask.cjs)
echo "default, enforceBase64: $seen"
[ "$seen" = "efbfbd01 c801" ]
