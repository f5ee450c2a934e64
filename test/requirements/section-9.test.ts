/** Paths by default, and facts that svc-gen reads without running a tool (protocol.md section 9). */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SvcTool, serve } from "#runtime/index.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { proves } from "../proves.js";
import { exchange, requestText } from "../runtime/raw.js";
import { countingTool, echoed, expectResult, keptLog, sendPlain, UNSIGNED } from "../runtime/tools.js";

describe("a tool that says no path", () => {
  it("is at the root", async () => {
    assert.equal(SvcTool.path(), "");
    const tool = countingTool({ path: "" });
    Reflect.deleteProperty(tool.class, "path");
    assert.equal(tool.class.path, SvcTool.path);
    const address = [[127, 0, 0, 1], 0] as const;
    const { url, close } = await serve([tool.class], { address, config: UNSIGNED, logger: keptLog() });
    try {
      expectResult(await sendPlain(url, "/invoke", '{"value":1}'), echoed("1"));
      for (const path of ["/meta", "/health"])
        assert.equal((await exchange(url, requestText("GET", path))).status, 200);
    } finally {
      await close();
    }
    proves("9.1");
  });
});

describe("svc-gen", () => {
  it("writes meta.json without running the tool", () => {
    const marker = 'writeFileSync(new URL("ran", import.meta.url), "");';
    const source = toolSource(
      "Tool",
      "{ a: string }",
      '"done"',
      `import { writeFileSync } from "node:fs";\n${marker}\nif (1 < 2) throw new Error("run");`,
    );
    const project = new ToolProject(
      { "src/tool.ts": source.replace("static override path() {", `static { ${marker} }\n static override path() {`) },
      { target: "ES2023", module: "NodeNext", lib: ["ES2023"], types: ["node"], rootDir: "src", strict: true },
    );
    try {
      const [document] = JSON.parse(project.build()["meta.json"] ?? "") as [{ fqn: string; url: string }];
      assert.deepEqual([document.fqn, document.url], ["xyz.test.tool-tool@1", "http://localhost/Tool"]);
      for (const path of ["src/ran", "ran", "src/generated/ran"])
        assert.ok(!existsSync(join(project.root, path)), path);
    } finally {
      project.remove();
    }
    proves("9.9");
  });

  it("diagnoses a tool that overrides meta, at its place", () => {
    const source = toolSource("Tool", "{ a: string }").replace(
      "  static override path()",
      "  static meta() { return {}; }\n  static override path()",
    );
    const project = new ToolProject({ "src/tool.ts": source });
    try {
      const said = project.generate().diagnostics.map(({ code, place, subject }) => {
        return `${code} ${place?.file}:${place?.line} ${subject}`;
      });
      assert.deepEqual(said, ["SVC121 src/tool.ts:6 Tool.meta()"]);
    } finally {
      project.remove();
    }
    proves("9.9");
  });
});
