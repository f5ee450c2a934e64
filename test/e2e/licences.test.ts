/**
 * Licences of what npm installs with the packages, as `npm sbom` reads them from the lock file, and the NOTICE files.
 *
 * npm's own list, and not a licence checker beside it: it is the document that the packages carry, it needs no
 * package more, and it knows the optional packages of other platforms too. license-checker-rseidelsohn 5 needs Node 24.
 *
 *     SVC_WRITE_DOCS=1 npm run test:run -- e2e/licences    writes the NOTICE files
 */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { build } from "esbuild";
import { type Bom, type Component, componentsOf, PACKAGES, type PackageName, scratchFolder } from "./packages.js";

const ROOT = process.cwd();
const WRITES = process.env.SVC_WRITE_DOCS === "1";

/** Licences that let a company link and ship, with no more than their text beside. */
const PERMISSIVE = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT"];

/** Packages whose manifest names no licence; each has to be optional. */
const UNNAMED: Readonly<Record<string, string>> = {
  "@mysten/walrus-wasm": "none named in its package; Apache-2.0 in the repository of its sources",
};

function licenceOf({ name, licenses = [] }: Component): string {
  const named = licenses.map(({ license, expression }) => license?.id ?? expression).join(" AND ");
  return named || (UNNAMED[name] ?? "none named");
}

/** Packages whose code is in the development page, as `.ci/build-page.mjs` bundles it. */
async function inDevelopmentPage(): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [join(ROOT, "generator/dev/page/main.tsx")],
    outfile: join(ROOT, "dist/page/page.js"),
    write: false,
    metafile: true,
    bundle: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: {},
  });
  const names = Object.keys(metafile.inputs).flatMap(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(names)].sort();
}

/**
 * What the NOTICE of svc-gen says of code that is in its package. The licences ask for their text beside every copy: it is
 * looked for in what the build has left.
 */
async function contained(): Promise<string> {
  const texts = readFileSync(join(ROOT, "dist/page/licences.txt"), "utf8");
  const lines = (await inDevelopmentPage()).map((name) => {
    const folder = join(ROOT, "node_modules", name);
    const { license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    assert.ok(PERMISSIVE.includes(license), `${name}: the licence ${license} is not allowed`);
    const file = readdirSync(folder).find((each) => each.startsWith("LICENSE")) ?? "";
    const text = `${name}\n\n${readFileSync(join(folder, file), "utf8")}`;
    assert.ok(
      texts.includes(text),
      `dist/page/licences.txt lacks the licence of ${name}: add it to .ci/build-page.mjs`,
    );
    return `  ${name} (${license})\n`;
  });
  return `
The package contains code of others:

dist/page/page.js, with the licences in licences.txt beside it
${lines.join("")}`;
}

function noticeOf({ metadata, components }: Bom, contained: string): string {
  const byLicence = new Map<string, Set<string>>();
  for (const component of components) {
    const names = byLicence.get(licenceOf(component)) ?? new Set();
    byLicence.set(licenceOf(component), names);
    names.add(component.scope === "optional" ? `${component.name} (optional)` : component.name);
  }
  const sections = [...byLicence].sort().map(([licence, names]) => {
    const lines = [...names].sort().map((name) => `  ${name}\n`);
    return `\n${licence}\n${lines.join("")}`;
  });
  return `${metadata.component.name}
Copyright 2026 the authors of svc-gen and svc-runtime

Licensed under the Apache License, Version 2.0: see LICENSE.
${contained}
The packages below are not contained. npm installs them beside this one, each under its own licence and with its own
licence text. It installs an optional one only where it can, and not at all with --omit=optional. Versions:
sbom.cdx.json.
${sections.join("")}`;
}

describe("licences", { concurrency: 3 }, () => {
  for (const name of Object.keys(PACKAGES) as PackageName[]) {
    describe(name, () => {
      let bom: Bom;
      before(async () => {
        bom = await componentsOf(name, join(scratchFolder("svc-bom-"), "bom.json"));
      });

      it("has a CycloneDX document with every package on which it depends", () => {
        assert.equal(bom.bomFormat, "CycloneDX");
        const { version, license, dependencies, optionalDependencies } = JSON.parse(
          readFileSync(join(ROOT, PACKAGES[name], "package.json"), "utf8"),
        );
        const { component } = bom.metadata;
        assert.deepEqual([component.name, component.version, licenceOf(component)], [name, version, license]);
        const listed = new Set(bom.components.map((part) => part.name));
        const direct = Object.keys({ ...dependencies, ...optionalDependencies });
        assert.deepEqual(
          direct.filter((dependency) => !listed.has(dependency)),
          [],
        );
      });

      it("depends only on packages with permissive licences; a package without a licence is optional", () => {
        const others = bom.components.filter((component) => !PERMISSIVE.includes(licenceOf(component)));
        for (const component of others) {
          assert.ok(component.name in UNNAMED, `${component.name}: the licence ${licenceOf(component)} is not allowed`);
          assert.equal(component.scope, "optional", `${component.name} names no licence and is not optional`);
        }
      });

      it("has a NOTICE that names all dependencies, and contains the licences of bundled packages", async () => {
        const file = join(ROOT, PACKAGES[name], "NOTICE");
        const notice = noticeOf(bom, name === "svc-gen" ? await contained() : "");
        if (WRITES) writeFileSync(file, notice);
        const hint = `${file}: after a change of packages run SVC_WRITE_DOCS=1 npm run test:run -- e2e/licences`;
        assert.equal(existsSync(file) ? readFileSync(file, "utf8") : "", notice, hint);
      });
    });
  }
});
