/**
 * What the packages hold, and what publint and attw say of them.
 *
 *     SVC_WRITE_DOCS=1 npm run test:run -- e2e/packed    writes test/e2e/package-files
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { scratchFolder } from "../scratch-folder.js";
import { PACKAGES, type PackageName, type PackedPackage, pack, run } from "./packages.js";

const ROOT = process.cwd();
const WRITES = process.env.SVC_WRITE_DOCS === "1";
/** The text of apache.org without its first, empty line, as most packages ship it. */
const APACHE_2 = "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4";
/** Scripts that npm runs on the machine of a user. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

/** Every file by its path; scripts and declarations that were built of a source here, by their folder. */
function listed({ files, folder }: PackedPackage): string {
  const lines = files.map((path) => {
    const built = /^dist\/(.*)\.(?:js|d\.ts)$/.exec(path)?.[1];
    const isOfSource = built !== undefined && existsSync(join(folder, `${built}.ts`));
    return isOfSource ? `${dirname(path)}/*.{js,d.ts}` : path;
  });
  return `${[...new Set(lines)].sort().join("\n")}\n`;
}

function testsOf(name: PackageName): void {
  let packed: PackedPackage;
  before(async () => {
    packed = await pack(name, scratchFolder());
  });
  const read = (path: string) => readFileSync(join(packed.folder, path), "utf8");

  it("contains exactly the files of its list", () => {
    const list = join(ROOT, `test/e2e/package-files/${name}.txt`);
    const text = listed(packed);
    if (WRITES) writeFileSync(list, text);
    const hint = `test/e2e/package-files/${name}.txt, for a change that is meant: SVC_WRITE_DOCS=1 npm run test:run -- e2e/packed; a script in dist without a source is left over`;
    assert.equal(text, existsSync(list) ? readFileSync(list, "utf8") : "", hint);
  });

  it("every built script has declarations, and no file refers to a missing source map", () => {
    for (const path of packed.files.filter((file) => /\.(?:js|ts)$/.test(file))) {
      const map = /^\/\/# sourceMappingURL=(.*)$/m.exec(read(path))?.[1];
      assert.equal(map, undefined, `${path} names ${map}`);
      // The pages are made for a browser, without declarations.
      const isOfPage = path.startsWith("dist/page/") || path.includes("/reference/");
      if (!path.endsWith(".js") || !path.startsWith("dist/") || isOfPage) continue;
      assert.ok(packed.files.includes(path.replace(/js$/, "d.ts")), path);
    }
  });

  it("is under Apache-2.0, with the official text", () => {
    assert.equal(JSON.parse(read("package.json")).license, "Apache-2.0");
    assert.ok(packed.files.includes("LICENSE"));
    assert.equal(createHash("sha256").update(read("LICENSE")).digest("hex"), APACHE_2);
  });

  it("runs no script during installation", () => {
    const scripts = Object.keys(JSON.parse(read("package.json")).scripts ?? {});
    assert.deepEqual(
      scripts.filter((script) => INSTALL_SCRIPTS.includes(script)),
      [],
    );
    // npm would run node-gyp for it.
    assert.ok(!packed.files.includes("binding.gyp"));
  });

  it("publint reports no errors, warnings or suggestions", async () => {
    const tarball = Uint8Array.from(readFileSync(packed.tarball)).buffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg, { color: false })),
      [],
    );
  });

  // Nothing to import is in create-svc-tool.
  if (name === "create-svc-tool") return;

  // esm-only leaves out two ways of resolution: that of Node 10, which knows no "exports", and attw's rule that
  // require() of an ES module is an error, which Node 20.19 and 22.12 have ended (installed.test.ts requires every door).
  it("attw finds the types of every export, in the profile esm-only", async () => {
    const attw = join(ROOT, "node_modules/@arethetypeswrong/cli/dist/index.js");
    const args = [attw, packed.tarball, "--profile", "esm-only", "--format", "ascii", "--no-color"];
    const { status, out } = await run(process.execPath, args);
    assert.equal(status, 0, out);
    for (const door of Object.keys(JSON.parse(read("package.json")).exports)) {
      assert.ok(out.includes(`"${join(name, door)}"`), `attw looked at ${door}\n${out}`);
    }
  });
}

describe("packages", { concurrency: 3 }, () => {
  for (const name of Object.keys(PACKAGES) as PackageName[]) {
    describe(`the package ${name}`, () => testsOf(name));
  }
});
