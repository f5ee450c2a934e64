/**
 * Generators and validators of other projects read the OpenAPI document and the schemas of one tool.
 *
 *     SVC_TEST_FULL=1 SVC_WRITE_DOCS=1 npm run test:run -- e2e/generators    writes the table of docs/openapi.md
 *
 * Each is installed once, in node_modules/.cache.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { STRICT, ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { REPOSITORY } from "../repository.js";

const PAGE = join(REPOSITORY, "docs/openapi.md");
const CACHE = join(REPOSITORY, "node_modules/.cache/generators");
const [START, END] = ["<!-- generators -->\n", "<!-- /generators -->"];

const TOOL = `import { StatusCode, SvcTool } from "svc-runtime";
export interface Node { name: string; children: Node[] }
export interface Input {
  /** @format int64 */ id: bigint;
  /** @format uint64 */ size: bigint;
  data: Uint8Array;
  at: Date;
  either: { kind: "text"; text: string } | { kind: "count"; count: number };
  tree: Node;
  pair: [string, number];
  /** @pattern ^[a-z]+$ */ name: string;
  key: \`k-\${number}\`;
  /** @default 5 */ limit?: number;
}
export type Output = { ok: Input } | { err: { reason: string } };
/** Returns its input. */
export class Echo extends SvcTool<Input, Output> {
  static override fqn() { return "xyz.test.echo@1"; }
  static override path() { return "echo"; }
  override async invoke(input: Input): Promise<Output> { return { ok: input }; }
  override async health() { return StatusCode.OK; }
}
`;

interface Row {
  readonly name: string;
  readonly version: string;
  readonly reads: "OpenAPI" | "schema";
  /** Shell commands that run once in the cache folder. */
  readonly install: string;
  /** Shell commands in the cache folder, with OPENAPI, INPUT, OUTPUT (schemas) and OUT, an empty folder. */
  readonly generate: string;
  readonly compile?: string;
  /** Type of the `int64` member in the generated code. */
  readonly integer?: RegExp;
  /** Steps that are known to fail, and the sentence for the table. */
  readonly fails?: { readonly step: "generate" | "compile"; readonly because: string };
}

const npm = (...packages: string[]) =>
  `npm install --prefix . --ignore-scripts --no-audit --no-fund --silent typescript@5.9.3 ${packages.join(" ")}`;
const pip = (...packages: string[]) => `python3 -m venv py && py/bin/pip install -q ${packages.join(" ")}`;
const TSC = `node_modules/.bin/tsc --noEmit --strict --skipLibCheck --target es2023 --module preserve --moduleResolution bundler --lib es2023,dom`;
const TS_INTEGER = /\bid: (\w+)/;

const ROWS: readonly Row[] = [
  {
    ...{ name: "openapi-typescript", version: "7.13.0", reads: "OpenAPI" },
    install: npm("openapi-typescript@7.13.0"),
    generate: "node_modules/.bin/openapi-typescript $OPENAPI --default-non-nullable=false -o $OUT/types.ts",
    ...{ compile: `${TSC} $OUT/types.ts`, integer: TS_INTEGER },
  },
  {
    ...{ name: "@hey-api/openapi-ts", version: "0.95.0", reads: "OpenAPI" },
    install: npm("@hey-api/openapi-ts@0.95.0"),
    generate: "node_modules/.bin/openapi-ts -i $OPENAPI -o $OUT",
    ...{ compile: `${TSC} $OUT/index.ts`, integer: TS_INTEGER },
  },
  {
    ...{ name: "orval", version: "7.13.2", reads: "OpenAPI" },
    install: npm("orval@7.13.2"),
    generate: "node_modules/.bin/orval --client fetch --input $OPENAPI --output $OUT/client.ts",
    ...{ compile: `${TSC} $OUT/client.ts`, integer: TS_INTEGER },
  },
  {
    ...{ name: "openapi-generator, Java `native`", version: "7.14.0", reads: "OpenAPI" },
    install: "mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.14.0 -DoutputDirectory=$PWD",
    generate: "java -jar openapi-generator-cli-7.14.0.jar generate -i $OPENAPI -g java --library native -o $OUT",
    ...{ compile: "cd $OUT && mvn -q -DskipTests compile", integer: /private (\w+) id;/ },
  },
  {
    ...{ name: "oapi-codegen, Go", version: "2.5.1", reads: "OpenAPI" },
    install: "GOBIN=$PWD/go go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.1",
    generate: "go/oapi-codegen -generate types,client -package api -o $OUT/api.go $OPENAPI",
    fails: { step: "generate", because: "it reads OpenAPI 3.0 only, where `type` is not a list" },
  },
  {
    ...{ name: "openapi-python-client", version: "0.29.1", reads: "OpenAPI" },
    install: pip("openapi-python-client==0.29.1"),
    generate: "py/bin/openapi-python-client generate --meta none --path $OPENAPI --output-path $OUT/client",
    compile: `PYTHONPATH=$OUT py/bin/python -c "import client, importlib, pkgutil
for m in pkgutil.walk_packages(client.__path__, 'client.'): importlib.import_module(m.name)"`,
    integer: /\bid: (\w+)/,
    fails: { step: "compile", because: "it omits the type of a result with a nested union or a recursive type" },
  },
  {
    ...{ name: "datamodel-code-generator", version: "0.89.0", reads: "OpenAPI" },
    install: pip("datamodel-code-generator==0.89.0"),
    generate:
      "py/bin/datamodel-codegen --input $OPENAPI --input-file-type openapi --output-model-type pydantic_v2.BaseModel --output $OUT/models",
    ...{ compile: 'PYTHONPATH=$OUT py/bin/python -c "import models.xyz.test.echo.v1"', integer: /\bid: (\w+)/ },
  },
  {
    ...{ name: "cargo-typify, Rust", version: "0.8.0", reads: "schema" },
    install: "cargo install --quiet cargo-typify@0.8.0 --root $PWD/rs",
    generate: `sed '1s/^{/{"title":"Input",/' $INPUT > $OUT/input.json && rs/bin/cargo-typify typify $OUT/input.json -o $OUT/input.rs`,
    integer: /pub id: (\w+)/,
  },
  {
    ...{ name: "quicktype", version: "26.0.0", reads: "schema" },
    install: npm("quicktype@26.0.0"),
    generate: "node_modules/.bin/quicktype -s schema $INPUT -l typescript -o $OUT/input.ts",
    ...{ compile: `${TSC} $OUT/input.ts`, integer: /\bid: +(\w+)/ },
  },
  {
    ...{ name: "json-schema-to-typescript", version: "16.0.0", reads: "schema" },
    install: npm("json-schema-to-typescript@16.0.0"),
    generate: "node_modules/.bin/json2ts -i $INPUT -o $OUT/input.ts",
    ...{ compile: `${TSC} $OUT/input.ts`, integer: TS_INTEGER },
  },
  {
    ...{ name: "ajv, strict mode,", version: "8.20.0", reads: "schema" },
    install: npm("ajv@8.20.0", "ajv-formats@3.0.1"),
    generate: `node -e 'const { Ajv2020 } = require("ajv/dist/2020"); const ajv = new Ajv2020(); require("ajv-formats")(ajv);
ajv.addFormat("uint64", true); for (const path of process.argv.slice(1)) ajv.compile(require(path));' $INPUT $OUTPUT`,
  },
  {
    ...{ name: "jsonschema, Python", version: "4.26.0", reads: "schema" },
    install: pip("jsonschema==4.26.0"),
    generate: `py/bin/python -c 'import json, sys, jsonschema
for path in sys.argv[1:]: jsonschema.Draft202012Validator.check_schema(json.load(open(path)))' $INPUT $OUTPUT`,
  },
  {
    ...{ name: "santhosh-tekuri/jsonschema, Go", version: "6.0.2", reads: "schema" },
    install: `mkdir -p jv && cd jv && cat > main.go <<END
package main

import (
	"os"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func main() {
	for _, path := range os.Args[1:] {
		jsonschema.NewCompiler().MustCompile(path)
	}
}
END
rm -f go.mod && go mod init example.com/jv && go get github.com/santhosh-tekuri/jsonschema/v6@v6.0.2 && go build -o jv .`,
    generate: "jv/jv $INPUT $OUTPUT",
  },
];

function sh(command: string, env: Readonly<Record<string, string>> = {}) {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const options = { cwd: CACHE, encoding: "utf8", env: { ...inherited, ...env } } as const;
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", command], options);
  return { ok: status === 0, text: `${stdout}${stderr}` };
}

/** Text of all files in a folder. */
const textsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && /\.(?:ts|py|java|rs)$/.test(each.name))
    .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"))
    .join("\n");

/** Installs a row's program, unless its marker says that this was done. */
function install({ name, install: command }: Row): void {
  const marker = join(CACHE, "installed.json");
  const done: string[] = JSON.parse(sh(`cat ${marker} || echo []`).text.replace(/^cat:.*\n/m, ""));
  if (done.includes(command)) return;
  const { ok, text } = sh(command);
  assert.ok(ok, `${name} cannot be installed: ${text}`);
  writeFileSync(marker, JSON.stringify([...done, command]));
}

test("generators of other projects", { skip: process.env.SVC_TEST_FULL !== "1", timeout: 1_800_000 }, async () => {
  mkdirSync(CACHE, { recursive: true });
  const project = new ToolProject({ "src/tool.ts": TOOL }, STRICT);
  project.build();
  const files: Record<string, string> = {
    OPENAPI: (await svcGenIn(project.root, ["openapi"])).out,
    INPUT: (await svcGenIn(project.root, ["schema", "echo"])).out,
    OUTPUT: (await svcGenIn(project.root, ["schema", "echo", "--output"])).out,
  };
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(CACHE, `${name.toLowerCase()}.json`);
    writeFileSync(path, text);
    return [name, path] as const;
  });
  const lines = ROWS.map((row) => {
    install(row);
    const out = join(CACHE, "out");
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out);
    const env = { ...Object.fromEntries(paths), OUT: out };
    const failed = (["generate", "compile"] as const).find((step) => {
      const { ok, text } = sh(row[step] ?? "true", env);
      if (!ok) assert.equal(row.fails?.step, step, `${row.name} fails: ${text}`);
      return !ok;
    });
    assert.equal(failed, row.fails?.step, `${row.name} does not fail any more`);
    const passed = row.integer !== undefined && row.compile === undefined ? "generates; was not compiled" : "yes";
    const result = failed === undefined ? passed : `no: ${row.fails?.because}`;
    const integer = row.integer === undefined ? "–" : `\`${row.integer.exec(textsIn(out))?.[1]}\``;
    return `| ${row.name} ${row.version} | ${row.reads} | ${result} | ${integer} |\n`;
  });
  const table = `| program | reads | generates and compiles | type of an \`int64\` |\n|---|---|---|---|\n${lines.join("")}`;
  const page = readFileSync(PAGE, "utf8");
  const [before = "", after = ""] = [page.split(START)[0], page.split(END)[1]];
  if (process.env.SVC_WRITE_DOCS === "1") writeFileSync(PAGE, `${before}${START}${table}${END}${after}`);
  else assert.ok(page.includes(`${START}${table}${END}`), "run with SVC_WRITE_DOCS=1");
});
