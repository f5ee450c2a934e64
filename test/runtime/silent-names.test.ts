/** `http` while the name server does not answer for some names. Needs the right to replace the system's name server. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";
import { start } from "./child.js";

/** Port 53 is fixed, so each process of tests has an address of its own. */
const NAME_SERVER = `127.83.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const mayReplace = process.platform === "linux" && spawnSync("unshare", ["--mount", "true"]).status === 0;

/** A name server that resolves every name to 127.0.0.1, and does not answer for names that begin with `silent`. */
async function nameServer(): Promise<void> {
  const server = createSocket("udp4", (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 5;
    if (query.toString("latin1", 13, 19) === "silent") return;
    const isAddress = query[end - 3] === 1;
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
    const answer = isAddress ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1] : [];
    server.send(Buffer.concat([header, query.subarray(12, end), Buffer.from(answer)]), port, address);
  }).bind(53, NAME_SERVER);
  await once(server, "listening");
  atEnd(() => server.close());
}

/** Requests eight silent names, and then names that are answered. */
const CODE = `
import { http } from "svc-runtime";
const context = { signal: new AbortController().signal, deadline: performance.now() + 60_000 };
const get = (name, more) => http(context, "http://" + name + ".example:" + process.env.PORT, { attempts: 1, ...more })
  .then(({ status }) => status, ({ kind }) => kind);
const names = Array.from({ length: 4 }, (_, i) => "silent-" + i);
const silent = names.flatMap((name) => [get(name), get(name + "-public", { publicOnly: true })]);
const answered = [await get("answered"), await get("public", { publicOnly: true })];
process.stdout.write(JSON.stringify(answered) + "\\n");
process.exit();
`;

test("names without an answer do not stop requests to other names", { skip: !mayReplace }, async () => {
  await nameServer();
  const server = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  const conf = join(scratchFolder(), "resolv.conf");
  writeFileSync(conf, `nameserver ${NAME_SERVER}\n`);
  const shell = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const node = [process.execPath, "--input-type=module", "-e", CODE];
  const child = start("unshare", ["--mount", "/bin/sh", "-c", shell, conf, ...node], {
    PORT: `${(server.address() as AddressInfo).port}`,
  });
  const { stdout, stderr } = await child.ended;
  assert.equal(stdout, '[200,"forbidden_address"]\n', stderr);
});
