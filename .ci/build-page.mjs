// Bundles the development page: dist/page has the files that svc-gen serves.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const [from, to] = ["generator/dev/page", "dist/page"];
mkdirSync(to, { recursive: true });
await build({
  entryPoints: [`${from}/main.tsx`],
  outfile: `${to}/page.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  tsconfigRaw: {},
  banner: { js: "/*! svc-gen's development page, with preact, @preact/signals and lossless-json: see licences.txt */" },
  logLevel: "warning",
});
await build({ entryPoints: [`${from}/page.css`], outfile: `${to}/page.css`, minify: true, logLevel: "warning" });
for (const name of ["index.html", "icon.svg"]) copyFileSync(`${from}/${name}`, `${to}/${name}`);
// The licences ask to go with every copy.
const bundled = ["preact", "@preact/signals", "@preact/signals-core", "lossless-json"];
const licences = bundled.map((name) => {
  const file = readdirSync(`node_modules/${name}`).find((each) => each.startsWith("LICENSE"));
  return `${name}\n\n${readFileSync(`node_modules/${name}/${file}`, "utf8")}`;
});
writeFileSync(`${to}/licences.txt`, licences.join("\n\n"));
