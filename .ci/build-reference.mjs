// Puts the files of the reference page into dist: its own, and those of Swagger UI that it loads, compressed, with their licences.
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { constants, gzipSync } from "node:zlib";

const source = "generator/dev/reference";
const target = "dist/generator/dev/reference";
const swagger = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

mkdirSync(target, { recursive: true });
// svc-gen runs again when a script of its own has another time.
for (const name of ["index.html", "reference.js", "reference.css"])
  cpSync(join(source, name), join(target, name), { preserveTimestamps: true });
for (const name of ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"]) {
  copyFileSync(join(swagger, name), join(target, name));
}
for (const name of ["swagger-ui-bundle.js", "swagger-ui.css"]) {
  // The names of source maps, which are not shipped, would be asked for.
  const text = readFileSync(join(swagger, name), "utf8").replace(/\n?(?:\/\/|\/\*)# sourceMappingURL=.*$/m, "");
  writeFileSync(join(target, `${name}.gz`), gzipSync(text, { level: constants.Z_BEST_COMPRESSION }));
}
