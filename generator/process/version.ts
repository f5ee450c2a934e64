import { readFileSync } from "node:fs";

/** Part of svc-gen's own package.json. */
interface OwnManifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

export const OWN_MANIFEST: OwnManifest = JSON.parse(
  readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
);

/** Version of svc-gen, printed in generated files. */
export const VERSION = OWN_MANIFEST.version;

/** Supported versions of Node. */
export const ENGINES = OWN_MANIFEST.engines.node;
