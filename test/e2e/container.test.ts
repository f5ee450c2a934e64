/** docs/deploy: the container's files against what they refer to, and their steps without containers. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { it } from "node:test";
import { GUIDE_FILES } from "../guide.js";

const containerfile = readFileSync("docs/deploy/Containerfile", "utf8");
const compose = readFileSync("docs/deploy/compose.yaml", "utf8");

it("the container starts node itself, as a user without rights", () => {
  assert.match(containerfile, /^CMD \["node", "dist\/generated\/server\.js"\]$/m);
  assert.match(containerfile, /^USER 1000:1000$/m);
});

it("container and gateway agree about the port", () => {
  assert.match(containerfile, /BIND_ADDR=0\.0\.0\.0:8080/);
  assert.match(compose, /expose: \["8080"\]/);
  assert.match(compose, /ports: \["443:8443"\]/);
});

it("svc comes from the checkout that the packages of a project name", () => {
  assert.match(containerfile, /^#.* --build-context svc=\.\.\/svc /m);
  assert.match(compose, /^ {6}additional_contexts:\n {8}svc: \.\.\/svc$/m);
  assert.match(GUIDE_FILES["package.json"] ?? "", /"svc-runtime": "file:\.\.\/svc\/runtime"/);
});

function sh(command: string, cwd: string): string {
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd, encoding: "utf8" });
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
  return stdout;
}

/** Takes the steps of a container file, with a folder for the root of each stage; gives that of the last. */
function build(text: string, contexts: Readonly<Record<string, string>>, root: string): string {
  const stages: Record<string, string> = { ...contexts };
  let [stage, folder] = ["", ""];
  for (const line of text.replaceAll("\\\n", "").split("\n")) {
    const [, step, rest = ""] = /^(FROM|WORKDIR|RUN|COPY) (.*)$/.exec(line) ?? [];
    if (step === "FROM") {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "last";
      stage = join(root, name);
      stages[name] = stage;
    } else if (step === "WORKDIR") {
      folder = join(stage, rest);
      mkdirSync(folder, { recursive: true });
    } else if (step === "RUN") sh(rest, folder);
    else if (step === "COPY") {
      const source = stages[/--from=(\w+)/.exec(rest)?.[1] ?? "."] ?? assert.fail(line);
      const paths = rest.split(" ").filter((word) => !word.startsWith("--"));
      const to = paths.pop() ?? "";
      const target = to.startsWith("/") ? join(stage, to) : join(folder, to);
      for (const path of paths) {
        // Into a folder that is named as such, else to that name.
        const into = path !== "." && to.endsWith("/") ? join(target, path.split("/").at(-1) ?? "") : target;
        cpSync(join(source, path), into, { recursive: true, verbatimSymlinks: true });
      }
    }
  }
  return stage;
}

const FULL = { skip: process.env.SVC_TEST_FULL !== "1" && "SVC_TEST_FULL=1: it installs svc anew" };
it("the image of a project beside svc serves, and has no compiler", FULL, () => {
  const root = mkdtempSync(join(tmpdir(), "svc-image-"));
  const contexts = { svc: join(root, "contexts/svc"), ".": join(root, "contexts/tool") };
  try {
    sh(`git clone -q . "${contexts.svc}"`, ".");
    for (const [path, text] of Object.entries(GUIDE_FILES)) {
      if (path === "src/call.ts") continue;
      const target = join(contexts["."], path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    sh("npm install --package-lock-only --loglevel=error", contexts["."]);
    const image = build(containerfile, contexts, root);
    rmSync(join(root, "contexts"), { recursive: true });
    rmSync(join(root, "build"), { recursive: true });
    const meta = JSON.parse(sh("node dist/generated/server.js --meta", join(image, "tool")));
    assert.equal(meta[0].fqn, "xyz.demo.sum@1");
    assert.equal(sh("find . -name typescript -o -name ts-morph", image), "");
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
