/**
 * Generators and validators of other projects read the OpenAPI document and the schemas of one tool, and their clients call it.
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
import { startDev } from "../generator/cli-process.js";
import { STRICT, ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { REPOSITORY } from "../repository.js";
import { shellEnv } from "./packages.js";

const PAGE = join(REPOSITORY, "docs/openapi.md");
const CACHE = join(REPOSITORY, "node_modules/.cache/generators");
const NOT_TRIED = "| NSwag, Kiota | OpenAPI | not tried: they need .NET | – | – | – |\n";
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

/** An input as JSON: both integers are rounded by a program that reads them as doubles. */
const CALL = `{"id":9007199254740993,"size":9007199254740995,"data":"/wAB","at":"2024-01-02T03:04:05.678Z",
"either":{"kind":"count","count":2.5},"tree":{"name":"a","children":[{"name":"b","children":[]}]},
"pair":["a",1.5],"name":"abc","key":"k-1","limit":7}`;

const INTEGERS = [/"id": ?9007199254740993\b/, /"size": ?9007199254740995\b/];

interface Row {
  readonly name: string;
  readonly version: string;
  readonly reads: "OpenAPI" | "schema";
  /** Shell commands that run once in the cache folder. */
  readonly install: string;
  /** Shell commands in the cache folder, with OPENAPI, INPUT, OUTPUT (schemas), OPEN and OUT, an empty folder. */
  readonly generate: string;
  readonly compile?: string;
  /** Shell commands with URL and CALL, an input: a call with the generated client or types prints the result as JSON. */
  readonly call?: string;
  /** Type of the `int64` member: its place in the generated code, or the type with which `compile` declares it. */
  readonly integer?: RegExp | string;
}

const npm = (...packages: string[]) =>
  `npm install --prefix . --ignore-scripts --no-audit --no-fund --silent typescript@5.9.3 ${packages.join(" ")}`;
const pip = (...packages: string[]) => `python3 -m venv py && py/bin/pip install -q ${packages.join(" ")}`;
const TSC = `node_modules/.bin/tsc --noEmit --strict --skipLibCheck --target es2023 --module preserve --moduleResolution bundler --lib es2023,dom`;
const ID = /\bid: +(\w+(?: \| \w+)*)/;
/** Compiles and runs a program in TypeScript, which sets `result`. */
const typescript = (program: string) => ({
  compile: `echo '{"type":"module"}' > $OUT/package.json
cat > $OUT/call.ts <<'END'
import { stringify } from "lossless-json";
declare const process: { env: Record<string, string> };
const { CALL = "", URL: url = "" } = process.env;
const headers = { "content-type": "application/json" };
${program}
if (!result || !("ok" in result)) throw new Error(stringify(result));
console.log(stringify(result.ok));
END
${TSC} $OUT/call.ts`,
  ...{ call: "node --import tsx $OUT/call.ts", integer: ID },
});

/** Writes a file of the page. */
const writes = (file: string) => {
  const block = new RegExp(`^\`\`\`\\w+ file=${file}\\n([^]*?)^\`\`\`$`, "m");
  return `cat > $OUT/${file} <<'END'\n${block.exec(readFileSync(PAGE, "utf8"))?.[1]}END\n`;
};

const INSTALL_OPENAPI_GENERATOR =
  "mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.14.0 -DoutputDirectory=$PWD";
const OPENAPI_GENERATOR = "java -jar openapi-generator-cli-7.14.0.jar generate -i $OPENAPI -o $OUT";

const ROWS: readonly Row[] = [
  {
    ...{ name: "openapi-typescript with the client above,", version: "7.13.0", reads: "OpenAPI" },
    install: npm("openapi-typescript@7.13.0", "openapi-fetch@0.15.0"),
    generate: `mkdir $OUT/src\ncp $OPENAPI $OUT\n${writes("types.mjs")}${writes("src/client.ts")}node $OUT/types.mjs`,
    ...typescript(`import { toolsAt } from "./src/client.js";
const { data: result } = await toolsAt(url).POST("/echo/invoke", { body: ${CALL.replace(/\d{16}/g, "$&n")} });`),
  },
  {
    ...{ name: "@hey-api/openapi-ts", version: "0.95.0", reads: "OpenAPI" },
    install: npm("@hey-api/openapi-ts@0.95.0"),
    generate: "node_modules/.bin/openapi-ts -i $OPENAPI -o $OUT",
    ...typescript(`import { client } from "./client.gen.js";
import { xyzTestEchoV1Invoke } from "./index.js";
client.setConfig({ baseUrl: url });
const { data: result } = await xyzTestEchoV1Invoke({ body: ${CALL} });`),
  },
  {
    ...{ name: "orval", version: "7.13.2", reads: "OpenAPI" },
    install: npm("orval@7.13.2"),
    generate: `echo 'const { OPENAPI, OUT, URL: baseUrl } = process.env;
module.exports = { tool: { input: OPENAPI, output: { client: "fetch", target: OUT + "/client.ts", baseUrl } } };' > $OUT/orval.config.js
node_modules/.bin/orval --config $OUT/orval.config.js`,
    ...typescript(`import { xyzTestEchoV1Invoke } from "./client.js";
const { data: result } = await xyzTestEchoV1Invoke(${CALL}, { headers });`),
  },
  {
    ...{ name: "openapi-generator, Java", version: "7.14.0", reads: "OpenAPI" },
    install: INSTALL_OPENAPI_GENERATOR,
    generate: `${OPENAPI_GENERATOR} -g java --type-mappings integer=Long`,
    compile: `cd $OUT && cat > src/main/java/Call.java <<'END'
import org.openapitools.client.*;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class Call {
  public static void main(String[] args) throws Exception {
    XyzTestEcho1Api api = new XyzTestEcho1Api(new ApiClient().setBasePath(System.getenv("URL")));
    XyzTestEchoV1Input input = XyzTestEchoV1Input.fromJson(System.getenv("CALL"));
    XyzTestEchoV1Result result = api.xyzTestEchoV1Invoke(input, null, null, null, null, null, null);
    System.out.println(result.getXyzTestEchoV1ResultOk().getOk().toJson());
  }
}
END
mvn -q -DskipTests compile dependency:build-classpath -Dmdep.outputFile=classpath.txt`,
    ...{ call: "java -cp $OUT/target/classes:$(cat $OUT/classpath.txt) Call", integer: /private (\w+) id;/ },
  },
  {
    ...{ name: "openapi-generator, `typescript-fetch`", version: "7.14.0", reads: "OpenAPI" },
    install: INSTALL_OPENAPI_GENERATOR,
    generate: `${OPENAPI_GENERATOR} -g typescript-fetch`,
    ...typescript(`import { Configuration, XyzTestEcho1Api, XyzTestEchoV1InputFromJSON } from "./index.js";
const api = new XyzTestEcho1Api(new Configuration({ basePath: url }));
const result = await api.xyzTestEchoV1Invoke({ xyzTestEchoV1Input: XyzTestEchoV1InputFromJSON(JSON.parse(CALL)) });`),
  },
  {
    ...{ name: "oapi-codegen, Go", version: "2.8.2", reads: "OpenAPI" },
    install: `GOBIN=$PWD/go go install github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2
mkdir -p oapi/api && cd oapi && cat > main.go <<'END'
package main

import (
	"context"
	"encoding/json"
	"os"

	"example.com/oapi/api"
)

func main() {
	var input api.XyzTestEchoV1Input
	json.Unmarshal([]byte(os.Getenv("CALL")), &input)
	client, _ := api.NewClientWithResponses(os.Getenv("URL"))
	response, _ := client.XyzTestEchoV1InvokeWithResponse(context.Background(), &api.XyzTestEchoV1InvokeParams{}, input)
	result, _ := response.JSON200.AsXyzTestEchoV1ResultOk()
	json.NewEncoder(os.Stdout).Encode(result.Ok)
}
END
rm -f go.mod && go mod init example.com/oapi && go get github.com/oapi-codegen/runtime@v1.9.0`,
    generate: "go/oapi-codegen -generate types,client -package api -o $OUT/api.go $OPENAPI",
    ...{ compile: "cp $OUT/api.go oapi/api && cd oapi && go build -mod=mod -o caller .", integer: /\bId +(\w+) +`/ },
    call: "oapi/caller",
  },
  {
    ...{ name: "openapi-python-client", version: "0.29.1", reads: "OpenAPI" },
    install: pip("openapi-python-client==0.29.1"),
    generate: "py/bin/openapi-python-client generate --meta none --path $OPENAPI --output-path $OUT/client",
    compile: `PYTHONPATH=$OUT py/bin/python -c "import client, importlib, pkgutil
for m in pkgutil.walk_packages(client.__path__, 'client.'): importlib.import_module(m.name)"`,
    integer: ID,
    call: `PYTHONPATH=$OUT py/bin/python -c "import json, os
from client import Client
from client.api.xyz_test_echo1 import xyz_test_echo_v1_invoke
from client.models import XyzTestEchoV1Input
body = XyzTestEchoV1Input.from_dict(json.loads(os.environ['CALL']))
print(json.dumps(xyz_test_echo_v1_invoke.sync(client=Client(base_url=os.environ['URL']), body=body).to_dict()['ok']))"`,
  },
  {
    ...{ name: "datamodel-code-generator", version: "0.89.0", reads: "OpenAPI" },
    install: pip("datamodel-code-generator==0.89.0"),
    generate:
      "py/bin/datamodel-codegen --input $OPENAPI --input-file-type openapi --output-model-type pydantic_v2.BaseModel --output $OUT/models",
    ...{ compile: 'PYTHONPATH=$OUT py/bin/python -c "import models.xyz.test.echo.v1"', integer: ID },
    call: `PYTHONPATH=$OUT py/bin/python -c "import json, os
from urllib.request import Request, urlopen
from models.xyz.test.echo.v1 import Input, Result
body = Input.model_validate_json(os.environ['CALL']).model_dump_json().encode()
request = Request(os.environ['URL'] + '/echo/invoke', body, {'content-type': 'application/json'})
print(Result.model_validate_json(urlopen(request).read()).root.ok.model_dump_json())"`,
  },
  {
    ...{ name: "typify, Rust", version: "0.8.0", reads: "schema" },
    install: `rm -rf typify && cargo init --quiet --vcs none --name caller typify && cd typify
cargo add -q typify@=0.8.0 serde_json@1 regress@0.10 && cargo add -q serde@1 -F derive
cargo add -q --no-default-features ureq@2 && cargo add -q --no-default-features chrono@0.4 -F serde
cat > src/main.rs <<'END'
typify::import_types!(schema = "input.json");
fn main() {
    let env = |name| std::env::var(name).unwrap();
    let input: Input = serde_json::from_str(&env("CALL")).unwrap();
    let _: i64 = input.id;
    let request = ureq::post(&format!("{}/echo/invoke", env("URL"))).set("content-type", "application/json");
    let text = request.send_string(&serde_json::to_string(&input).unwrap()).unwrap().into_string().unwrap();
    let result: std::collections::HashMap<String, Input> = serde_json::from_str(&text).unwrap();
    println!("{}", serde_json::to_string(&result["ok"]).unwrap());
}
END`,
    generate: "cp $OPEN typify/input.json",
    ...{ compile: "cd typify && touch src/main.rs && cargo build -q", integer: "i64" },
    call: "typify/target/debug/caller",
  },
  {
    ...{ name: "quicktype", version: "26.0.0", reads: "schema" },
    install: npm("quicktype@26.0.0"),
    generate: "node_modules/.bin/quicktype -s schema $INPUT -l typescript -o $OUT/input.ts",
    ...typescript(`import { Convert } from "./input.js";
const body = Convert.inputToJson(Convert.toInput(CALL));
const answer = await (await fetch(url + "/echo/invoke", { method: "POST", headers, body })).json();
const result = { ok: Convert.toInput(JSON.stringify(answer.ok)) };`),
  },
  {
    ...{ name: "json-schema-to-typescript", version: "16.0.0", reads: "schema" },
    install: npm("json-schema-to-typescript@16.0.0"),
    generate: "node_modules/.bin/json2ts -i $OPEN -o $OUT/input.ts",
    ...typescript(`import type { Input } from "./input.js";
const input: Input = ${CALL};
const answer = await fetch(url + "/echo/invoke", { method: "POST", headers, body: JSON.stringify(input) });
const result: { ok: Input } = await answer.json();`),
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
  const options = { cwd: CACHE, encoding: "utf8", env: { ...shellEnv, ...env }, timeout: 900_000 } as const;
  const { status, stdout, stderr } = spawnSync("bash", ["-ec", command], options);
  return { ok: status === 0, text: status === 0 ? stdout : `${stdout}${stderr}` };
}

/** A result as JSON text, with integers as doubles and dates as milliseconds. */
const comparable = (text: string) => {
  const { id, size, at, ...others } = JSON.parse(text);
  return { ...others, id: Number(id), size: Number(size), at: Date.parse(at) };
};

/** Text of all files in a folder. */
const textsIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && /\.(?:ts|py|java|go)$/.test(each.name))
    .map((each) => readFileSync(join(each.parentPath, each.name), "utf8"))
    .join("\n");

/** Installs a row's program, unless its marker says that this was done. */
function install({ name, install: command }: Row): void {
  const marker = join(CACHE, "installed.json");
  const done: string[] = JSON.parse(sh(`cat ${marker} || echo []`).text);
  if (done.includes(command)) return;
  const { ok, text } = sh(command);
  assert.ok(ok, `${name} cannot be installed: ${text}`);
  writeFileSync(marker, JSON.stringify([...done, command]));
}

test("generators of other projects", { skip: process.env.SVC_TEST_FULL !== "1", timeout: 1_800_000 }, async () => {
  mkdirSync(CACHE, { recursive: true });
  const project = new ToolProject({ "src/tool.ts": TOOL }, STRICT);
  project.build();
  const { url } = await startDev(project.root);
  const files: Record<string, string> = {
    OPENAPI: (await svcGenIn(project.root, ["openapi", "--url", url])).out,
    INPUT: (await svcGenIn(project.root, ["schema", "echo"])).out,
    OUTPUT: (await svcGenIn(project.root, ["schema", "echo", "--output"])).out,
  };
  // Some generators need a title, and take a tuple with `items: false` for an array without items.
  const withoutItems = (key: string, value: unknown) => (key === "items" && value === false ? undefined : value);
  files.OPEN = JSON.stringify({ title: "Input", ...JSON.parse(files.INPUT ?? "", withoutItems) });
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
    const env = { ...Object.fromEntries(paths), OUT: out, URL: url, CALL };
    const [, , printed = ""] = (["generate", "compile", "call"] as const).map((step) => {
      const { ok, text } = sh(row[step] ?? "true", env);
      assert.ok(ok, `${row.name} fails to ${step}: ${text}`);
      return text;
    });
    const { integer = "" } = row;
    const type = typeof integer === "string" ? integer : integer.exec(textsIn(out))?.[1]?.replace("|", "\\|");
    const start = `| ${row.name} ${row.version} | ${row.reads} | yes | ${type === "" ? "–" : `\`${type}\``}`;
    if (row.call === undefined) return `${start} | – | – |\n`;
    assert.deepEqual(comparable(printed), comparable(CALL), row.name);
    const exact = INTEGERS.every((member) => member.test(printed));
    return `${start} | yes | ${exact ? "yes" : "no"} |\n`;
  });
  const head =
    "program | reads | generates and compiles | type of an `int64` | calls the server | keeps 9007199254740993";
  const table = `| ${head} |\n|---|---|---|---|---|---|\n${lines.join("")}${NOT_TRIED}`;
  const page = readFileSync(PAGE, "utf8");
  const [before = "", after = ""] = [page.split(START)[0], page.split(END)[1]];
  if (process.env.SVC_WRITE_DOCS === "1") writeFileSync(PAGE, `${before}${START}${table}${END}${after}`);
  else assert.ok(page.includes(`${START}${table}${END}`), "run with SVC_WRITE_DOCS=1");
});
