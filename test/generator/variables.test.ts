/** Environment variables that tools declare: read by svc-gen, printed, checked by doctor and at the start. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "svc-runtime";
import { provideContracts } from "svc-runtime/v1";
import { requireVariables } from "#runtime/server/required-variables.js";
import { ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const withVariables = (name: string, object: string) =>
  toolSource(name, "{ a: string }").replace(
    "static override fqn",
    `static override variables() { return ${object}; }\n  static override fqn`,
  );

const project = new ToolProject({
  "src/a.ts": `const ABOUT = "Token of the rates service.";\n${withVariables(
    "A",
    '{ RATES_TOKEN: ABOUT, "RATES_URL?": "Another address,\\n " + "of it." } as const',
  )}`,
  "src/b.ts": withVariables("B", '{ RATES_TOKEN: "The same.", B_KEY: "Key of B." }'),
});
project.build();

test("svc-gen env prints each variable once, in three formats, without values", async () => {
  const env = { RATES_TOKEN: "secret value" };
  const print = async (...args: string[]) => (await svcGenIn(project.root, ["env", ...args], { env })).out;
  assert.equal(
    await print(),
    "# The same.\nRATES_TOKEN=\n# Another address, of it.\n# RATES_URL=\n# Key of B.\nB_KEY=\n",
  );
  assert.match(await print("--as", "compose"), /^ {6}# Key of B\.\n {6}B_KEY: \$\{B_KEY:\?B_KEY is not set\}$/m);
  assert.match(await print("--as", "kubernetes"), /- name: RATES_URL\n.*key: RATES_URL, optional: true \} \}$/m);
  assert.deepEqual(JSON.parse(await print("--json")).variables[1], {
    name: "RATES_URL",
    optional: true,
    description: "Another address, of it.",
  });
});

test("svc-gen doctor prints which variables are set, without values", async () => {
  const { out } = await svcGenIn(project.root, ["doctor"], { env: { RATES_TOKEN: "secret value" } });
  assert.match(out, /^✓ RATES_TOKEN: set: /m);
  assert.match(out, /^- RATES_URL: optional, not set: /m);
  assert.match(
    out,
    /^✗ B_KEY: not set: Key of B\.\n {4}next: set the variable where the server runs; svc-gen env lists all/m,
  );
  assert.doesNotMatch(out, /secret value/);
});

test("a server does not start without its variables, and names all that are missing", async () => {
  const { contracts = [] } = project.generate();
  assert.doesNotThrow(() => requireVariables(contracts, { RATES_TOKEN: "x", B_KEY: "y" }));
  assert.throws(() => requireVariables(contracts, { B_KEY: "" }), {
    name: "StartupError",
    message:
      '2 environment variables are not set:\n  RATES_TOKEN of xyz.test.tool-a@1: Token of the rates service.\n  B_KEY of xyz.test.tool-b@1: Key of B.\nset each one where the server runs; "svc-gen env > .env" writes a file for node --env-file=.env',
  });
  provideContracts(contracts);
  const { B } = (await project.load("src/b.ts")) as { B: Parameters<typeof serve>[0][number] };
  await assert.rejects(serve([B], { allowUnsigned: true }), /2 environment variables are not set:\n/);
});

test("variables that svc-gen cannot read and invalid names are errors", () => {
  const said = (object: string) =>
    new ToolProject({ "src/a.ts": withVariables("A", object) })
      .generate()
      .diagnostics.map(({ code, subject, message }) => `${code} ${subject} ${message}`);
  assert.match(said("{ A: process.title }").join(), /SVC113 A\.variables\(\)/);
  assert.match(said("{ ...{} }").join(), /SVC113 A\.variables\(\)/);
  assert.match(said('{ "NO-NAME": "x" }').join(), /SVC116 A\.variables\(\) .*"NO-NAME"/);
  assert.match(said('{ A: " " }').join(), /SVC116 A\.variables\(\)/);
});
