/**
 * docs/deploy/replicas without containers: each service of the compose file as a process with its command, its environment
 * and its files, on an address of its own among those of this machine.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { makeCertificate } from "../runtime/certificate.js";
import { atEnd } from "../teardown.js";
import { entrypoint } from "./process.js";

const FILES = "docs/deploy/replicas";

const isThere = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const PROGRAMS = [
  ["redis-server", isThere("redis-server", "--version")],
  ["nginx-light", isThere("nginx", "-v")],
  ["openssl", isThere("openssl", "version")],
] as const;
const missing = PROGRAMS.flatMap(([name, there]) => (there ? [] : [name]));

/** For `skip` of a test: why the deployment cannot run on this machine. */
export const WITHOUT_DEPLOYMENT: string | false =
  platform() !== "linux"
    ? "NOT TESTED: needs the loopback addresses of Linux"
    : missing.length > 0 && `NOT TESTED: needs Debian's ${missing.join(", ")}`;
const RECORD_RUNS = fileURLToPath(new URL("../../examples/sum/dist/record-runs.js", import.meta.url));

/** How often a replica is started before a test gives up. */
const MAX_STARTS = 5;

/** A service of the compose file, as far as it is read here. */
export interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: { readonly inside?: { readonly ipv4_address: string } };
}

/** The compose file. */
export function readCompose(text: string): { readonly services: Readonly<Record<string, Service>> } {
  return parse(text, { merge: true }) as { services: Record<string, Service> };
}

/** A process of a service. */
export interface Running {
  readonly process: ChildProcess;
  readonly address: string;
  log(): string;
  /** Ends it at once and waits for its end. */
  kill(): Promise<void>;
}

/** The services of the compose file on this machine. */
export class Deployment {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-deploy-"));
  /** In place of 10.89.0: of two runs at the same time each has its own. */
  readonly network = `127.${randomInt(1, 255)}.${randomInt(0, 256)}`;
  readonly #services: Readonly<Record<string, Service>>;

  constructor() {
    chmodSync(this.folder, 0o755);
    cpSync(FILES, join(this.folder, "files"), { recursive: true });
    this.setUp();
    makeUpstream(join(this.folder, "files"));
    this.#services = readCompose(this.#here(readFileSync(`${FILES}/compose.yaml`, "utf8"))).services;
    atEnd(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Runs setup.sh with its argument. */
  setUp(...args: string[]): void {
    const script = this.#here(readFileSync(`${FILES}/setup.sh`, "utf8"));
    const options = { cwd: join(this.folder, "files"), encoding: "utf8" } as const;
    const { status, stderr } = spawnSync("sh", ["-c", script, "setup.sh", ...args], options);
    if (status !== 0) throw new Error(`setup.sh: ${stderr}`);
  }

  /** A file of ./secrets. */
  secret(path: string): string {
    return join(this.folder, "files/secrets", path);
  }

  /** Certificate and key of the servers behind the gateway, as PEM. */
  get upstream(): { readonly cert: string; readonly key: string } {
    const read = (name: string) => readFileSync(join(this.folder, "files/upstream/tool", name), "utf8");
    return { cert: read("cert.pem"), key: read("key.pem") };
  }

  /** Starts a server or Sentinel of Redis by its command. */
  startRedis(name: string): Running {
    const { service, places, address } = this.#service(name);
    const [program = "", script = "", ...lines] = service.command ?? [];
    for (const path of places.values()) mkdirSync(path, { recursive: true });
    // Each has its own copy, since the files name the places of a container.
    const own = join(this.folder, name);
    cpSync(join(this.folder, "files/redis"), join(own, "etc"), { recursive: true });
    places.set("/etc/redis", join(own, "etc"));
    for (const file of ["start.sh", "ready.sh", "redis.conf", "sentinel.conf"]) {
      const path = join(own, "etc", file);
      writeFileSync(path, this.#placed(this.#here(readFileSync(path, "utf8")), places));
    }
    return this.#start(program, [this.#placed(script, places), ...lines, `bind ${address}`], address, {});
  }

  /** Starts the servers and Sentinels of Redis; resolves when each Sentinel knows the replicas and the other Sentinels. */
  async startStore(): Promise<{ readonly servers: Running[]; readonly sentinels: Running[] }> {
    const servers = ["redis-1", "redis-2", "redis-3"].map((name) => this.startRedis(name));
    // A Sentinel asks a primary for its replicas at once, and then every 10 s.
    for (const replica of servers.slice(1)) await untilLog(replica, "sync: Finished with success");
    const sentinels = ["sentinel-1", "sentinel-2", "sentinel-3"].map((name) => this.startRedis(name));
    const known = (log: string) => new Set(log.match(/\+(?:slave|sentinel) \S+ \S+/g)).size;
    for (const sentinel of sentinels) await until(sentinel, () => known(sentinel.log()) >= 4);
    return { servers, sentinels };
  }

  /** Writes ./config/config.json, which all replicas follow; in one step, as the kubelet and careful editors do. */
  configure(config: object): void {
    const path = join(this.folder, "files/config/config.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, JSON.stringify(config), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  /** The reply of a server of Redis to a command of a user. */
  redis(address: string, user: string, password: string, ...command: string[]): string {
    const tls = ["--tls", "--cacert", this.secret("redis/ca.pem"), "--user", user];
    const options = { encoding: "utf8", env: { ...process.env, REDISCLI_AUTH: password } } as const;
    const { stdout, stderr } = spawnSync("redis-cli", ["-h", address, ...tls, ...command], options);
    return (stdout + stderr).trim();
  }

  /** Whether a server of Redis is ready by the probe of its pod. */
  isReady(name: string): boolean {
    const script = join(this.folder, name, "etc/ready.sh");
    return spawnSync("sh", [script, this.#service(name).address]).status === 0;
  }

  /** The reply of a Sentinel, which has no password. */
  sentinel(address: string, ...command: string[]): string {
    const tls = ["-p", "26379", "--tls", "--cacert", this.secret("redis/ca.pem")];
    return spawnSync("redis-cli", ["-h", address, ...tls, "SENTINEL", ...command], { encoding: "utf8" }).stdout;
  }

  /** The reply to a command of the operator. */
  operate(address: string, ...command: string[]): string {
    return this.redis(address, "operator", readFileSync(this.secret("operator-password"), "utf8"), ...command);
  }

  /**
   * Starts a replica with the environment of its service: of examples/sum, which writes its runs to a file, or of another
   * program.
   */
  async startReplica(
    name: string,
    env: Record<string, string> = {},
    args: readonly string[] = ["--import", RECORD_RUNS, entrypoint("sum")],
  ): Promise<Running & { runs(): string[] }> {
    const { service, places, address } = this.#service(name);
    const runs = join(this.folder, `runs-${name}`);
    writeFileSync(runs, "", { flag: "a" });
    const variables = Object.entries(service.environment ?? {}).map(([key, value]) => {
      const here = value.replace(/^(?:0\.0\.0\.0|127\.0\.0\.1):/, `${address}:`);
      return [key, this.#placed(here, places)] as const;
    });
    const settings = { ...Object.fromEntries(variables), ...env, RUNS_FILE: runs };
    let running = this.#start(process.execPath, args, address, settings);
    // Started again as by `restart`, such as on a machine that was too busy to answer within the limit of a start.
    for (let tries = 1; !(await serves(running)); tries++) {
      if (tries === MAX_STARTS) throw new Error(`${name} does not start:\n${running.log()}`);
      running = this.#start(process.execPath, args, address, settings);
    }
    return { ...running, runs: () => readFileSync(runs, "utf8").split("\n").slice(0, -1) };
  }

  /** Starts nginx with nginx.conf; gives its URL and the certificate to trust, which is for `localhost`. */
  async startGateway(): Promise<Running & { readonly url: string; readonly ca: string }> {
    const address = `${this.network}.10`;
    const { cert, key } = makeCertificate();
    const folder = join(this.folder, "gateway");
    mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(folder, "cert.pem"), cert);
    writeFileSync(join(folder, "key.pem"), key);
    const replaced = [
      [" /tmp/", ` ${folder}/`],
      ["listen 8443 ssl", `listen ${address}:8443 ssl`],
      ["/etc/nginx/tls/", `${folder}/`],
      // What node gives a child as its output cannot be opened by a path.
      ["/dev/stdout", `${folder}/access.log`],
      ["/etc/nginx/upstream/", join(this.folder, "files/upstream/gateway/")],
    ] as const;
    const text = replaced.reduce(
      (conf, [from, to]) => {
        if (!conf.includes(from)) throw new Error(`nginx.conf has no ${from}`);
        return conf.replaceAll(from, to);
      },
      this.#here(readFileSync(`${FILES}/nginx.conf`, "utf8")),
    );
    writeFileSync(join(folder, "nginx.conf"), text);
    const running = this.#start(
      "nginx",
      ["-c", join(folder, "nginx.conf"), "-g", "daemon off; master_process off;"],
      address,
      {},
    );
    // nginx writes the file once it listens.
    await until(running, () => {
      try {
        return readFileSync(join(folder, "nginx.pid"), "utf8") !== "";
      } catch {
        return false;
      }
    });
    return { ...running, url: `https://${address}:8443`, ca: cert };
  }

  #service(name: string) {
    const service = this.#services[name];
    if (service === undefined) throw new Error(`compose.yaml has no service ${name}`);
    const places = new Map<string, string>();
    for (const volume of service.volumes ?? []) {
      const [source = "", place = ""] = volume.split(":");
      places.set(place, join(this.folder, source.startsWith("./") ? `files/${source}` : `data/${source}`));
    }
    return { service, places, address: service.networks?.inside?.ipv4_address ?? "" };
  }

  #start(program: string, args: readonly string[], address: string, env: Record<string, string>): Running {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    atEnd(() => child.kill("SIGKILL"));
    let log = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        log += text;
      });
    }
    const kill = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    };
    return { process: child, address, log: () => log, kill };
  }

  #here(text: string): string {
    return text.replaceAll("10.89.0.", `${this.network}.`);
  }

  #placed(text: string, places: ReadonlyMap<string, string>): string {
    return [...places].reduce((result, [place, path]) => result.replaceAll(place, path), text);
  }
}

/** Makes ./upstream in a folder: the certificate of the servers, and the copy that the gateway trusts. */
export function makeUpstream(folder: string): void {
  const script = fileURLToPath(new URL("../../docs/deploy/upstream-tls.sh", import.meta.url));
  const { status, stderr } = spawnSync("sh", [script], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`upstream-tls.sh: ${stderr}`);
  // nginx's workers are another user when it is started by root; in containers the folders are mounted one by one.
  chmodSync(join(folder, "upstream"), 0o755);
}

/** Waits for an event in a process; fails when the process ends first. */
export async function until(running: Running, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    const { exitCode, signalCode, spawnfile } = running.process;
    if (exitCode !== null || signalCode !== null || tries > 2_400) {
      throw new Error(`${spawnfile} (exit code ${exitCode ?? signalCode}):\n${running.log()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Whether a server says that it serves before it ends. */
async function serves(running: Running): Promise<boolean> {
  const { process: child } = running;
  while (child.exitCode === null && child.signalCode === null) {
    if (running.log().includes('"msg":"serving"')) return true;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return false;
}

export const untilLog = (running: Running, text: string) => until(running, () => running.log().includes(text));
