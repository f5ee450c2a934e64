import { readFileSync } from "node:fs";

const manifest = new URL("../../package.json", import.meta.url);

const { version, engines } = JSON.parse(readFileSync(manifest, "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** Version of svc-gen, printed in generated files. */
export const VERSION = version;

/** Supported versions of Node. */
export const ENGINES = engines.node;
