/**
 * Licences of what npm installs with the packages, as `npm sbom` reads them from the lock file, and of the code of others
 * that a package contains.
 *
 * npm's own list, and not a licence checker beside it: it is the document that the packages carry, it needs no
 * package more, and it knows the optional packages of other platforms too. license-checker-rseidelsohn 5 needs Node 24.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { build } from "esbuild";
import { scratchFolder } from "../scratch-folder.js";
import { type Bom, type Component, componentsOf, PACKAGES, type PackageName } from "./packages.js";

const ROOT = process.cwd();

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

describe("licences", { concurrency: 3 }, () => {
  for (const name of Object.keys(PACKAGES) as PackageName[]) {
    describe(name, () => {
      let bom: Bom;
      before(async () => {
        bom = await componentsOf(name, join(scratchFolder(), "bom.json"));
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
    });
  }

  it("svc-gen names the packages in its development page, whose licences ask for their text in each copy", async () => {
    const [texts, notice] = ["dist/page/licences.txt", "NOTICE"].map((file) => readFileSync(join(ROOT, file), "utf8"));
    for (const name of await inDevelopmentPage()) {
      const folder = join(ROOT, "node_modules", name);
      const { license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      assert.ok(PERMISSIVE.includes(license), `${name}: the licence ${license} is not allowed`);
      assert.ok(notice?.includes(`  ${name} (${license})\n`), `NOTICE lacks ${name}`);
      const file = readdirSync(folder).find((each) => each.startsWith("LICENSE")) ?? "";
      const text = `${name}\n\n${readFileSync(join(folder, file), "utf8")}`;
      assert.ok(texts?.includes(text), `dist/page/licences.txt lacks ${name}: add it to .ci/build-page.mjs`);
    }
  });
});
