/** docs/openapi.md is true: a client made from the document of a running server calls it. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { startDev } from "../generator/cli-process.js";
import { compileIn } from "../generator/openapi-schemas.js";
import { ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { filesOf, GUIDE_FILES } from "../guide.js";
import { listen } from "../listening.js";
import { REPOSITORY } from "../repository.js";
import { shellEnv } from "./packages.js";

/** A failing test ends, before the file's own limit. */
const PATIENCE = { timeout: 120_000 };

const SUM = { "src/sum.ts": GUIDE_FILES["src/sum.ts"] ?? "" };

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
}
interface Patterned {
  readonly name: string;
  readonly schema: { readonly pattern: string };
}
interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<number, Response>> }>>>
  >;
  readonly components: {
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Patterned>>;
    readonly headers: Readonly<Record<string, Patterned>>;
  };
}

/** The schema of the body of a response, of which the operation may have a reference. */
function bodySchema(document: Document, response: Response | undefined): object {
  const own =
    response?.$ref === undefined ? response : document.components.responses[response.$ref.split("/")[3] ?? ""];
  return own?.content?.["application/json"]?.schema ?? assert.fail("no schema");
}

/** An answer, with a `Host` that fetch would not send. */
async function ask(url: string, headers: Readonly<Record<string, string>> = {}, body?: string) {
  const asked = request(url, { method: body === undefined ? "GET" : "POST", headers, agent: false });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

function run(project: ToolProject, args: readonly string[], url = "") {
  const env = { ...shellEnv, TOOLS_URL: url };
  return spawnSync(process.execPath, args, { cwd: project.root, encoding: "utf8", env });
}

const client = new ToolProject({
  ...filesOf(readFileSync(join(REPOSITORY, "docs/openapi.md"), "utf8")),
  "tsconfig.json": `${JSON.stringify({
    compilerOptions: {
      ...{ target: "ES2023", module: "NodeNext", lib: ["ES2023"], types: ["node"] },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true, noEmit: true },
    },
    include: ["src"],
  })}\n`,
  "src/more.ts": `import { toolsAt } from "./client.js";
const tools = toolsAt(process.env.TOOLS_URL ?? "");
const input = { a: 1, b: 2n, label: "x", tags: ["y"] };
// @ts-expect-error: label is missing
const wrong = await tools.POST("/sum/invoke", { body: { a: 1, b: 2, tags: ["y"] } });
console.log(wrong.response.status, wrong.error?.error, wrong.error?.details);
// @ts-expect-error: no such path
console.log((await tools.POST("/som/invoke", { body: input })).response.status);
const right = await tools.POST("/sum/invoke", { body: { ...input, note: null } });
// @ts-expect-error: not every result has ok
right.data?.ok;
if (right.data !== undefined && "ok" in right.data) {
  // @ts-expect-error: a sum is no text
  const text: string = right.data.ok.sum;
  console.log(typeof text, right.data.ok.tags.join());
}
const overflow = await tools.POST("/sum/invoke", { body: { ...input, a: 9223372036854775807n } });
console.log(JSON.stringify(overflow.data));
const { data: meta } = await tools.GET("/sum/meta");
console.log(meta?.fqn, (await tools.GET("/sum/health")).response.status, (await tools.GET("/tools")).data?.join());
`,
});
for (const name of ["openapi-typescript", "openapi-fetch", "lossless-json", "typescript", "tsx"]) {
  symlinkSync(join(REPOSITORY, "node_modules", name), join(client.root, "node_modules", name));
}

/** A call whose answer has a schema in the document. */
type Case = [path: string, method: "get" | "post", wanted: number, headers?: Record<string, string>, body?: string];

describe("a server that accepts unsigned calls", PATIENCE, () => {
  let project: ToolProject;
  let dev: Awaited<ReturnType<typeof startDev>>;
  before(async () => {
    project = new ToolProject(SUM);
    dev = await startDev(project.root);
  });

  test("a client made from /openapi.json type-checks and calls the server, with all digits", async () => {
    const served = await ask(`${dev.page}openapi.json`);
    assert.deepEqual([served.status, served.headers["content-type"]], [200, "application/json"]);
    const document = JSON.parse(`${served.body}`);
    assert.deepEqual(document.servers, [{ url: dev.url }]);
    assert.match(document.info.description, /^\*\*This server accepts unsigned calls\.\*\*$/m);
    const printed = JSON.parse((await svcGenIn(project.root, ["openapi"])).out);
    assert.deepEqual([document.paths, document.components], [printed.paths, printed.components]);

    client.write({ "openapi.json": `${served.body}` });
    for (const args of [["types.mjs"], [join(REPOSITORY, "node_modules/typescript/bin/tsc"), "-p", "."]]) {
      const { status, stdout, stderr } = run(client, args);
      assert.equal(status, 0, stdout + stderr);
    }
    const call = run(client, ["--import", "tsx", "src/call.ts"], dev.url);
    assert.deepEqual([call.stdout, call.stderr], ["9007199254740994n total\n", ""]);
    const more = run(client, ["--import", "tsx", "src/more.ts"], dev.url);
    assert.deepEqual(
      [more.stdout.split("\n"), more.stderr],
      [
        [
          "422 input_deserialization_error label: expected a value, got nothing",
          "404",
          "number y",
          '{"err":{"reason":"overflow"}}',
          "xyz.demo.sum@1 200 sum",
          "",
        ],
        "",
      ],
    );
  });

  test("answers of a running server match their schemas: results, metadata, refusals", async () => {
    const document = JSON.parse(`${(await ask(`${dev.page}openapi.json`)).body}`) as Document;
    const json = { accept: "application/json" };
    const input = '{"a":1,"b":2,"label":"x","tags":["y"]}';
    const many = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x-${at}`, "1"]));
    const cases: Case[] = [
      ["/sum/invoke", "post", 200, json, input],
      ["/sum/invoke", "post", 200, json, '{"a":9223372036854775807,"b":1,"label":"x","tags":["y"]}'],
      ["/sum/invoke", "post", 403, { origin: "http://tools.example" }, input],
      ["/sum/invoke", "post", 405],
      ["/sum/invoke", "post", 411, { "transfer-encoding": "chunked" }, input],
      ["/sum/invoke", "post", 413, { "content-length": "99999999" }, ""],
      ["/sum/invoke", "post", 415, { "content-encoding": "gzip" }, input],
      ["/sum/invoke", "post", 417, { expect: "tea", "content-length": `${input.length}` }, input],
      ["/sum/invoke", "post", 422, json, "{}"],
      ["/sum/invoke", "post", 431, many, input],
      ["/sum/invoke", "post", 422, json, '{"a":1,"b":2,"label":"x","tags":[]}'],
      ["/sum/meta", "get", 200],
      ["/sum/meta", "get", 400, { "x-forwarded-host": "a b" }],
      ["/sum/meta", "get", 400, { "x-forwarded-proto": "ftp" }],
      ["/sum/meta", "get", 405, {}, "{}"],
      ["/tools", "get", 200],
    ];
    for (const [path, method, wanted, headers, body] of cases) {
      const what = `${path} ${JSON.stringify(headers)?.slice(0, 60)}`;
      const answer = await ask(dev.url + path, headers, body);
      assert.deepEqual([answer.status, answer.headers["content-type"]], [wanted, "application/json"], what);
      const fits = compileIn(document, bodySchema(document, document.paths[path]?.[method]?.responses[wanted]));
      assert.ok(fits(JSON.parse(`${answer.body}`)), `${what}: ${answer.body}`);
      assert.equal(answer.headers.allow !== undefined, wanted === 405, what);
    }
  });

  test("the tool server has no document, and refuses calls from the page", async () => {
    assert.equal((await ask(`${dev.url}/openapi.json`)).status, 404);
    const origin = { origin: new URL(dev.page).origin };
    assert.equal((await ask(`${dev.url}/sum/invoke`, origin, "{}")).status, 403);
  });
});

describe("a server that requires signed calls", PATIENCE, () => {
  let project: ToolProject;
  let dev: Awaited<ReturnType<typeof startDev>>;
  before(async () => {
    project = new ToolProject(SUM);
    dev = await startDev(project.root, "--signed");
  });

  test("a signed call matches the document: headers, envelope, result", async () => {
    const document = JSON.parse(`${(await ask(`${dev.page}openapi.json`)).body}`) as Document;
    assert.match(document.info.description, /^\*\*This server requires signed calls\.\*\*/m);
    const calls: { headers: Record<string, string>; body: string; answer: Awaited<ReturnType<typeof ask>> }[] = [];
    const proxy = createServer(async (incoming, response) => {
      const received = await text(incoming);
      const body = incoming.method === "POST" ? received : undefined;
      const { host: _, ...headers } = incoming.headers as Record<string, string>;
      const answer = await ask(dev.url + incoming.url, headers, body);
      if (body !== undefined) calls.push({ headers, body, answer });
      response.writeHead(answer.status ?? 0, answer.headers).end(answer.body);
    });
    const host = await listen(proxy);
    const input = '{"a":1,"b":2,"label":"\\u0078","tags":["y"],"note":null}';
    const { code, err } = await svcGenIn(project.root, ["invoke", `http://${host}/sum`, input, "--signed"]);
    assert.equal(code, 0, err);
    const [call] = calls;
    assert.ok(call !== undefined && calls.length === 1);
    const { headers, body, answer } = call;
    for (const { name, schema } of Object.values(document.components.parameters)) {
      assert.match(`${headers[name.toLowerCase()]}`, new RegExp(schema.pattern), name);
    }
    const fits = compileIn(document, { $ref: "#/components/schemas/SignedEnvelope" });
    assert.ok(fits(JSON.parse(body)), body);
    assert.ok(/"bytes":/.test(body) && /"data":/.test(body), "both forms of an item");
    assert.equal(fits(JSON.parse(body.replace('"kind":"data"', '"kind":"walrus"'))), false);
    const { headers: documented, description } = document.paths["/sum/invoke"]?.post?.responses[200] ?? {};
    assert.ok(description?.includes(`signed call is BCS (\`${answer.headers["content-type"]}\`)`), description);
    assert.equal(Object.keys(documented ?? {}).length, 3);
    for (const [name, { $ref }] of Object.entries(documented ?? {})) {
      const { schema } = document.components.headers[$ref.split("/").at(-1) ?? ""] ?? assert.fail(name);
      assert.match(`${answer.headers[name.toLowerCase()]}`, new RegExp(schema.pattern), name);
    }
    const refusal = await ask(`${dev.url}/sum/invoke`, {}, "{}");
    assert.equal(refusal.status, 401, "an unsigned call");
    const refused = compileIn(document, bodySchema(document, document.paths["/sum/invoke"]?.post?.responses[401]));
    assert.ok(refused(JSON.parse(`${refusal.body}`)), `${refusal.body}`);
  });
});
