/** What the manifest of svc-gen says. */

import { readFileSync } from "node:fs";

const manifest = new URL("../../package.json", import.meta.url);

const { version, engines } = JSON.parse(readFileSync(manifest, "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of svc-gen, printed in generated files. */
export const VERSION = version;

/** The versions of Node that it is made for. */
export const ENGINES = engines.node;
