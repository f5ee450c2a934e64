// The configuration: exact values, the texts of its errors, and that none of them holds a key.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, it } from "node:test";
import { inspect } from "node:util";
import fc from "fast-check";
import { DEFAULT_INVOKE_MAX_BODY_BYTES } from "#client/wire/protocol.js";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { ConfigError, ENV_TOOLKIT_CONFIG_PATH, SignedHttpMode, ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { proves, provesRow } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";

const directory = scratchFolder();

let files = 0;
function file(content: string | Uint8Array): string {
  const path = join(directory, `config-${files++}.json`);
  writeFileSync(path, content);
  return path;
}

const SUM = "xyz.demo.sum@1";
const publicKey = Buffer.from(publicKeyOf(Buffer.alloc(32, 3))).toString("hex");
const leaders = { version: 1, leaders: [{ leader_id: "leader", keys: [{ kid: 0, public_key: publicKey }] }] };
const parse = ToolkitRuntimeConfig.fromJsonStr;
const signed = (section: object) => parse(JSON.stringify({ signed_http: section }));
const withTool = (tool: object) => signed({ allowed_leaders: leaders, tools: { [SUM]: tool } });

describe("sources", () => {
  it("without the variable: the defaults", () => {
    const config = ToolkitRuntimeConfig.fromEnv({});
    assert.equal(config.invokeMaxBodyBytes(), 12_582_912n);
    assert.equal(DEFAULT_INVOKE_MAX_BODY_BYTES, 12_582_912n);
    assert.equal(config.signedHttpIsRequired(), false);
    assert.equal(config.hasTool(SUM), false);
    assert.equal(config.leaders.lookup("leader", 0n), undefined);
  });

  it("a variable that is set but empty is an error", () => {
    assert.throws(() => ToolkitRuntimeConfig.fromEnv({ [ENV_TOOLKIT_CONFIG_PATH]: "" }), {
      name: "ConfigError",
      message:
        "configuration SVC_TOOLKIT_CONFIG_PATH must be a path, got an empty string; set it to a path, or unset it",
    });
    proves("10.2");
  });

  it("a missing file, a directory, an invalid name", () => {
    const missing = join(directory, "missing.json");
    for (const [path, got] of [
      [missing, "ENOENT"],
      [directory, "a directory or a special file"],
      ["a\0b", "ERR_INVALID_ARG_VALUE"],
    ] as const) {
      const message = `configuration ${JSON.stringify(path)} must be a readable file, got ${got}; correct the path or create the file`;
      assert.throws(() => ToolkitRuntimeConfig.fromPath(path), { name: "ConfigError", message });
      assert.throws(() => ToolkitRuntimeConfig.fromEnv({ [ENV_TOOLKIT_CONFIG_PATH]: path }), { message });
    }
  });

  it("a relative path is taken from the working directory, the allow-list's too", () => {
    const list = relative(process.cwd(), file(JSON.stringify(leaders)));
    const path = file(JSON.stringify({ signed_http: { allowed_leaders_path: list, tools: { [SUM]: {} } } }));
    const config = ToolkitRuntimeConfig.fromPath(relative(process.cwd(), path));
    assert.ok(config.leaders.lookup("leader", 0n));
  });

  it("bytes that are not UTF-8, a byte-order mark, a lone surrogate", () => {
    const bytes = Buffer.concat([Buffer.from('{"signed_http":\n "'), Buffer.of(0xff), Buffer.from('"}')]);
    assert.throws(() => ToolkitRuntimeConfig.fromJsonBytes(bytes), /line 2, column 3: the document must be JSON: /);
    assert.throws(() => parse("\ufeff{}"), ConfigError);
    assert.throws(() => parse('{"\ud800": 1}'), /^ConfigError: configuration must be well-formed text, got a lone/);
    assert.equal(parse(" \n{}\t ").signedHttpIsRequired(), false);
  });

  it("arguments of another type are TypeErrors", () => {
    for (const wrong of [undefined, null, 1, {}, []] as unknown[]) {
      assert.throws(() => parse(wrong as string), /^TypeError: configuration text must be a string, got \w+$/);
      assert.throws(() => ToolkitRuntimeConfig.fromPath(wrong as string), /^TypeError: configuration path must be a/);
      assert.throws(() => ToolkitRuntimeConfig.fromJsonBytes(wrong as Uint8Array), /^TypeError: configuration bytes/);
    }
    assert.throws(() => ToolkitRuntimeConfig.fromJsonBytes("{}" as unknown as Uint8Array), TypeError);
  });

  it("nesting that would overflow the stack of a recursive reader is refused", () => {
    assert.throws(() => parse(`${"[".repeat(200_000)}`), ConfigError);
    assert.throws(() => parse(`{"signed_http":${'{"tools":'.repeat(100_000)}`), ConfigError);
  });
});

describe("values", () => {
  it("u64 is exact, and integers only", () => {
    for (const text of ["0", "1", "9007199254740993", "18446744073709551614", "18446744073709551615"]) {
      assert.equal(parse(`{"invoke_max_body_bytes":${text}}`).invokeMaxBodyBytes(), BigInt(text));
    }
    for (const text of [
      "-1",
      "-0",
      "1.0",
      "1024.0",
      "1e3",
      "1.5",
      "18446744073709551616",
      "1e400",
      '"1"',
      "true",
      "[1]",
      "{}",
      "01",
    ]) {
      assert.throws(() => parse(`{"invoke_max_body_bytes":${text}}`), ConfigError, text);
    }
    proves("10.3");
  });

  it("null means absent exactly where the contract says so", () => {
    assert.equal(parse('{"invoke_max_body_bytes":null,"signed_http":null}').invokeMaxBodyBytes(), 12_582_912n);
    const absent = { allowed_leaders: leaders, allowed_leaders_path: null };
    assert.ok(signed({ ...absent, tools: { [SUM]: { response_signing_key: null, replay_cache_ttl_ms: null } } }));
    for (const member of ["mode", "tools"]) {
      assert.throws(() => signed({ allowed_leaders: leaders, tools: { [SUM]: {} }, [member]: null }), ConfigError);
      assert.throws(() => signed({ mode: "disabled", [member]: null }), ConfigError);
    }
    proves("10.3");
  });

  it("a tool's key and lifetime", () => {
    assert.deepEqual(withTool({}).toolConfig(SUM), { replayTtlMs: 300_000 });
    const config = withTool({ response_signing_key: "09".repeat(32), replay_cache_ttl_ms: 1 }).toolConfig(SUM);
    assert.deepEqual(Buffer.from(config?.signingKey?.publicKey ?? []), Buffer.from(publicKeyOf(Buffer.alloc(32, 9))));
    assert.equal(config?.replayTtlMs, 1);
    assert.ok(Object.isFrozen(config));
    for (const [text, milliseconds] of [
      ["9007199254740991", 9007199254740991],
      ["9007199254740992", 9007199254740991],
      ["18446744073709551615", 9007199254740991],
    ] as const) {
      const json = JSON.stringify({
        signed_http: { allowed_leaders: leaders, tools: { [SUM]: { replay_cache_ttl_ms: 5 } } },
      });
      const read = parse(json.replace('ms":5', `ms":${text}`));
      assert.equal(read.toolConfig(SUM)?.replayTtlMs, milliseconds);
    }
    proves("1.17");
  });

  it("a tool id is compared exactly and need not be a name", () => {
    const json = JSON.stringify(leaders);
    const config = parse(`{"signed_http":{"allowed_leaders":${json},"tools":{"a.b":{},"__proto__":{},"${SUM}":{}}}}`);
    for (const id of ["a.b", "__proto__", SUM]) assert.ok(config.hasTool(id), id);
    for (const id of ["xyz.demo.sum@01", "constructor", "", "A.b"]) assert.ok(!config.hasTool(id), id);
    proves("10.10");
  });

  it("a repeated tool id is an error, with the same spelling or escaped", () => {
    for (const again of [SUM, "\\u0078yz.demo.sum@1"]) {
      for (const mode of ["required", "disabled"]) {
        const text = `{"signed_http":{"mode":"${mode}","allowed_leaders":${JSON.stringify(leaders)},
"tools":{"${SUM}":{}, "${again}":{}}}}`;
        const place =
          /line 2, column \d+: \/signed_http\/tools must contain each member once, got xyz\.demo\.sum@1 again; remove one of the two$/;
        assert.throws(() => parse(text), place);
      }
    }
    proves("10.2");
  });

  it("modes", () => {
    assert.deepEqual(SignedHttpMode, { Disabled: "disabled", Required: "required" });
    for (const mode of ["", "REQUIRED", "disabled ", "none"]) {
      assert.throws(
        () => signed({ mode, allowed_leaders: leaders, tools: { [SUM]: {} } }),
        /\/signed_http\/mode must be "disabled" or "required", got another string; write one of the two$/,
      );
    }
  });

  it("with both an inline list and a path, the path is never opened", () => {
    const config = signed({ allowed_leaders: leaders, allowed_leaders_path: "no/such", tools: { [SUM]: {} } });
    assert.ok(config.leaders.lookup("leader", 0n));
    assert.throws(() => signed({ allowed_leaders_path: "no/such", tools: { [SUM]: {} } }), /allow-list .* got ENOENT/);
    assert.throws(
      () => signed({ allowed_leaders: leaders, allowed_leaders_path: 1, tools: { [SUM]: {} } }),
      ConfigError,
    );
    proves("10.12");
  });
});

describe("mode disabled", () => {
  const disabled = (section: object) => signed({ mode: "disabled", ...section });
  const list = (leader: object) => ({ allowed_leaders: { version: 1, leaders: [leader] } });

  it("leaves values unchecked", () => {
    for (const section of [
      {},
      { tools: {} },
      { tools: { [SUM]: { response_signing_key: "no key", replay_cache_ttl_ms: 0 } } },
      { tools: { "not a name": { response_signing_key: null, replay_cache_ttl_ms: null } } },
      { allowed_leaders_path: "no/such/file" },
      { allowed_leaders_path: null, allowed_leaders: null },
      { allowed_leaders: { version: 0, leaders: [] } },
      { allowed_leaders: { version: 255, leaders: [] } },
      list({
        leader_id: "l",
        keys: [
          { kid: 0, public_key: "no key" },
          { kid: 0, public_key: "00".repeat(32) },
        ],
      }),
    ]) {
      const config = disabled(section);
      assert.equal(config.signedHttpIsRequired(), false);
      assert.equal(config.hasTool(SUM), false);
      assert.equal(config.toolConfig(SUM), undefined);
      assert.equal(config.leaders.lookup("l", 0n), undefined);
    }
    proves("10.11");
  });

  it("still checks that members are known, present and of the right kind", () => {
    for (const section of [
      { x: 1 },
      { tools: [] },
      { tools: { [SUM]: null } },
      { tools: { [SUM]: { x: 1 } } },
      { tools: { [SUM]: { response_signing_key: 1 } } },
      { tools: { [SUM]: { replay_cache_ttl_ms: "1" } } },
      { tools: { [SUM]: { replay_cache_ttl_ms: -1 } } },
      { tools: { [SUM]: { replay_cache_ttl_ms: 1.5 } } },
      { allowed_leaders_path: 1 },
      { allowed_leaders: [] },
      { allowed_leaders: {} },
      { allowed_leaders: { version: 1 } },
      { allowed_leaders: { leaders: [] } },
      { allowed_leaders: { version: 256, leaders: [] } },
      { allowed_leaders: { version: null, leaders: [] } },
      { allowed_leaders: { version: 1, leaders: {} } },
      { allowed_leaders: { version: 1, leaders: [], x: 1 } },
      list({ leader_id: "l" }),
      list({ keys: [] }),
      list({ leader_id: 1, keys: [] }),
      list({ leader_id: "l", keys: [{ kid: 0 }] }),
      list({ leader_id: "l", keys: [{ kid: -1, public_key: "" }] }),
      list({ leader_id: "l", keys: [{ kid: 0, public_key: 1 }] }),
      list({ leader_id: "l", keys: [{ kid: 0, public_key: "", x: 1 }] }),
    ]) {
      assert.throws(() => disabled(section), ConfigError, JSON.stringify(section));
    }
    proves("10.11");
  });
});

describe("error texts", () => {
  const text = `{
  "invoke_max_body_bytes": 1024,
  "signed_http": {
    "allowed_leaders": {"version": 1, "leaders": []},
    "tools": {
      "xyz.demo.sum@1": {"replay_cache_ttl_ms": 5},
      "secret?": {"replay_cache_ttl_ms": 6}
    }
  }
}`;
  const integer = "must be an integer from 0 to 18446744073709551615, got";
  const digits = "; write it in plain digits, without a point, exponent or quotes";
  const other =
    "line 5, column 5: /signed_http must contain only mode, allowed_leaders_path, allowed_leaders, tools, got another member";
  const cases: [from: string, to: string, message: string][] = [
    [
      "1024",
      "1024.0",
      `line 2, column 28: /invoke_max_body_bytes ${integer} a number that is not a 64-bit integer${digits}`,
    ],
    ["1024", "[1]", `line 2, column 28: /invoke_max_body_bytes ${integer} an array${digits}`],
    ["1024", "-9", `line 2, column 28: /invoke_max_body_bytes ${integer} a smaller one; correct it`],
    ["1024", "true", `line 2, column 28: /invoke_max_body_bytes ${integer} a boolean${digits}`],
    [
      "5",
      "0",
      "line 6, column 49: /signed_http/tools/xyz.demo.sum@1/replay_cache_ttl_ms must be an integer from 1 to 18446744073709551615, got a smaller one; correct it",
    ],
    [
      "6}",
      "{}}",
      `line 7, column 42: /signed_http/tools/(entry 2)/replay_cache_ttl_ms must be an integer from 1 to 18446744073709551615, got an object; write milliseconds in plain digits, such as 300000`,
    ],
    ['"tools"', '"tool"', `${other}, tool; did you mean tools?`],
    ['"tools"', '"allowedLeaders"', `${other}, allowedLeaders; did you mean allowed_leaders?`],
    ['"tools"', '"replay_cache_ttl_ms"', `${other}, replay_cache_ttl_ms; it belongs in an entry of /signed_http/tools`],
    ['"tools"', '"timeout"', `${other}, timeout; remove it or correct its name`],
    ['"tools"', '"constructor"', `${other}, constructor; remove it or correct its name`],
    ['"tools"', '"path"', `${other}, path; did you mean allowed_leaders_path?`],
    ['"tools"', '"to\\u0000ols"', `${other}; did you mean tools?`],
    ['"tools"', '"c0ffee5ec4e7c0ffee5ec4e7"', `${other}; remove it or correct its name`],
    [
      '"signed_http"',
      '"invoke_max_body_bytes"',
      "line 3, column 3: the document must contain each member once, got invoke_max_body_bytes again; remove one of the two",
    ],
    [
      '"version": 1, ',
      "",
      "line 4, column 24: /signed_http/allowed_leaders must be an object with the member version, got one without it; add it",
    ],
    ["1024,", "1024", "line 3, column 3: the document must be JSON: "],
    [
      '"replay_cache_ttl_ms": 5',
      '"response_signing_key": ""',
      "line 6, column 50: /signed_http/tools/xyz.demo.sum@1/response_signing_key must be an Ed25519 private key of 32 bytes, or 33 with a leading zero byte, in hex, base64 or base64url, got an empty string; copy the key again",
    ],
  ];

  for (const [from, to, message] of cases) {
    it(`${from} written as ${to}`, () => {
      const path = file(text.replace(from, to));
      assert.throws(
        () => ToolkitRuntimeConfig.fromPath(path),
        (error: unknown) => {
          assert.ok(error instanceof ConfigError);
          const expected = `configuration ${JSON.stringify(path)}, ${message}`;
          if (message.endsWith(": ")) assert.ok(error.message.startsWith(expected), error.message);
          else assert.equal(error.message, expected);
          const [, line, column, pointer] = /^line (\d+), column (\d+): (.+?) must /.exec(message) ?? [];
          assert.deepEqual([error.file, error.line, error.column], [path, Number(line), Number(column)]);
          assert.equal(error.pointer, pointer === "the document" ? "" : pointer);
          return true;
        },
      );
      assert.throws(
        () => parse(text.replace(from, to)),
        (error: Error) => error.message.startsWith(`configuration, ${message}`),
      );
      provesRow(from, { "10.2": ['"signed_http"', '"tools"'] });
    });
  }

  it("columns count characters", () => {
    assert.throws(
      () => parse('{"signed_http":{"tools":{"\u00e9\u{1f600}\\u00e9":{"x":1}}}}'),
      /column 38: \/signed_http\/tools\/\(entry 1\) /,
    );
  });

  it("errors of an allow-list from a path contain the path", () => {
    const list = file('{"version":1}');
    const path = file(JSON.stringify({ signed_http: { allowed_leaders_path: list, tools: { [SUM]: {} } } }));
    const message = `allow-list ${JSON.stringify(list)}, line 1, column 1: the document must be an object with the member leaders, got one without it; add it`;
    assert.throws(() => ToolkitRuntimeConfig.fromPath(path), { message, file: list });
  });
});

describe("secrets", () => {
  const secret = Buffer.from("c0ffee5ec4e7".repeat(6).slice(0, 64), "hex");
  const flagged = Buffer.concat([Buffer.of(0), secret]);
  const forms = [
    secret.toString("hex"),
    secret.toString("base64"),
    secret.toString("base64url"),
    flagged.toString("base64"),
  ];

  /** Fails when a shown text holds any ten characters in a row of any form of the key. */
  function assertHidden(shown: string, context: string) {
    const lower = shown.toLowerCase();
    for (const form of forms) {
      for (let i = 0; i + 10 <= form.length; i++) {
        assert.ok(!lower.includes(form.slice(i, i + 10).toLowerCase()), `${context}\n${shown}`);
      }
    }
  }

  function assertQuiet(load: () => unknown, context: string): boolean {
    try {
      load();
      return false;
    } catch (error) {
      assert.ok(error instanceof ConfigError, `${context}\n${inspect(error)}`);
      assertHidden(
        `${error.message}\n${error.stack}\n${inspect(error, { depth: 9 })}\n${JSON.stringify(error)}`,
        context,
      );
      return true;
    }
  }

  const base = {
    invoke_max_body_bytes: 1024,
    signed_http: {
      mode: "required",
      allowed_leaders_path: null,
      allowed_leaders: leaders,
      tools: { [SUM]: { response_signing_key: forms[0], replay_cache_ttl_ms: 5 }, other: {} },
    },
  };

  /** The text with one name or value (the n-th of all) replaced by the key. */
  function withKeyAt(n: number, key: string, asName: boolean): string {
    let seen = 0;
    const walk = (value: unknown): string => {
      if (!asName && seen++ === n) return JSON.stringify(key);
      if (Array.isArray(value)) return `[${value.map(walk).join()}]`;
      if (typeof value !== "object" || value === null) return JSON.stringify(value);
      const members = Object.entries(value).map(([name, member]) => {
        const shown = asName && seen++ === n ? key : name;
        return `${JSON.stringify(shown)}:${walk(member)}`;
      });
      return `{${members.join()}}`;
    };
    return walk(base);
  }

  it("a key as any name or value, complete, truncated, prefixed or doubled, appears in no error", () => {
    let refused = 0;
    for (const form of forms) {
      const texts = [
        form,
        form.slice(1),
        form.slice(0, 20),
        `0x${form}`,
        `0X${form}`,
        ` ${form}`,
        `${form}\n`,
        form + form,
        `01${form}`,
      ];
      for (const key of texts) {
        for (const asName of [true, false]) {
          for (let n = 0; n < 22; n++) {
            const text = withKeyAt(n, key, asName);
            if (assertQuiet(() => parse(text), text)) refused++;
          }
        }
      }
    }
    assert.ok(refused > 1000, `${refused}`);
  });

  it("a document truncated or changed anywhere causes no error with the key", () => {
    const text = JSON.stringify(base, null, 1);
    fc.assert(
      fc.property(
        fc.nat(text.length),
        fc.nat(6),
        fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 0an\u0001'), maxLength: 3 }),
        (at, cut, put) => {
          const changed = text.slice(0, at) + put + text.slice(at + cut);
          assertQuiet(() => parse(changed), changed);
          assertQuiet(() => parse(text.slice(0, at)), "cut");
        },
      ),
      { numRuns: 300 },
    );
  });

  it("a key given instead of a path is not printed", () => {
    const slashed = Buffer.concat([Buffer.alloc(4, 0xff), secret.subarray(4)]).toString("base64");
    forms.push(slashed);
    for (const form of forms) {
      for (const path of [form, ` ${form}`, `0x${form}`]) {
        if (path === `0x${form}` && form !== forms[0]) continue;
        assert.ok(assertQuiet(() => ToolkitRuntimeConfig.fromPath(path), path));
        assert.ok(assertQuiet(() => ToolkitRuntimeConfig.fromEnv({ [ENV_TOOLKIT_CONFIG_PATH]: path }), path));
        assert.ok(assertQuiet(() => signed({ allowed_leaders_path: path, tools: { [SUM]: {} } }), path));
      }
    }
    forms.pop();
  });

  it("printing a loaded configuration shows no key", () => {
    const config = parse(JSON.stringify(base));
    const shown = [config, config.toolConfig(SUM), config.leaders].map((value) => {
      return `${inspect(value, { depth: 9, showHidden: true })} ${JSON.stringify(value)} ${String(value)}`;
    });
    assertHidden(shown.join("\n"), "inspect");
    assert.ok(!shown.join().includes(inspect(secret).slice(8, 30)));
  });
});
