/** The request id: in every answer, in the log, and one for both. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { fastify } from "#runtime/fastify.js";
import { REQUEST_ID_HEADER } from "#runtime/server/http/request-id.js";
import { exchange, requestText } from "./raw.js";
import { countingTool, echoCall, serveFor, serveSigned } from "./tools.js";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const idOf = ({ headers }: { headers: ReadonlyMap<string, string> }) =>
  headers.get("x-request-id") ?? assert.fail("no id");

describe("the id of a request", () => {
  it("is in every answer: results, refusals, metadata, health, lists, and what cannot be parsed", async () => {
    const tool = countingTool({ fqn: "xyz.test.named@1", path: "named" });
    const { url } = await serveSigned([tool]);
    const call = echoCall(tool, "1");
    const ids = [idOf(await call.send(url)), idOf(await call.send(url))];
    for (const path of ["/named/invoke", "/named/meta", "/named/health", "/tools", "/health", "/nothing", "/%zz"]) {
      ids.push(idOf(await exchange(url, requestText("GET", path))));
    }
    ids.push(idOf(await exchange(url, "canary\r\n\r\n")));
    ids.push(idOf(await exchange(url, requestText("CONNECT", "one.example:443"))));
    for (const id of ids) assert.match(id, UUID);
    assert.equal(new Set(ids).size, ids.length, "each has its own");
  });

  it("is the caller's if that is short and has safe characters, otherwise a new one", async () => {
    const { url } = await serveFor([countingTool()]);
    const answered = async (...given: string[]) => {
      const headers = given.map((id) => [REQUEST_ID_HEADER, id] as const);
      return idOf(await exchange(url, requestText("GET", "/health", headers)));
    };
    for (const id of ["7", "a".repeat(64), "Root=1-67891233/a.b:c+d@e_f"]) assert.equal(await answered(id), id);
    for (const id of ["", "a".repeat(65), "a b", 'a"b', "a\xe9", "a,b", "a;b", "<a>"])
      assert.match(await answered(id), UUID);
    assert.match(await answered("7", "8"), UUID, "given twice");
  });

  it("is in the 500 of a hook of the application", async () => {
    const configure = (app: object) => {
      (app as ReturnType<typeof fastify>).addHook("onSend", async () => assert.fail("broken"));
    };
    const { url } = await serveFor([countingTool()], { configure });
    const answer = await exchange(url, requestText("GET", "/health", [[REQUEST_ID_HEADER, "7"]]));
    assert.deepEqual([answer.status, idOf(answer)], [500, "7"]);
  });
});
