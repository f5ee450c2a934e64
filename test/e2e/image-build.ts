/**
 * Builds images with buildah and runs them with runc: no daemon, no registry of images. Needs root, for the base image and the
 * namespaces.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run, shellEnv } from "./packages.js";

const PROGRAMS = ["buildah", "debootstrap", "runc", "ip", "unshare", "apt-get"];

/** Why no image can be built and run on this machine; undefined where it can. */
export function imagesUnavailable(): string | undefined {
  if (process.getuid?.() !== 0) return "NOT TESTED: only root can make the base image";
  const missing = PROGRAMS.filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0);
  return missing.length === 0
    ? undefined
    : `NOT TESTED: ${missing.join(", ")} not installed (apt-get install buildah debootstrap runc iproute2)`;
}

/** Runs a program to its end and asserts exit code 0; gives its standard output. */
export async function ok(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { status, out, stdout } = await run(program, args, cwd === undefined ? {} : { cwd });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${out}`);
  return stdout;
}

/** The images and containers of one test file. */
export class ImageStore {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-image-")));
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly #roots = new Map<string, string>();

  /** Ends what runs and deletes everything. Not by `atEnd`: gigabytes take longer than it grants. */
  async close(): Promise<void> {
    try {
      for (const end of this.#ends) await end();
    } finally {
      await rm(this.folder, { recursive: true });
    }
  }

  /** Registers an action for `close()`. */
  onClose(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  buildah(args: readonly string[], cwd?: string): Promise<string> {
    const storage = [
      "--storage-driver",
      "vfs",
      "--root",
      join(this.folder, "images"),
      "--runroot",
      join(this.folder, "run"),
    ];
    return ok("buildah", [...storage, ...args], cwd);
  }

  /**
   * An image like `node:24-slim`, with the Node and the npm of this machine: the smallest Debian of the machine's own release and
   * mirror, and the user `node` with the number 1000.
   */
  async makeBase(name: string): Promise<void> {
    const root = join(this.folder, "base");
    const [, release = ""] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
    const filters = ["Created-By: Packages", `Codename: ${release}`, "Component: main"];
    const mirrors = await ok("apt-get", ["indextargets", "--format", "$(REPO_URI)", ...filters]);
    // None where apt has no lists: then debootstrap's own.
    const mirror = mirrors.split("\n")[0] || undefined;
    // In a mount namespace of its own: an interrupted debootstrap leaves /proc and /sys in its folder.
    await ok("unshare", ["--mount", "debootstrap", "--variant=minbase", release, root, ...(mirror ? [mirror] : [])]);
    for (const folder of ["var/cache/apt/archives", "var/lib/apt/lists"]) {
      rmSync(join(root, folder), { recursive: true });
    }
    cpSync(process.execPath, join(root, "usr/local/bin/node"));
    const npm = dirname(dirname(realpathSync((await ok("sh", ["-c", "command -v npm"])).trim())));
    cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
    for (const bin of ["npm", "npx"]) {
      await ok("ln", ["-s", `../lib/node_modules/npm/bin/${bin}-cli.js`, join(root, "usr/local/bin", bin)]);
    }
    await ok("chroot", [root, "useradd", "--uid", "1000", "--user-group", "--create-home", "node"]);
    assert.equal((await ok("chroot", [root, "node", "--version"])).trim(), process.version);
    const container = (await this.buildah(["from", "scratch"])).trim();
    await this.buildah(["copy", "-q", container, root, "/"]);
    await this.buildah(["config", "--env", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", container]);
    await this.buildah(["commit", "-q", "--rm", container, name]);
    rmSync(root, { recursive: true });
  }

  /**
   * Builds an image as docker does: `args` are the options of the command, `cwd` the folder of the project.
   *
   * @param npmrc added to npm's settings of this machine, which the build gets as a secret
   * @returns what the build printed
   */
  async build(base: string, args: readonly string[], cwd: string, npmrc: string): Promise<string> {
    const settings = [npmrc];
    const options = [
      "--isolation",
      "chroot",
      "--format",
      "docker",
      "--pull-never",
      "--build-arg",
      `NODE_IMAGE=${base}`,
    ];
    const get = async (name: string) => (await ok("npm", ["config", "get", name], "/")).trim();
    const user = await get("userconfig");
    if (existsSync(user)) {
      settings.unshift(readFileSync(user, "utf8").replaceAll(/^(?:registry|cafile|nodedir)\b.*$/gm, ""));
    }
    settings.push(`registry=${await get("registry")}`);
    const cafile = process.env.NODE_EXTRA_CA_CERTS || (await get("cafile"));
    if (cafile !== "null") {
      settings.push("cafile=/mnt/ca.pem");
      options.push("--volume", `${cafile}:/mnt/ca.pem:ro`);
    }
    const file = join(this.folder, "npmrc");
    writeFileSync(file, settings.join("\n"), { mode: 0o600 });
    const out = await this.buildah(["build", ...options, "--secret", `id=npmrc,src=${file}`, ...args], cwd);
    rmSync(file);
    return out;
  }

  /** The layers of an image, as they travel: compressed tar files, oldest first. */
  async layers(image: string): Promise<string[]> {
    const folder = mkdtempSync(join(this.folder, "pushed-"));
    await this.buildah(["push", "-q", "--compression-format", "gzip", image, `oci:${folder}`]);
    const blob = (digest: string) => join(folder, "blobs", digest.replace(":", "/"));
    const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));
    const manifest = read(blob(read(join(folder, "index.json")).manifests[0].digest));
    return manifest.layers.map(({ digest }: { digest: string }) => blob(digest));
  }

  /** What a container engine reads of an image. */
  async config(image: string): Promise<ImageConfig> {
    return JSON.parse(await this.buildah(["inspect", "--type", "image", image])).Docker.config;
  }

  /** The root file system of an image's containers. They share one, since it is read-only. */
  async root(image: string): Promise<string> {
    const known = this.#roots.get(image);
    if (known !== undefined) return known;
    const container = (await this.buildah(["from", "--pull-never", image])).trim();
    const root = (await this.buildah(["mount", container])).trim();
    // The mount point of the configuration: a container engine makes it too.
    mkdirSync(join(root, "etc/svc"));
    this.#roots.set(image, root);
    return root;
  }
}

export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/**
 * A running container, as `docker run --read-only --cap-drop=ALL --security-opt no-new-privileges -v FOLDER:/etc/svc:ro IMAGE`
 * starts it: namespaces of its own, its network too.
 */
export class ImageProcess {
  /** Everything that it wrote to standard error. */
  log = "";
  readonly exited: Promise<number | null>;

  readonly #runc: readonly string[];
  readonly #name: string;
  readonly #child: ChildProcess;

  private constructor(
    runc: readonly string[],
    name: string,
    /** Address of this machine, as the container sees it. */
    readonly gateway: string,
    readonly address: string,
    child: ChildProcess,
  ) {
    this.#runc = runc;
    this.#name = name;
    this.#child = child;
    this.exited = once(child, "close").then(([code]) => code as number | null);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.log += text;
    });
  }

  /** @param command in place of the image's; @param user as of `--user`, in place of the image's */
  static async start(
    store: ImageStore,
    image: string,
    volume: string,
    command?: readonly string[],
    user?: string,
  ): Promise<ImageProcess> {
    const serial = ImageProcess.#started++;
    const name = `svc${process.pid}-${serial}`;
    const { User, Env, Cmd, WorkingDir } = await store.config(image);
    const root = await store.root(image);
    const [gateway, address] = [1, 2].map((last) => `10.213.${process.pid % 250}.${4 * serial + last}`) as [
      string,
      string,
    ];
    const outside = `v${name}`;
    await ok("ip", ["netns", "add", name]);
    const runc = ["--root", join(store.folder, "runc")];
    store.onClose(() => run("runc", [...runc, "delete", "--force", name]));
    store.onClose(() => ok("ip", ["netns", "delete", name]));
    await ok("ip", ["link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name]);
    await ok("ip", ["address", "add", `${gateway}/30`, "dev", outside]);
    await ok("ip", ["link", "set", outside, "up"]);
    await ok("ip", ["-n", name, "address", "add", `${address}/30`, "dev", "eth0"]);
    for (const device of ["eth0", "lo"]) await ok("ip", ["-n", name, "link", "set", device, "up"]);

    const bundle = join(store.folder, name);
    mkdirSync(bundle);
    await ok("runc", ["spec"], bundle);
    const spec = JSON.parse(readFileSync(join(bundle, "config.json"), "utf8"));
    const [uid, gid] = (user ?? User).split(":").map(Number);
    spec.root = { path: root, readonly: true };
    Object.assign(spec.process, {
      terminal: false,
      user: { uid, gid },
      args: command ?? Cmd,
      env: Env,
      cwd: WorkingDir,
    });
    Object.assign(spec.process, { capabilities: {}, noNewPrivileges: true, rlimits: [] });
    spec.mounts.push({ destination: "/etc/svc", type: "bind", source: volume, options: ["bind", "ro"] });
    const network = spec.linux.namespaces.find(({ type }: { type: string }) => type === "network");
    network.path = `/run/netns/${name}`;
    writeFileSync(join(bundle, "config.json"), JSON.stringify(spec));

    const child = spawn("runc", [...runc, "run", name], {
      cwd: bundle,
      env: shellEnv,
      stdio: ["ignore", "ignore", "pipe"],
    });
    return new ImageProcess(runc, name, gateway, address, child);
  }

  static #started = 0;

  /** Waits for a text in the log; rejects when the process ends before. */
  async logged(text: string): Promise<void> {
    let ended = false;
    void this.exited.then(() => {
      ended = true;
    });
    while (!this.log.includes(text)) {
      assert.ok(!ended, `ended without ${text}:\n${this.log}`);
      await Promise.race([once(this.#child.stderr ?? assert.fail(), "data"), this.exited]);
    }
  }

  /** Runs a program in the container. */
  exec(command: readonly string[], env: readonly string[] = []): ReturnType<typeof run> {
    const variables = env.flatMap((variable) => ["--env", variable]);
    return run("runc", [...this.#runc, "exec", ...variables, this.#name, ...command]);
  }

  /** Sends a signal to the first process of the container. */
  async signal(name: string): Promise<void> {
    await ok("runc", [...this.#runc, "kill", this.#name, name]);
  }
}
