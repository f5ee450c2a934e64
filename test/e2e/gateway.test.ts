/** docs/deploy: the gateway's configuration with the real nginx. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, createServer, request } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { LeaderClient, publicKeyOf } from "#runtime/leader.js";
import { LEADER_KEY, SUM, signedConfig, TOOL_SEED } from "../bench/requests.js";
import { svcGenIn } from "../generator/run-cli.js";
import { listen } from "../listening.js";
import { makeCertificate } from "../runtime/certificate.js";
import { until } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { makeUpstream } from "./deployment.js";
import { type ExampleProcess, leasePort, startExample } from "./process.js";

const DEPLOY = "docs/deploy";
const nginx = spawnSync("nginx", ["-v"]).status === 0 && spawnSync("openssl", ["version"]).status === 0;
const MIB = 1_048_576;

/** The folder with ./upstream, as upstream-tls.sh makes it. */
const upstreamFolder = scratchFolder();
const upstreamFile = (name: string) => join(upstreamFolder, "upstream/tool", name);
const TLS = { SVC_TOOL_TLS_CERT_PATH: upstreamFile("cert.pem"), SVC_TOOL_TLS_KEY_PATH: upstreamFile("key.pem") };

/** The file as it stands, but for the addresses and places of this machine. */
function configuration(directory: string, port: number, upstream: string): string {
  const replaced: readonly (readonly [string, string])[] = [
    ["pid /tmp/", `pid ${directory}/`],
    ["_path /tmp/", `_path ${directory}/`],
    ["server tool:8080;", `server ${upstream};`],
    ["listen 8443 ssl", `listen 127.0.0.1:${port} ssl`],
    ["/etc/nginx/tls/", `${directory}/`],
    // What node gives a child as its output cannot be opened by a path.
    ["/dev/stdout", `${directory}/access.log`],
    ["/etc/nginx/upstream/", `${upstreamFolder}/upstream/gateway/`],
  ];
  let text = readFileSync(`${DEPLOY}/nginx.conf`, "utf8");
  for (const [from, to] of replaced) {
    assert.ok(text.includes(from), `nginx.conf has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

interface Gateway {
  readonly url: string;
  /** The lines of its log so far. */
  requests(): Readonly<Record<string, unknown>>[];
  readonly process: ChildProcess;
  readonly ca: string;
}

async function startGateway(upstream: string): Promise<Gateway> {
  const directory = scratchFolder();
  // nginx's workers are another user when it is started by root.
  chmodSync(directory, 0o755);
  const { cert, key } = makeCertificate();
  writeFileSync(join(directory, "cert.pem"), cert);
  writeFileSync(join(directory, "key.pem"), key);
  const port = await leasePort();
  writeFileSync(join(directory, "nginx.conf"), configuration(directory, port, upstream));
  const child = spawn("nginx", ["-c", join(directory, "nginx.conf"), "-g", "daemon off;"], {
    stdio: ["ignore", "inherit", "pipe"],
  });
  atEnd(() => child.kill("SIGKILL"));
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const requests = () =>
    readFileSync(join(directory, "access.log"), "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const gateway = { url: `https://127.0.0.1:${port}`, requests, process: child, ca: cert };
  for (let tries = 0; ; tries++) {
    assert.equal(child.exitCode, null, log);
    const there = await exchange(gateway, { path: "/health" }).catch(() => undefined);
    if (there !== undefined) return gateway;
    assert.ok(tries < 1_200, `the gateway does not answer:\n${log}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Exchange {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
}

async function exchange({ url, ca }: Gateway, { path, method = "GET", headers = {}, body }: Exchange) {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { "Content-Length": String(body.length) };
  const agent = new Agent({ ca });
  const outgoing = request({ hostname, port, path, method, headers: { ...headers, ...length }, agent });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const answer = { status: response.statusCode, headers: response.headers, body: await buffer(response) };
  agent.destroy();
  return answer;
}

async function stop({ process: child }: Gateway): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

const WITHOUT = {
  skip: nginx ? false : "NOT TESTED: nginx or openssl is not installed (apt-get install nginx-light openssl)",
};
after(() => {
  if (!nginx) console.error(`\n${WITHOUT.skip}: docs/deploy/nginx.conf was not run\n`);
});

before(() => {
  if (!nginx) return;
  chmodSync(upstreamFolder, 0o755);
  makeUpstream(upstreamFolder);
});

describe("nginx in front of an example", WITHOUT, () => {
  let example: ExampleProcess;
  let gateway: Gateway;
  before(async () => {
    example = await startExample("sum", signedConfig([SUM.fqn]), { ...TLS, SVC_LOG_LEVEL: "debug" });
    gateway = await startGateway(new URL(example.url).host);
  });
  after(async () => {
    await stop(gateway);
    assert.equal(await example.stop(), 0);
  });

  it("a signed call goes through, and its signature verifies", async () => {
    const leader = { id: "leader", keyId: 0, key: Buffer.alloc(32, 7) };
    assert.deepEqual(publicKeyOf(leader.key), LEADER_KEY);
    const options = { leader, toolKey: publicKeyOf(TOOL_SEED), tls: { ca: gateway.ca } };
    const client = await LeaderClient.connect(`${gateway.url}/sum`, options);
    const { signature, tag } = await client.invoke({ a: 1n, b: 2n, label: "three", tags: ["x"] });
    assert.deepEqual([signature, tag], ["verified", "ok"]);
    assert.equal(client.metadata.url, `${gateway.url}/sum/`, "the metadata has the address of the gateway");
    client.close();
  });

  it("X-Forwarded headers of clients do not reach the metadata", async () => {
    const headers = { "X-Forwarded-Host": "elsewhere.example", "X-Forwarded-Proto": "http" };
    const { body } = await exchange(gateway, { path: "/sum/meta", headers });
    assert.equal((JSON.parse(body.toString()) as { url: string }).url, `${gateway.url}/sum/`);
  });

  it("both logs and the answer contain the same request id: the caller's if it is valid, otherwise that of nginx", async () => {
    for (const [given, kept] of [
      ["Root=1-6789/a.b:c+d@e_f", true],
      ['a"b', false],
      ["x".repeat(65), false],
    ] as const) {
      const headers = { "X-Request-Id": given };
      const call = { path: "/sum/invoke", method: "POST", headers, body: Buffer.from("{}") };
      const answer = await exchange(gateway, call);
      const id = answer.headers["x-request-id"];
      assert.equal(answer.status, 401);
      assert.ok(kept ? id === given : /^[0-9a-f]{32}$/.test(String(id)), `${id}`);
      await until(() => gateway.requests().at(-1)?.request === id, "the line of nginx");
      const { uri, status, upstream_status } = gateway.requests().at(-1) ?? {};
      assert.deepEqual([uri, status, upstream_status], ["/sum/invoke", 401, "401"]);
      await until(() => example.log().includes(`"request":"${id}"`), "the line of the server");
    }
    const own = await exchange(gateway, { path: "/", method: "POST", body: Buffer.alloc(12 * MIB + 1) });
    assert.deepEqual([own.status, String(own.headers["x-request-id"]).length], [413, 32], "an answer of nginx itself");
  });

  it("paths go through byte for byte", async () => {
    for (const path of ["/sum//health", "/sum/%68ealth", "/sum/./health", "/sum/health/"]) {
      assert.equal((await exchange(gateway, { path })).status, 404, path);
    }
  });

  it("svc-gen doctor reports only that the certificate expires soon", async () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "ca.pem"), gateway.ca);
    writeFileSync(join(folder, "leader.key"), "07".repeat(32), { mode: 0o600 });
    const args = ["--ca", join(folder, "ca.pem"), "--leader-key", join(folder, "leader.key"), "--json"];
    for (const size of [[], ["--size", `${12 * MIB}`]]) {
      const { out } = await svcGenIn("examples/sum", ["doctor", `${gateway.url}/sum`, ...args, ...size]);
      const { checks } = JSON.parse(out) as { checks: { name: string; ok: boolean | null; detail: string }[] };
      assert.equal(checks.length, 10);
      assert.deepEqual(
        checks.filter(({ ok }) => ok !== true).map(({ name, detail }) => [name, detail]),
        [["tls", "TLSv1.3, the chain is trusted, the certificate expires in 1 day"]],
      );
    }
  });

  it("if the server hangs, the gateway answers 504 before a client gives up", async () => {
    example.process.kill("SIGSTOP");
    try {
      const began = performance.now();
      const { status } = await exchange(gateway, { path: "/sum/invoke", method: "POST", body: Buffer.from("{}") });
      assert.equal(status, 504);
      assert.ok(performance.now() - began >= 4_900, "after a time limit of nginx.conf");
    } finally {
      example.process.kill("SIGCONT");
    }
    assert.equal((await exchange(gateway, { path: "/health" })).status, 200);
  });

  it("gateway and server have the same body limit", async () => {
    const call = (length: number) =>
      exchange(gateway, { path: "/sum/invoke", method: "POST", body: Buffer.alloc(length) });
    const allowed = await call(12 * MIB);
    assert.deepEqual([allowed.status, allowed.headers["content-type"]], [401, "application/json"]);
    assert.equal((await call(12 * MIB + 1)).status, 413);
  });
});

describe("nginx in front of a test server", WITHOUT, () => {
  it("answers 502 if the server has another certificate, and sends nothing to that server", async () => {
    const { cert, key } = makeCertificate({ name: "tool" });
    let requests = 0;
    const impostor = createServer({ cert, key }, (_request, response) => {
      requests++;
      response.end();
    });
    const gateway = await startGateway(await listen(impostor));
    try {
      const body = Buffer.from("{}");
      assert.equal((await exchange(gateway, { path: "/sum/invoke", method: "POST", body })).status, 502);
      assert.equal(requests, 0);
    } finally {
      await stop(gateway);
    }
  });

  it("passes all headers in both directions, and does not change bodies", async () => {
    const sent = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) & 255));
    let seen: { headers: IncomingMessage["headers"]; body: Buffer } | undefined;
    const names = ["Sig-V", "Leader-Id", "Leader-Key-Id", "Input-Hash", "Leader-Signature", "Nonce"];
    const outgoing = Object.fromEntries(
      ["X-Svc-", "X-Nexus-"].flatMap((prefix) => names.map((name, i) => [`${prefix}${name}`, `value-${i}_=.`])),
    );
    const incoming = { "X-Svc-Sig-V": "3", "X-Svc-Tool-Signature": "abc_-", "Retry-After": "1", Vary: "Accept" };
    const pair = { cert: readFileSync(upstreamFile("cert.pem")), key: readFileSync(upstreamFile("key.pem")) };
    const server = createServer(pair, async (request, response) => {
      seen = { headers: request.headers, body: await buffer(request) };
      response.writeHead(200, { ...incoming, "Content-Type": "application/x-bytes" });
      response.end(Buffer.from(sent).reverse());
    });
    const gateway = await startGateway(await listen(server));
    try {
      const headers = { ...outgoing, Accept: "x/y" };
      const answer = await exchange(gateway, { path: "/x/invoke?a=%2F", method: "POST", headers, body: sent });
      for (const [name, value] of Object.entries(headers)) {
        assert.equal(seen?.headers[name.toLowerCase()], value, name);
      }
      assert.equal(seen?.headers["content-length"], String(sent.length));
      assert.ok(seen?.body.equals(sent));
      for (const [name, value] of Object.entries(incoming)) {
        assert.equal(answer.headers[name.toLowerCase()], value, name);
      }
      assert.ok(answer.body.equals(Buffer.from(sent).reverse()));
    } finally {
      await stop(gateway);
    }
  });
});
