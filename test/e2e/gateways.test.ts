/**
 * The configurations of docs/deploy/gateways with the real programs, of Debian's packages. SVC_WRITE_DOCS=1 writes what
 * each gateway does into docs/gateway.md. nginx has gateway.test.ts for its rules.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, it } from "node:test";
import { LeaderClient, publicKeyOf } from "#runtime/leader.js";
import { SUM, signedCall, signedConfig, TOOL_SEED, uniqueText } from "../bench/requests.js";
import { until } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { type ExampleProcess, leasePort, startExample } from "./process.js";

const ONLY_FULL = { skip: process.env.SVC_TEST_FULL !== "1" && "SVC_TEST_FULL=1 runs it" };
const FOLDER = "docs/deploy/gateways";
const PAGE = "docs/gateway.md";
const MIB = 1_048_576;

type Command = readonly [program: string, ...args: string[]];

/** A gateway: how it prints its version, and the commands to run, with the names of configurations in place of their paths. */
type Program = readonly [
  title: string,
  version: Command,
  commands: readonly Command[],
  /** Status of an HTTP/2 call without a length; undefined if it has no HTTP/2. */
  lengthless?: number,
];

const NGINX_FILE = "nginx-on-host.conf";
const VARNISH = ["-n", "varnish-work", "-a", "127.0.0.1:6086,PROXY", "-p", "feature=+http2", "-f", "varnish.vcl"];

const PROGRAMS: readonly Program[] = [
  ["nginx", ["nginx", "-v"], [["nginx", "-g", "daemon off;", "-c", NGINX_FILE]], 200],
  ["HAProxy", ["haproxy", "-v"], [["haproxy", "-f", "haproxy.cfg"]], 411],
  ["Caddy", ["caddy", "version"], [["caddy", "run", "--adapter", "caddyfile", "--config", "Caddyfile"]], 411],
  ["Apache", ["apache2", "-v"], [["apache2", "-D", "FOREGROUND", "-f", "apache.conf"]], 200],
  [
    "Varnish with hitch",
    ["varnishd", "-V"],
    [
      ["varnishd", "-F", ...VARNISH],
      ["hitch", "--config=hitch.conf"],
    ],
    200,
  ],
  ["lighttpd", ["lighttpd", "-v"], [["lighttpd", "-D", "-f", "lighttpd.conf"]], 411],
  ["Squid", ["squid", "-v"], [["squid", "-N", "-f", "squid.conf"]]],
];

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

interface Call {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** A running gateway in front of the example `sum`. */
class Gateway {
  readonly url: string;
  readonly ca: string;
  readonly #children: ChildProcess[] = [];

  private constructor(url: string, ca: string) {
    this.url = url;
    this.ca = ca;
  }

  static async start([title, , commands]: Program, server: string): Promise<Gateway> {
    const folder = scratchFolder();
    // The programs change their user.
    chmodSync(folder, 0o777);
    mkdirSync(join(folder, "varnish-work"));
    const [port, inner] = [await leasePort(), await leasePort()];
    const replaced = (text: string) =>
      text
        .replaceAll("8443", String(port))
        .replaceAll("8081", new URL(server).port)
        .replaceAll("6086", String(inner))
        .replace(
          /\/etc\/(?:svc-gateway|nginx\/tls)(?=\/)|\/var\/log\/\w+(?=\/)|\/run(?:\/apache2)?(?=\/\w+\.pid)|\/tmp(?=\/nginx)/g,
          folder,
        );
    const files: Readonly<Record<string, string>> = {
      ...Object.fromEntries(
        ["haproxy.cfg", "Caddyfile", "apache.conf", "varnish.vcl", "hitch.conf", "lighttpd.conf", "squid.conf"].map(
          (name) => [name, readFileSync(join(FOLDER, name), "utf8")],
        ),
      ),
      [NGINX_FILE]: nginxOnHost(),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), replaced(text));
    // Not by certificate.ts: Go refuses its certificates.
    const request = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=gateway".split(" ");
    const pem = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"];
    assert.equal(spawnSync("openssl", [...request, ...pem], { cwd: folder }).status, 0);
    const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(join(folder, name), "utf8")) as [
      string,
      string,
    ];
    for (const [name, text] of [
      ["cert.pem", cert],
      ["key.pem", key],
      ["cert.pem.key", key],
      ["both.pem", key + cert],
    ] as const) {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), 0o644);
    }
    const log = openSync(join(folder, "log"), "w");
    const gateway = new Gateway(`https://127.0.0.1:${port}`, cert);
    for (const [program, ...args] of commands) {
      const given = args.map((arg) =>
        arg === "varnish-work" || arg in files
          ? join(folder, arg)
          : replaced(arg.replace("--config=", `--config=${folder}/`)),
      );
      // Not by a pipe, which the workers of a gateway keep open.
      const child = spawn(program, given, { stdio: ["ignore", log, log], env: { ...process.env, HOME: folder } });
      atEnd(() => child.kill("SIGKILL"));
      gateway.#children.push(child);
    }
    for (let tries = 0; ; tries++) {
      const status = await gateway.http1({ path: "/health" }).then(({ status }) => status, String);
      if (status === 200) return gateway;
      assert.ok(tries < 600, `${title} answers /health by ${status}:\n${readFileSync(join(folder, "log"), "utf8")}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  stop(): void {
    for (const child of this.#children) child.kill("SIGTERM");
  }

  async http1({ path, headers = {}, body }: Call): Promise<Answer> {
    const method = body === undefined ? "GET" : "POST";
    const length = body && { "content-length": String(body.length) };
    const options = { method, headers: { ...headers, ...length }, ca: this.ca, agent: false };
    const outgoing = httpsRequest(this.url + path, options);
    if (headers.Expect === undefined) outgoing.end(body);
    else outgoing.once("continue", () => outgoing.end(body)).flushHeaders();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, body: await buffer(response) };
  }

  async http2({ path, headers = {}, body }: Call, hasLength = true): Promise<Answer> {
    // An error of the session is one of the stream too.
    const session = connectHttp2(this.url, { ca: this.ca }).on("error", () => undefined);
    const length = hasLength && body !== undefined && { "content-length": String(body.length) };
    const method = body === undefined ? "GET" : "POST";
    const stream = session.request({ ":method": method, ":path": path, ...headers, ...length }).end(body);
    const [{ ":status": status = 0 }] = (await once(stream, "response")) as [{ readonly ":status"?: number }];
    const answer = { status, body: await buffer(stream) };
    session.destroy();
    return answer;
  }
}

/** docs/gateway.md has the command that makes this configuration. */
function nginxOnHost(): string {
  const [, script = ""] = /^sed (.*\\\n(?:.*\\\n)*.*) >nginx\.conf$/m.exec(readFileSync(PAGE, "utf8")) ?? [];
  const { stdout, stderr } = spawnSync("sh", ["-c", `sed ${script}`], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.replaceAll(/127\.0\.0\.1:8082/g, "127.0.0.1:8081");
}

/** What one gateway did: the cells of its row. */
const rows: string[] = [];

describe("gateways", ONLY_FULL, () => {
  for (const program of PROGRAMS) {
    const [title, [command, ...args], , lengthless] = program;
    const { stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
    const [version] = /\d+\.\d+(?:\.\d+)?/.exec(`${stdout}${stderr}`) ?? [];
    const skip = error !== undefined && `NOT TESTED: ${command} is not installed`;
    it(`${title} ${version}`, { skip }, async () => {
      const server = await startExample("sum", signedConfig([SUM.fqn]), { SVC_LOG_LEVEL: "debug" });
      const gateway = await Gateway.start(program, server.url);
      rows.push(`| ${[`${title} ${version}`, ...(await cellsOf(lengthless, gateway, server))].join(" | ")} |`);
      gateway.stop();
      assert.equal(await server.stop(), 0);
    });
  }

  it("docs/gateway.md has these results", () => {
    const page = readFileSync(PAGE, "utf8");
    const table = /(\| gateway \| .*\n\|[-|]*\n)((?:\|.*\n)*)/;
    const now = page.replace(table, (_, head: string) => `${head}${rows.join("\n")}\n`);
    if (process.env.SVC_WRITE_DOCS === "1") writeFileSync(PAGE, now);
    // Versions and seconds differ.
    const plain = (text: string) => text.replace(/\d+(?:\.\d+)*(?= (?:\||s))/g, "N");
    assert.equal(plain(now), plain(readFileSync(PAGE, "utf8")), `SVC_WRITE_DOCS=1 npm run test:run -- e2e/gateways`);
  });
});

async function cellsOf(lengthless: number | undefined, gateway: Gateway, server: ExampleProcess): Promise<string[]> {
  const leader = { id: "leader", keyId: 0, key: Buffer.alloc(32, 7) };
  const options = { leader, toolKey: publicKeyOf(TOOL_SEED), tls: { ca: gateway.ca } };
  const client = await LeaderClient.connect(`${gateway.url}/sum`, options);
  assert.equal((await client.invoke({ a: 1n, b: 2n, label: "three", tags: ["x"] })).signature, "verified");
  assert.equal(client.metadata.url, `${gateway.url}/sum/`, "/meta has the address of the gateway");
  client.close();
  const statusOf = async (ask: Promise<Answer>) => (await ask).status;
  const path = "/sum/invoke";
  const call = (note = uniqueText(20)) => ({ path, ...signedCall(note) });
  assert.equal(await statusOf(gateway.http1(call(uniqueText(MIB)))), 200, "1 MiB");
  const expecting = call();
  assert.equal(
    await statusOf(gateway.http1({ ...expecting, headers: { ...expecting.headers, Expect: "100-continue" } })),
    200,
    "Expect",
  );
  const again = call();
  const [first, second] = [await gateway.http1(again), await gateway.http1(again)];
  assert.deepEqual([first.status, second.body.equals(first.body)], [200, true]);
  await until(() => server.log().includes('"replayed":true'), "the log line of a stored answer");
  for (const changed of ["/sum//health", "/sum/%68ealth"])
    assert.equal(await statusOf(gateway.http1({ path: changed })), 404, changed);
  if (lengthless !== undefined) {
    assert.equal(await statusOf(gateway.http2(call())), 200, "HTTP/2");
    assert.equal(await statusOf(gateway.http2(call(uniqueText(MIB)))), 200, "HTTP/2, 1 MiB");
    assert.equal(await statusOf(gateway.http2(call(), false)), lengthless, "HTTP/2 without a length");
  }
  server.process.kill("SIGSTOP");
  const began = performance.now();
  const frozen = await statusOf(gateway.http1(call())).finally(() => server.process.kill("SIGCONT"));
  const seconds = Math.round((performance.now() - began) / 1000);
  assert.ok(frozen >= 500 && frozen <= 504, `${frozen}`);
  const http2 = lengthless === undefined ? ["refused", ""] : ["✓", String(lengthless)];
  return ["✓", ...http2, "✓", "✓", "✓", "✓", `${frozen} after ${seconds} s`];
}
