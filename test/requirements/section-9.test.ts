/** Paths by default (protocol.md section 9). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SvcTool, serve } from "#runtime/index.js";
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
