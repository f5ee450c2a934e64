/** The verifiers in examples/verify-receipt against svc-runtime: the same verdict for every receipt and every change of one. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ReceiptError, readReceipt } from "svc-runtime/leader";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { recordedReceipts } from "../vectors/receipts.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const EXAMPLE = join(REPOSITORY, "examples/verify-receipt");
const folder = scratchFolder();
/** Version of the package for Python. */
const CRYPTOGRAPHY = "cryptography==46.0.3";

const plain = recordedReceipts();
const whole = recordedReceipts(true);
const texts = [plain, whole].flatMap((list) => list.map(({ receipt }) => JSON.stringify(receipt)));

/** The receipt without the text of one value. */
function redacted(text: string): string {
  return text.replace(/,"text":"(?:[^"\\]|\\.)*"/, "");
}

/** Each receipt as it is, redacted, mixed with the next one, and with changed bytes: all of them, or a sample. */
function* variants(): Generator<Buffer> {
  for (const [i, text] of texts.entries()) {
    const next = JSON.parse(texts[(i + 1) % texts.length] as string);
    const own = JSON.parse(text);
    yield Buffer.from(text);
    yield Buffer.from(redacted(text));
    yield Buffer.from(JSON.stringify(own, undefined, 2));
    for (const name of ["tool", "time", "leader", "request", "result"]) {
      yield Buffer.from(JSON.stringify({ ...own, [name]: next[name] }));
    }
    for (const name of ["nonce", "input_hash", "signature", "ports"]) {
      yield Buffer.from(JSON.stringify({ ...own, request: { ...own.request, [name]: next.request[name] } }));
    }
    for (const name of ["bcs", "signature", "public_key"]) {
      yield Buffer.from(JSON.stringify({ ...own, result: { ...own.result, [name]: next.result[name] } }));
    }
    const bytes = Buffer.from(text);
    for (let at = i % 97; at < bytes.length; at += FULL ? 1 : 97) {
      const flipped = Buffer.from(bytes);
      // Never a NUL byte, which separates receipts.
      flipped[at] = (bytes[at] as number) ^ (1 << ((at + i) % 7)) || 1;
      yield flipped;
    }
  }
}

type Verdict = "true" | "false" | "undecided";

function verdictOf(receipt: Uint8Array, options: Parameters<typeof readReceipt>[1] = {}): Verdict {
  try {
    const { claims } = readReceipt(receipt, options);
    return claims.some(({ name, verdict }) => name.endsWith("_key") && verdict === "claimed") ? "undecided" : "true";
  } catch (error) {
    if (error instanceof ReceiptError) return "false";
    throw error;
  }
}

/** Compares the verdicts of a program with those of `readReceipt`. */
function compare(program: string, args: readonly string[]): void {
  const run = (more: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync(program, [...args, ...more], { encoding: "utf8", maxBuffer: 2 ** 29 });
    assert.equal(stderr, "");
    return {
      status,
      verdicts: stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    };
  };
  const all = [...variants()];
  const file = join(folder, "receipts");
  writeFileSync(file, Buffer.concat(all.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from([0]), each]))));
  const { status, verdicts } = run(["--null", file]);
  assert.equal(status, 1);
  assert.equal(verdicts.length, all.length);
  const counts: Record<string, number> = {};
  for (const [i, each] of all.entries()) {
    const expected = verdictOf(each);
    assert.equal(verdicts[i], expected, `${i}: ${each.toString("latin1")}`);
    counts[expected] = (counts[expected] ?? 0) + 1;
  }
  assert.ok(
    (counts.false ?? 0) > texts.length * 10 && (counts.undecided ?? 0) > texts.length * 3,
    JSON.stringify(counts),
  );
  for (const { receipt, leaderKey, toolKey } of whole.slice(0, 3)) {
    const one = join(folder, "receipt.json");
    writeFileSync(one, JSON.stringify(receipt));
    for (const [leader, tool, code] of [
      [leaderKey, toolKey, 0],
      [toolKey, toolKey, 1],
      [leaderKey, leaderKey, 1],
      [leaderKey, undefined, 2],
      [undefined, toolKey, 2],
    ] as const) {
      const keys = { ...(leader && { leaderKey: leader }), ...(tool && { toolKey: tool }) };
      const options = [...(leader ? ["--leader-key", leader] : []), ...(tool ? ["--tool-key", tool] : [])];
      const { status, verdicts } = run([...options, one]);
      assert.equal(status, code);
      assert.deepEqual(verdicts, [verdictOf(Buffer.from(JSON.stringify(receipt)), keys)]);
    }
  }
  assert.equal(run([join(folder, "missing.json")]).status, 2);
}

/** A Python interpreter that has the package; undefined if it cannot be installed. */
function python(): string | undefined {
  const works = (program: string) => spawnSync(program, ["-c", "import cryptography"]).status === 0;
  if (works("python3")) return "python3";
  const environment = join(folder, "python");
  spawnSync("python3", ["-m", "venv", environment], { timeout: 60_000 });
  const own = join(environment, "bin/python3");
  spawnSync(own, ["-m", "pip", "install", "--quiet", CRYPTOGRAPHY], { timeout: 120_000 });
  return works(own) ? own : undefined;
}

test("verify.py gives the same verdicts", (t: TestContext) => {
  const program = python();
  if (program === undefined) return t.skip("python3 with the package cryptography cannot be installed");
  compare(program, [join(EXAMPLE, "verify.py")]);
});

test("the verifier in Rust gives the same verdicts", { skip: !FULL && "built only in a full run" }, (t) => {
  if (spawnSync("cargo", ["--version"]).status !== 0) return t.skip("cargo is not installed");
  const target = process.env.CARGO_TARGET_DIR ?? join(folder, "target");
  const { status, stderr } = spawnSync("cargo", ["build", "--release", "--quiet"], {
    cwd: join(EXAMPLE, "rust"),
    env: { ...process.env, CARGO_TARGET_DIR: target },
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  compare(join(target, "release/verify-receipt"), []);
});
