/** Calls without signatures: plain JSON in, BCS or JSON out, the signal of a caller that leaves (protocol.md section 6). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Codec } from "#client/wire/codec/contract.js";
import {
  type BootstrapOptions,
  InvocationAborted,
  type InvokeContext,
  NexusData,
  NexusValue,
  OffchainToolOutput,
} from "#runtime/index.js";
import { proves, provesRow } from "../proves.js";
import { exchange, expectError, RawConnection, type RawResponse, requestText } from "./raw.js";
import {
  countingTool,
  data,
  echoCall,
  echoed,
  expectResult,
  gate,
  many,
  one,
  plainError,
  RESULT,
  resultBcs,
  sendPlain,
  serveFor,
  serveSigned,
  signedCall,
  type TestServer,
  until,
} from "./tools.js";

const echo = countingTool({ path: "echo" });
let server: TestServer;
before(async () => {
  server = await serveFor([echo], { unsignedResults: "json" });
});

describe("the body", () => {
  for (const [body, details] of [
    ["", "body: not JSON: unexpected end of the text at byte 0"],
    ["value=canary&b=1", "body: not JSON: expected a JSON object, got a form"],
    ['{"value":1} x', "body: not JSON: text after the document at byte 12"],
    ["\ufeff{}", "body: not JSON: expected a value, got a byte order mark at byte 0"],
    [Buffer.from('{"value":"\xff"}', "latin1"), /^body: not JSON: invalid UTF-8 at byte \d+$/],
    ["[]", "body: expected an object"],
    ["{}", "value: expected a value, got nothing"],
    ['{"value":1,"value":1}', /^value: .*twice$/],
    ['{"value":1,"\\u0076alue":2}', /^value: .*twice$/],
  ] as const) {
    it(`422 for ${JSON.stringify(body.toString())}`, async () => {
      const before = echo.calls.invoked;
      const got = await plainError(server.url, echo.target, body, 422, "input_deserialization_error");
      if (typeof details === "string") assert.equal(got, details);
      else assert.match(got ?? "", details);
      assert.equal(echo.calls.invoked, before);
      provesRow(String(body), { "6.2": ['{"value":1,"value":1}'] });
    });
  }

  it("unknown members are ignored, however often they come", async () => {
    const body = '{"canary":1,"value":7,"canary":{"value":8},"__proto__":{"value":9},"constructor":1,"ports":[]}';
    expectResult(await sendPlain(server.url, echo.target, body), echoed("7"));
    assert.deepEqual(echo.calls.inputs.at(-1), { value: 7 });
    proves("6.2");
  });

  it("unknown members are logged once for each port, without text of the caller", async () => {
    const deep: Codec = {
      kind: "object",
      members: [{ name: "limit", codec: { kind: "json" }, optional: true }],
    };
    const input = [one("label", undefined, true), one("deep", { kind: "array", item: deep })];
    const tool = countingTool({ input, invoke: () => ({ ok: { value: 1 } }) });
    const { url, log } = await serveFor([tool]);
    const body = '{"lable":1,"deep":[{"limt":1},{"limti":1,"limit":2},{"canary":1}],"__proto__":{"canary":1}}';
    expectResult(await sendPlain(url, tool.target, body), echoed("1"));
    const notices = () => log.filter(({ message }) => message.includes("does not declare"));
    assert.deepEqual(
      notices().map(({ level, fields }) => [level, fields.tool, fields.at]),
      [
        ["warn", tool.fqn, "deep"],
        ["warn", tool.fqn, "the input"],
      ],
    );
    assert.doesNotMatch(JSON.stringify(log), /canary|lable|limt/);
    expectResult(await sendPlain(url, tool.target, body), echoed("1"));
    assert.equal(notices().length, 2, "once");
  });

  it("a `many` port accepts 1 to 256 values, as in a signed call", async () => {
    const tool = countingTool({ input: [many("value")], invoke: () => ({ ok: { value: 1 } }) });
    const { url } = await serveFor([tool]);
    for (const count of [0, 257]) {
      const body = JSON.stringify({ value: Array.from({ length: count }, (_, i) => i) });
      const details = await plainError(url, tool.target, body, 422, "input_deserialization_error");
      assert.equal(details, `value: expected 1 to 256 values, got ${count}`);
    }
    for (const count of [1, 256]) {
      const value = Array.from({ length: count }, (_, i) => i);
      expectResult(await sendPlain(url, tool.target, JSON.stringify({ value })), echoed("1"));
      assert.deepEqual(tool.calls.inputs.at(-1), { value });
    }
    for (const [body, got] of [
      ['{"value":1}', "a number"],
      ['{"value":{"0":1,"length":1}}', "an object"],
    ] as const) {
      const details = await plainError(url, tool.target, body, 422, "input_deserialization_error");
      assert.equal(details, `value: expected an array, got ${got}`);
    }
    proves("6.2b");
  });
});

describe("a call with a signature header", () => {
  const tool = countingTool({
    path: "purge",
    input: [one("only", undefined, true)],
    invoke: ({ only }) => ({ ok: { value: only === undefined ? "EVERYTHING" : only } }),
  });

  it("does not run without its input: 422 before the tool is constructed", async () => {
    const { url } = await serveFor([tool]);
    const details = expectError(
      await signedCall(tool, { only: data("1") }).send(url),
      422,
      "input_deserialization_error",
    );
    assert.equal(
      details,
      "X-Svc-Sig-V: this server accepts only unsigned calls: send plain JSON without signature headers",
    );
    assert.equal(tool.calls.constructed, 0);
    proves("6.5");
  });

  for (const name of ["Sig-V", "Leader-Id", "Leader-Key-Id", "Input-Hash", "Leader-Signature", "Nonce"]) {
    it(`is refused, whatever the value of the header: ${name}`, async () => {
      const header = [`x-svc-${name.toLowerCase()}`, ""] as const;
      const refused = await sendPlain(server.url, echo.target, '{"value":1}', header);
      assert.match(
        expectError(refused, 422, "input_deserialization_error") ?? "",
        new RegExp(`^X-Svc-${name}: this server`),
      );
      proves("6.5");
    });
  }

  it("is refused only with the server's prefix; the body of a signed call is not an input anyway", async () => {
    const other = await serveFor([echo], { headerPrefix: "X-Nexus-" });
    expectResult(await sendPlain(other.url, echo.target, '{"value":1}', ["X-Svc-Nonce", "x"]), echoed("1"));
    const prefixed = await sendPlain(other.url, echo.target, '{"value":1}', ["X-Nexus-Nonce", "x"]);
    expectError(prefixed, 422, "input_deserialization_error");
    const { body } = echoCall(echo, "1");
    expectError(await sendPlain(other.url, echo.target, body), 422, "input_deserialization_error");
  });
});

describe("the result", () => {
  const asJson = (response: RawResponse, text: string) => {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("vary"), "Accept");
    assert.equal(response.body.toString(), text);
  };
  const json = "application/json";
  for (const [accept, isBcs] of [
    ["*/*", false],
    [json, false],
    ["text/html, application/xhtml+xml, application/xml;q=0.9, image/avif, */*;q=0.8", false],
    [`${json};q=0`, false],
    [RESULT, true],
    [RESULT.toUpperCase(), true],
    [`${RESULT};q=0.001`, true],
    [`${RESULT}; charset=utf-8 ; q=0.5`, true],
    [`${RESULT}, ${json};q=0.5`, true],
    [`${json}, ${RESULT}`, true],
    [`${RESULT}, */*`, true],
    [`${RESULT};q=0.5, */*;q=0.5`, true],
    [`${RESULT};q=0.4, ${json};q=0.3, */*`, true],
    [`${RESULT};q=0.4, ${json};q=0`, true],
    [`${RESULT};q=0.9, ${json}`, false],
    [`${RESULT};q=0.4, ${json};q=0.5, */*;q=0.1`, false],
    [`${RESULT};q=0.9, application/*`, false],
    [`${RESULT};q=0`, false],
    [`${RESULT};q=canary`, false],
    [`${RESULT};q=1.5`, false],
    [`${RESULT}x`, false],
    [`x${RESULT}`, false],
    [",;,;q=1,", false],
    [`,, ${RESULT} ,;`, true],
  ] as const) {
    it(`with Accept: ${accept}`, async () => {
      const response = await sendPlain(server.url, echo.target, '{"value":[1]}', ["Accept", accept]);
      if (isBcs) {
        expectResult(response, echoed("[1]"));
        assert.deepEqual(
          ["content-type", "vary"].map((name) => response.headers.get(name)),
          [RESULT, "Accept"],
        );
      } else asJson(response, '{"ok":{"value":[1]}}');
      provesRow(accept, { "6.3": [RESULT], "6.4": ["*/*"] });
    });
  }

  it("without Accept is JSON; several Accept headers are one list", async () => {
    asJson(await sendPlain(server.url, echo.target, '{"value":1}'), '{"ok":{"value":1}}');
    const two = [["Accept", json] as const, ["Accept", RESULT] as const];
    const { headers } = await sendPlain(server.url, echo.target, '{"value":1}', ...two);
    assert.equal(headers.get("content-type"), RESULT);
    proves("1.4", "6.4");
  });

  it("is always BCS if the server is configured so, in code or by SVC_UNSIGNED_RESULTS", async (t) => {
    const bcs = async (options: BootstrapOptions) => {
      const { url } = await serveFor([echo], options);
      for (const accept of [[], [["Accept", json]], [["Accept", "*/*"]]] as const) {
        const response = await sendPlain(url, echo.target, '{"value":1}', ...accept);
        expectResult(response, echoed("1"));
        assert.equal(response.headers.get("vary"), undefined);
      }
    };
    await bcs({ unsignedResults: "bcs" });
    process.env.SVC_UNSIGNED_RESULTS = "bcs";
    t.after(() => {
      delete process.env.SVC_UNSIGNED_RESULTS;
    });
    // `serveFor` sets the option.
    const unset = { unsignedResults: undefined } as object;
    await bcs(unset);
    const { url } = await serveFor([echo], { unsignedResults: "json" });
    asJson(await sendPlain(url, echo.target, '{"value":1}'), '{"ok":{"value":1}}');
    process.env.SVC_UNSIGNED_RESULTS = "BCS";
    await assert.rejects(serveFor([echo], unset), {
      name: "StartupError",
      message: /^SVC_UNSIGNED_RESULTS: expected json or bcs/,
    });
    await assert.rejects(
      serveFor([echo], { unsignedResults: "xml" as "json" }),
      /^StartupError: unsignedResults: expected/,
    );
    proves("6.3");
  });

  it("ports in schema order, many as arrays, exact integers, names and texts quoted", async () => {
    const ports = [one("b"), many("list"), one('"q"'), one("1"), one("__proto__")];
    const payload = Object.fromEntries([
      ["1", 2n ** 64n - 1n],
      ["list", ["x"]],
      ['"q"', '"\u0001\u2028'],
      ["b", null],
    ]);
    const value = Object.defineProperty(payload, "__proto__", { value: 1, enumerable: true });
    const tool = countingTool({ output: [{ name: "o k", ports }], invoke: () => ({ "o k": value }) });
    const { url } = await serveFor([tool], { unsignedResults: "json" });
    const response = await sendPlain(url, tool.target, '{"value":1}');
    asJson(
      response,
      '{"o k":{"b":null,"list":["x"],"\\"q\\"":"\\"\\u0001\u2028","1":18446744073709551615,"__proto__":1}}',
    );
    proves("6.4");
  });

  it("a result without ports", async () => {
    const tool = countingTool({ output: [{ name: "done", text: true, ports: [] }], invoke: () => "done" });
    const { url } = await serveFor([tool], { unsignedResults: "json" });
    asJson(await sendPlain(url, tool.target, '{"value":1}'), '"done"');
    expectResult(await sendPlain(url, tool.target, '{"value":1}', ["Accept", RESULT]), resultBcs("done", []));
    proves("6.4");
  });

  it("contains a stored value as an item of NexusData, in a list or alone, and calls its callback after it was sent", async () => {
    let returned = 0;
    const digest = new Uint8Array(32).fill(7);
    const walrus = NexusValue.walrus("A".repeat(43), digest, 5, () => void returned++);
    const output = [{ name: "ok", ports: [one("a"), one("b"), many("list")] }];
    const tool = countingTool({
      output,
      encodeOutput: () =>
        OffchainToolOutput.fromPorts("ok", [
          ["a", NexusData.one(NexusValue.json("1"))],
          ["b", NexusData.one(walrus)],
          ["list", NexusData.many([NexusValue.json("[2]"), walrus])],
        ]),
    });
    const { url } = await serveFor([tool], { unsignedResults: "json" });
    const stored = `{"kind":"walrus","blob_id":"${Buffer.from("A".repeat(43)).toString("base64")}","content_digest":"${Buffer.from(digest).toString("base64")}"}`;
    const response = await sendPlain(url, tool.target, '{"value":1}');
    asJson(response, `{"ok":{"a":1,"b":${stored},"list":[[2],${stored}]}}`);
    assert.deepEqual(NexusData.fromJson(`{"one":${stored}}`).toBcs(), NexusData.one(walrus).toBcs());
    await until(() => returned === 2, "both are settled");
    proves("6.4");
  });

  it("an error is the same for every `Accept`", async () => {
    for (const accept of [json, RESULT, "*/*"]) {
      const response = await sendPlain(server.url, echo.target, "{}", ["Accept", accept]);
      expectError(response, 422, "input_deserialization_error");
    }
  });

  it("in signed mode Accept is ignored", async () => {
    const signed = await serveSigned([echo]);
    const call = echoCall(echo, "1");
    expectResult(await exchange(signed.url, call.text(["Accept", json])), echoed("1"), call);
    proves("6.4");
  });
});

describe("a caller that disconnects", () => {
  it("fires the signal with reason disconnect, whether or not it was read before", async () => {
    for (const early of [true, false]) {
      const left = gate();
      let context: InvokeContext | undefined;
      const tool = countingTool({
        invoke: async (_, given) => {
          if (early) given.signal.addEventListener("abort", () => left.open());
          context = given;
          await left.promise;
          return { ok: { value: 1 } };
        },
      });
      const { url, log } = await serveFor([tool]);
      const connection = await RawConnection.open(url);
      connection.send(requestText("POST", tool.target, [["Content-Length", "11"]], '{"value":1}'));
      await until(() => context !== undefined, "the tool runs");
      connection.close();
      await until(() => context?.signal.aborted === true, "the signal fires");
      left.open();
      const reason: unknown = context?.signal.reason;
      assert.ok(reason instanceof InvocationAborted);
      assert.equal(reason.reason, "disconnect");
      assert.equal(
        log.some(({ level }) => level === "error"),
        false,
      );
    }
    proves("8.10");
  });

  it("does not fire the signal after the answer was sent, on connections that stay open or close", async () => {
    const contexts: InvokeContext[] = [];
    const tool = countingTool({
      invoke: ({ value }, given) => {
        contexts.push(given);
        return { ok: { value } };
      },
    });
    const { url } = await serveFor([tool]);
    const connection = await RawConnection.open(url);
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on("warning", warned);
    for (let i = 0; i < 30; i++) {
      connection.send(requestText("POST", tool.target, [["Content-Length", "11"]], '{"value":1}'));
      expectResult(await connection.response(), echoed("1"));
    }
    connection.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off("warning", warned);
    assert.deepEqual(warnings, [], "no listener is left on the connection for each request");
    assert.equal(contexts.length, 30);
    assert.ok(contexts.every(({ signal }) => !signal.aborted));
  });
});
