/** TLS: start-up faults, what is negotiated, certificates that change (protocol.md sections 1 and 10). */

import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { type ConnectionOptions, connect, type SecureVersion, type TLSSocket } from "node:tls";
import { ENV_TLS_CERT_PATH, ENV_TLS_KEY_PATH } from "#runtime/config/environment.js";
import type { BootstrapOptions } from "#runtime/index.js";
import { DEADLINES } from "#runtime/server/http/limits.js";
import { tlsFromEnv } from "#runtime/server/http/tls.js";
import { proves, provesRow } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { type Certificate, makeCertificate } from "./certificate.js";
import { holdTimers } from "./held-timers.js";
import { requestText } from "./raw.js";
import {
  attempt,
  countingTool,
  echoCall,
  type LogEntry,
  serveFor,
  serveHasty,
  signedConfig,
  type TestServer,
  until,
  withVariables,
} from "./tools.js";

const directory = scratchFolder();

let serial = 0;
function file(content: string | Uint8Array, mode = 0o600): string {
  const path = join(directory, `${serial++}.pem`);
  writeFileSync(path, content, { mode });
  return path;
}

const ec = makeCertificate();
const rsa = makeCertificate({ kind: "rsa" });
const environment = (cert: string | undefined, key: string | undefined) => ({
  ...(cert !== undefined && { [ENV_TLS_CERT_PATH]: cert }),
  ...(key !== undefined && { [ENV_TLS_KEY_PATH]: key }),
});

interface SecureServer extends TestServer {
  readonly port: number;
  readonly keyPath: string;
  /** Puts a pair there and waits until it was looked at. */
  put(cert: string, key: string): Promise<void>;
}

const tool = countingTool({ path: "tool" });

/** Serves a tool over TLS, with files of its own. */
async function serveTls({ cert, key }: Certificate, options: BootstrapOptions = {}): Promise<SecureServer> {
  const [certPath, keyPath] = [file(cert), file(key)];
  const start = () => serveFor([tool], { reloadIntervalMs: 20, ...options });
  const server = await withVariables(environment(certPath, keyPath), start);
  const put = async (nextCert: string, nextKey: string) => {
    for (const [path, content] of [
      [certPath, nextCert],
      [keyPath, nextKey],
    ] as const) {
      writeFileSync(`${path}.new`, content, { mode: 0o600 });
      renameSync(`${path}.new`, path);
    }
    await server.reload();
  };
  return { ...server, port: Number(new URL(server.url).port), keyPath, put };
}

/** A finished handshake, or what is wrong with it. */
async function shake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port, host: "127.0.0.1", servername: "localhost", rejectUnauthorized: false, ...options });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve).once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
  });
  socket.on("error", () => {});
  return socket;
}

/** What was negotiated. */
async function negotiated(port: number, options: ConnectionOptions = {}) {
  const socket = await shake(port, options);
  const { name } = socket.getCipher();
  const result = { protocol: socket.getProtocol(), cipher: name, alpn: socket.alpnProtocol };
  socket.destroy();
  return result;
}

/** Sends a request on a TLS connection and gives the head and body as text. */
async function ask(socket: TLSSocket, text: string | Uint8Array): Promise<string> {
  let received = "";
  const listen = (chunk: Buffer) => {
    received += chunk.toString("latin1");
  };
  socket.on("data", listen);
  socket.write(text);
  await until(() => {
    const head = received.indexOf("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    return head !== -1 && received.length >= head + 4 + length;
  }, "an answer");
  socket.off("data", listen);
  return received;
}

const fingerprint = (cert: string) => new X509Certificate(cert).fingerprint256;
const served = async (port: number) => {
  const socket = await shake(port);
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
};
const messages = (log: readonly LogEntry[], level: string) =>
  log.filter((entry) => entry.level === level).map(({ message }) => message);

describe("start-up errors have the file, the problem and what to do, before the port is bound", () => {
  const other = makeCertificate();
  const issuer = makeCertificate({ name: "issuer" });
  const leaf = makeCertificate({ issuer });
  const encrypted = ec.privateKey.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "canary" });
  const legacy = rsa.privateKey.export({ format: "pem", type: "pkcs1", cipher: "aes-128-cbc", passphrase: "canary" });
  const weak = makeCertificate({ kind: "weak-rsa" });
  const cert = `${ENV_TLS_CERT_PATH} "CERT" `;
  const key = `${ENV_TLS_KEY_PATH} "KEY" `;
  const both = `${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH} must both be paths, got no path in `;
  const either = "; set both, or unset both to serve without TLS";
  const readable = "must be a readable file, got ";
  const put = "; correct the path or create the file";

  const goodKey = file(ec.key);
  const goodCert = file(ec.cert);
  const none = join(directory, "none");
  const noCert = (got: string) => `${cert}must contain a PEM certificate, got ${got}; use the server's certificate`;
  const noKey = (got: string, use = "use the key of the certificate") =>
    `${key}must contain a PEM private key, got ${got}; ${use}`;
  const damaged = (position: number) =>
    `${cert}must contain PEM certificates, got a damaged one at position ${position}; copy it again`;
  const locked = `${key}must contain a private key without a passphrase, got an encrypted one; decrypt it (openssl pkey -in … -out …)`;
  const unmatched = `${key}must be the key of the certificate at ${ENV_TLS_CERT_PATH}, got the key of another certificate; use a matching pair`;
  const upsideDown = `${cert}must begin with the server's own certificate, got it at position 2; move it to the beginning, followed by its issuers`;
  const tooWeak = `${cert}must be a certificate that OpenSSL accepts at security level 2, got one that it refuses: ee key too small; issue a stronger certificate`;
  const spoilt = ec.cert.replace(/\n[^-\n]{20}/, "\nAAAAAAAAAAAAAAAAAAAA");

  for (const [what, certPath, keyPath, message] of [
    ["only a certificate", goodCert, undefined, `${both}${ENV_TLS_KEY_PATH}${either}`],
    ["only a key", undefined, goodKey, `${both}${ENV_TLS_CERT_PATH}${either}`],
    ["an empty certificate path", "", goodKey, `${both}${ENV_TLS_CERT_PATH}${either}`],
    ["an empty key path", goodCert, "", `${both}${ENV_TLS_KEY_PATH}${either}`],
    ["two empty paths", "", "", `${both}${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH}${either}`],
    ["one empty path", "", undefined, `${both}${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH}${either}`],
    ["a missing certificate", none, goodKey, `${cert}${readable}ENOENT${put}`],
    ["a missing key", goodCert, none, `${key}${readable}ENOENT${put}`],
    ["a directory", directory, goodKey, `${cert}${readable}a directory or a special file${put}`],
    ["an empty certificate", file(""), goodKey, noCert("an empty file")],
    ["an empty key", goodCert, file(" \n\n"), noKey("an empty file")],
    ["the two exchanged", goodKey, goodCert, noCert("a private key")],
    ["two certificates", goodCert, goodCert, noKey("a certificate")],
    ["a truncated certificate", file(ec.cert.slice(0, 200)), goodKey, noCert("a truncated certificate")],
    ["a damaged certificate", file(spoilt), goodKey, damaged(1)],
    ["a damaged issuer", file(ec.cert + spoilt), goodKey, damaged(2)],
    ["another kind of file", file(new X509Certificate(ec.cert).raw), goodKey, noCert("another kind of file")],
    ["a cut key", goodCert, file(ec.key.slice(0, 90)), noKey("a damaged one", "copy it again")],
    ["an encrypted key", goodCert, file(encrypted), locked],
    ["an encrypted key of the old form", file(rsa.cert), file(legacy), locked],
    ["the key of another certificate", goodCert, file(other.key), unmatched],
    ["the key of another kind", file(rsa.cert), goodKey, unmatched],
    ["a chain upside down", file(issuer.cert + leaf.cert), file(leaf.key), upsideDown],
    ["an RSA key of 1024 bits", file(weak.cert), file(weak.key), tooWeak],
  ] as const) {
    it(what, () => {
      const expected = message.replace('CERT"', `${certPath}"`).replace('KEY"', `${keyPath}"`);
      assert.throws(
        () => tlsFromEnv(environment(certPath, keyPath)),
        (error: Error) => {
          assert.equal(error.message, expected);
          return error.name === "StartupError";
        },
      );
      provesRow(what, {
        "10.17": [
          "only a certificate",
          "two empty paths",
          "a missing certificate",
          "an empty key",
          "an encrypted key",
          "the key of another certificate",
        ],
      });
    });
  }

  it("a file that every user can write", { skip: process.platform === "win32" }, () => {
    for (const which of [0, 1]) {
      const paths = [file(ec.cert), file(ec.key)] as const;
      chmodSync(paths[which] as string, 0o602);
      assert.throws(() => tlsFromEnv(environment(...paths)), {
        name: "StartupError",
        message: `${which === 0 ? ENV_TLS_CERT_PATH : ENV_TLS_KEY_PATH} "${paths[which]}" must not be writable by every user of this machine; remove that permission (chmod o-w)`,
      });
    }
  });

  it("a key given instead of a path is not printed", () => {
    const seed = Buffer.alloc(32, 5).toString("hex");
    for (const text of [ec.key, seed, `/run/${seed}`]) {
      for (const paths of [[text, file(ec.key)] as const, [file(ec.cert), text] as const]) {
        assert.throws(
          () => tlsFromEnv(environment(...paths)),
          ({ message }: Error) => !message.includes(seed.slice(0, 12)) && !message.includes("PRIVATE"),
        );
      }
    }
  });

  it("no error: neither variable, a chain, keys of three kinds, a key in an old format", () => {
    assert.equal(tlsFromEnv({}), undefined);
    assert.ok(tlsFromEnv(environment(file(leaf.cert + issuer.cert), file(leaf.key))));
    assert.ok(tlsFromEnv(environment(file(`Bag Attributes\r\n${rsa.cert.replaceAll("\n", "\r\n")}`), file(rsa.key))));
    const ed = makeCertificate({ kind: "ed25519" });
    assert.ok(tlsFromEnv(environment(file(ed.cert), file(ed.key))));
    const sec1 = createPrivateKey(ec.key).export({ format: "pem", type: "sec1" });
    assert.ok(tlsFromEnv(environment(file(ec.cert), file(sec1))));
    const together = file(ec.key + ec.cert);
    assert.ok(tlsFromEnv(environment(together, together)));
    proves("10.17");
  });
});

describe("warnings at start", () => {
  const warningsOf = (pair: Certificate, mode = 0o600) =>
    tlsFromEnv(environment(file(pair.cert), file(pair.key, mode)))?.pair.warnings ?? assert.fail();

  it("a certificate that has expired or is not valid yet", () => {
    const [ended = ""] = warningsOf(makeCertificate({ from: -3, to: -1 }));
    assert.match(
      ended,
      /^SVC_TOOL_TLS_CERT_PATH ".*" expired on \d{4}-\d\d-\d\dT.*Z: callers will refuse it; renew it$/,
    );
    const [early = ""] = warningsOf(makeCertificate({ from: 1, to: 3 }));
    assert.match(early, /^SVC_TOOL_TLS_CERT_PATH ".*" is not valid before \d{4}-.*: check the clock of this machine$/);
    assert.deepEqual(warningsOf(ec), []);
  });

  it("a key that every user can read", { skip: process.platform === "win32" }, () => {
    const [warning = ""] = warningsOf(ec, 0o644);
    assert.match(warning, /^SVC_TOOL_TLS_KEY_PATH ".*" contains a private key and is readable by .*chmod o-r\)$/);
    assert.deepEqual(warningsOf(ec, 0o640), []);
  });
});

describe("what is negotiated", () => {
  let ecServer: SecureServer;
  let rsaServer: SecureServer;
  before(async () => {
    ecServer = await serveTls(ec);
    rsaServer = await serveTls(rsa);
  });
  /** What a client needs to offer what nobody should. */
  const lax = { minVersion: "TLSv1", ciphers: "ALL:@SECLEVEL=0" } as const;

  it("TLS 1.3, or 1.2 for older clients", async () => {
    assert.equal((await negotiated(ecServer.port)).protocol, "TLSv1.3");
    assert.equal((await negotiated(ecServer.port, { maxVersion: "TLSv1.2" })).protocol, "TLSv1.2");
    proves("1.18");
  });

  for (const version of ["TLSv1", "TLSv1.1"] as const) {
    it(`${version} is refused`, async () => {
      for (const { port } of [ecServer, rsaServer]) {
        await assert.rejects(negotiated(port, { ...lax, maxVersion: version }), { code: /PROTOCOL_VERSION/ });
      }
      proves("1.18");
    });
  }

  it("exactly the forward-secret authenticated suites of TLS 1.2", async () => {
    const suites = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"];
    for (const [{ port }, kind] of [
      [ecServer, "ECDSA"],
      [rsaServer, "RSA"],
    ] as const) {
      for (const suite of suites) {
        const ciphers = `ECDHE-${kind}-${suite}`;
        assert.equal((await negotiated(port, { maxVersion: "TLSv1.2", ciphers })).cipher, ciphers);
      }
      const weak = [
        ...["AES128-SHA", "AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-CCM", "CAMELLIA128-SHA"],
        ...["AES128-SHA", "AES256-SHA", "AES128-SHA256", "AES256-SHA384"].map((suite) => `ECDHE-${kind}-${suite}`),
        ...[
          "ECDHE-ECDSA-AES128-CCM",
          "DHE-RSA-AES128-GCM-SHA256",
          "DHE-RSA-CHACHA20-POLY1305",
          "ADH-AES128-GCM-SHA256",
        ],
        ...["NULL-SHA256", "PSK-AES128-GCM-SHA256", "AECDH-AES128-SHA"],
      ];
      for (const suite of weak) {
        const options = { maxVersion: "TLSv1.2", ciphers: `${suite}:@SECLEVEL=0` } as const;
        await assert.rejects(negotiated(port, options), { code: /HANDSHAKE_FAILURE|NO_CIPHERS/ }, suite);
      }
    }
  });

  it("the server's order of suites, whatever the client prefers", async () => {
    const { port } = ecServer;
    const ciphers = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256";
    assert.equal((await negotiated(port, { minVersion: "TLSv1.3", ciphers })).cipher, "TLS_AES_128_GCM_SHA256");
    for (const [server, kind] of [
      [ecServer, "ECDSA"],
      [rsaServer, "RSA"],
    ] as const) {
      const suites = ["CHACHA20-POLY1305", "AES256-GCM-SHA384", "AES128-GCM-SHA256"].map(
        (suite) => `ECDHE-${kind}-${suite}`,
      );
      const { cipher } = await negotiated(server.port, { maxVersion: "TLSv1.2", ciphers: suites.join(":") });
      assert.equal(cipher, `ECDHE-${kind}-AES128-GCM-SHA256`);
    }
  });

  it("http/1.1 by ALPN, never h2", async () => {
    const { port } = ecServer;
    assert.equal((await negotiated(port, { ALPNProtocols: ["h2", "http/1.1"] })).alpn, "http/1.1");
    assert.equal((await negotiated(port)).alpn, false);
    await assert.rejects(negotiated(port, { ALPNProtocols: ["h2"] }), { code: /NO_APPLICATION_PROTOCOL/ });
    const socket = await shake(port);
    assert.match(await ask(socket, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), /^HTTP\/1\.1 400 /);
    socket.destroy();
    proves("1.18");
  });

  it("no second handshake on a connection", async () => {
    const socket = await shake(ecServer.port, { maxVersion: "TLSv1.2" });
    const error = await new Promise((resolve) => {
      socket.on("error", resolve);
      socket.renegotiate({}, resolve);
    });
    assert.match(String(error), /no renegotiation/i);
    socket.destroy();
  });

  /** The session that a handshake gives, by a ticket. */
  async function sessionOf({ port }: SecureServer, maxVersion: SecureVersion): Promise<Buffer> {
    // By the name that the next handshake asks for, too.
    const options = { port, host: "127.0.0.1", servername: "localhost", rejectUnauthorized: false, maxVersion };
    const socket = connect(options).on("error", () => {});
    const [session] = (await once(socket, "session")) as [Buffer];
    socket.destroy();
    return session;
  }
  async function isReused({ port }: SecureServer, maxVersion: SecureVersion, session: Buffer): Promise<boolean> {
    const socket = await shake(port, { maxVersion, session });
    const reused = socket.isSessionReused();
    socket.destroy();
    return reused;
  }
  const VERSIONS: readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

  it("another ticket key each hour: a ticket of an earlier one is not accepted", async () => {
    const timers = holdTimers(3_600_000);
    const server = await serveTls(ec);
    const [rotation] = timers.waiting;
    timers.restore();
    assert.ok(rotation !== undefined);
    for (const version of VERSIONS) {
      const earlier = await sessionOf(server, version);
      rotation.fire();
      assert.equal(await isReused(server, version, earlier), false, version);
      assert.equal(await isReused(server, version, await sessionOf(server, version)), true, version);
    }
  });

  it("plain HTTP on the TLS port gets no answer and affects no other client", async () => {
    const socket = connectTcp(ecServer.port, "127.0.0.1");
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
    });
    socket.on("error", () => {});
    socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "close");
    assert.ok(received <= 7, "an alert at most");
    const refused = ecServer.log.filter(({ message }) => message === "refused");
    assert.match(JSON.stringify(refused), /"bad_request".{1,20}plain HTTP on a port with TLS.*127\.0\.0\.1/);
    assert.equal((await negotiated(ecServer.port)).protocol, "TLSv1.3");
  });
});

describe("what is served", () => {
  it("a signed call, verified as over plain HTTP; the metadata's url is https, the log's too", async () => {
    const server = await serveTls(ec, { config: signedConfig([tool.fqn]) });
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(server.log.find(({ message }) => message === "serving")?.fields.url, server.url);
    const socket = await shake(server.port, { ca: ec.cert, rejectUnauthorized: true });
    const answer = await ask(socket, echoCall(tool, "1").text());
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(answer, /x-svc-tool-signature: /i);
    const meta = await ask(socket, requestText("GET", "/tool/meta", [["Host", "tools.example"]]));
    assert.match(meta, /"url":"https:\/\/tools\.example\/tool\/"/);
    const forwarded = [
      ["Host", "tools.example"],
      ["X-Forwarded-Proto", "http"],
    ] as const;
    assert.match(await ask(socket, requestText("GET", "/tool/meta", forwarded)), /"url":"http:\/\/tools\.example/);
    socket.destroy();
    proves("9.7");
  });
});

describe("a certificate that changes", () => {
  it("is adopted while serving: open connections stay, new ones use it, no request is lost", async () => {
    const server = await serveTls(ec);
    const kept = await shake(server.port);
    const health = requestText("GET", "/tool/health");
    assert.match(await ask(kept, health), /^HTTP\/1\.1 200 /);
    let [done, answered] = [false, 0];
    const caller = async () => {
      while (!done) {
        const status = await new Promise((resolve, reject) => {
          const options = { port: server.port, path: "/tool/health", rejectUnauthorized: false, agent: false } as const;
          request(options, (response) => resolve(response.resume().statusCode))
            .on("error", reject)
            .end();
        });
        assert.equal(status, 200);
        answered++;
      }
    };
    const callers = [caller(), caller()];
    let last = ec;
    for (const kind of ["rsa", "ec", "ed25519", "ec"] as const) {
      last = makeCertificate({ kind });
      await server.put(last.cert, last.key);
      assert.equal(await served(server.port), fingerprint(last.cert));
    }
    await until(() => answered > 10, "some answers");
    done = true;
    await Promise.all(callers);
    assert.match(await ask(kept, health), /^HTTP\/1\.1 200 /);
    assert.equal(kept.getPeerCertificate().fingerprint256, fingerprint(ec.cert));
    kept.destroy();
    const { certificate, certificateExpiresAt } = server.reloads();
    assert.deepEqual([certificate?.applied, certificate?.fault], [4, undefined]);
    assert.equal(certificateExpiresAt, Date.parse(new X509Certificate(last.cert).validTo));
    assert.equal(messages(server.log, "info").filter((m) => m.startsWith("loaded a new version of")).length, 4);
  });

  it("that does not match or is unusable is not adopted, and is logged once without its text", async () => {
    const server = await serveTls(ec);
    const next = makeCertificate();
    const weak = makeCertificate({ kind: "weak-rsa" });
    const kept = "; the previous version remains in use";
    for (const [cert, key, fault] of [
      [next.cert, ec.key, /^SVC_TOOL_TLS_KEY_PATH ".*" must be the key of the certificate at /],
      [
        next.cert.slice(0, 100),
        next.key,
        /^SVC_TOOL_TLS_CERT_PATH ".*" must contain a PEM certificate, got a truncated /,
      ],
      [next.cert, "", /^SVC_TOOL_TLS_KEY_PATH ".*" must contain a PEM private key, got an empty file/],
      [next.cert, next.key.slice(0, -40), /must contain a PEM private key, got a damaged one/],
      [weak.cert, weak.key, /got one that it refuses: ee key too small/],
    ] as const) {
      await server.put(cert, key);
      const last = messages(server.log, "warn").at(-1) ?? "";
      assert.match(last, fault);
      assert.ok(last.endsWith(kept), last);
      assert.equal(await served(server.port), fingerprint(ec.cert));
    }
    rmSync(server.keyPath);
    await until(() => server.reloads().certificate?.fault?.includes("ENOENT") === true, "a fault");
    assert.equal(await served(server.port), fingerprint(ec.cert));
    const text = JSON.stringify(server.log);
    assert.ok(!text.includes("BEGIN") && !text.includes(next.key.split("\n")[1] as string), text);
    await server.put(next.cert, next.key);
    assert.equal(await served(server.port), fingerprint(next.cert));
    assert.equal(server.reloads().certificate?.fault, undefined);
  });
});

describe("handshakes that do not end", { concurrency: true }, () => {
  const stalled = async (port: number, first: Uint8Array): Promise<Socket> => {
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(first);
    return socket;
  };
  /** The beginning of a record that announces a ClientHello. */
  const half = Buffer.from("1603010200010001fc0303", "hex");

  it("are cut off after ten seconds by default, silent or incomplete, while other clients are served", async () => {
    assert.equal(DEADLINES.handshakeMs, 10_000);
    const handshakeMs = 300;
    const setup = tlsFromEnv(environment(file(ec.cert), file(ec.key)));
    const { url } = await serveHasty([tool], { handshakeMs }, undefined, undefined, undefined, setup);
    const port = Number(new URL(url).port);
    const started = performance.now();
    const sockets = [await stalled(port, Buffer.alloc(0)), await stalled(port, half)];
    const closed = sockets.map((socket) => once(socket.resume(), "close"));
    await attempt("a handshake within its time", async () => {
      const result = await negotiated(port).catch(() => undefined);
      return result?.protocol === "TLSv1.3";
    });
    await Promise.all(closed);
    // A timer of node may fire a millisecond early.
    assert.ok(performance.now() - started >= handshakeMs - 1);
    proves("1.18");
  });

  it("do not delay a server that closes", async () => {
    await attempt("closed before the handshakes would be cut", async () => {
      const server = await serveTls(ec);
      await stalled(server.port, half);
      await stalled(server.port, Buffer.alloc(0));
      const idle = await shake(server.port);
      await ask(idle, requestText("GET", "/tool/health"));
      const started = performance.now();
      await server.close();
      return performance.now() - started < 5_000;
    });
  });
});
