/** Every sentence of docs/protocol.md, with the tests that prove it. Checked by requirements.test.ts and, for each file, by run.ts. */

/** Exactly one of proven and reason. */
export interface Requirement {
  /** Section and place in it. */
  readonly id: string;
  /** The sentence as it stands in docs/protocol.md, line breaks as spaces. */
  readonly text: string;
  /**
   * The test files whose tests fail when a rule of the sentence is not kept, as paths below test/ without `.test.ts`,
   * each with the number of its declarations (`proves`, and rows of `provesRow`; see proves.ts).
   */
  readonly proven?: Readonly<Record<string, number>>;
  /** The program without which the proofs cannot run. The runner reports it when it is not installed. */
  readonly needs?: "redis-server";
  /** Why there is nothing to prove: a definition, a remark, a heading. */
  readonly reason?: string;
}

export const REQUIREMENTS: readonly Requirement[] = [
  { id: "0.1", text: "Normative.", reason: "what kind of text this is" },
  {
    id: "0.2",
    text: 'It combines the specification with answers to what the specification leaves open ("not shown"); those answers are the behaviour of the deployed protocol (nexus-toolkit / nexus-sdk 2.1.1, the Rust system that the specification describes), recorded by running it.',
    reason: "where the rules come from",
  },
  {
    id: "0.3",
    text: "`test/vectors/` holds recorded data; where this text and a vector disagree, the vector is right; where this text and the specification differ, this text is right.",
    reason: "which text is right when two differ; that the vectors hold is proved where they are named",
  },
  {
    id: "0.4",
    text: "A sentence marked ★ is this project's own decision and differs from the Rust system on purpose.",
    reason: "what the mark means",
  },
  {
    id: "1.1",
    text: '| header prefix | `X-Svc-`. ★ In code, `bootstrap(…, { headerPrefix: "X-Nexus-" })` serves existing leaders: exactly one prefix is read and written, nothing else changes |',
    proven: { "requirements/section-1": 1, "runtime/invoke-auth": 1 },
  },
  { id: "1.2", text: "| signature version | `3` |", proven: { "runtime/invoke-auth": 1 } },
  {
    id: "1.3",
    text: "| domain strings (ASCII, no terminator) | `nexus.direct.v3.resolved-input`, `nexus.direct.v3.raw-output`, `nexus.direct.v3.tool-response`, `nexus.direct.v3.invocation-nonce` |",
    proven: { "wire/signature": 4 },
  },
  {
    id: "1.4",
    text: "| result content type | `application/vnd.nexus.canonical-tool-response+bcs` |",
    proven: { "runtime/unsigned": 1 },
  },
  {
    id: "1.5",
    text: "| error content type | `application/json`, without parameters |",
    proven: { "runtime/serve": 1 },
  },
  { id: "1.6", text: "| input ports | at most 32 |", proven: { "wire/ports": 1 } },
  { id: "1.7", text: "| output variants; ports of one variant | 1 to 8; at most 16 |", proven: { "wire/ports": 3 } },
  {
    id: "1.8",
    text: "| port and variant names | 1 to 128 ASCII bytes (control characters allowed by the protocol) |",
    proven: { "wire/ports": 3 },
  },
  {
    id: "1.9",
    text: "| BCS of the whole port schema | at most 65,536 bytes (the other limits keep it below) |",
    proven: { "wire/ports": 1 },
  },
  {
    id: "1.10",
    text: "| values in a `many` | 1 to 256 |",
    proven: { "runtime/invoke-envelope": 1, "runtime/invoke-results": 1 },
  },
  {
    id: "1.11",
    text: "| one inline value in NexusData and in an output | at most 61,440 bytes; BCS(NexusData) of one port, its variant byte counted, at most 65,536. An input item has no such limit |",
    proven: { "runtime/invoke-envelope": 1, "runtime/invoke-results": 2, "wire/data": 1 },
  },
  { id: "1.12", text: "| BCS of a whole result | at most 262,144 bytes |", proven: { "runtime/invoke-results": 1 } },
  {
    id: "1.13",
    text: "| resolved input budget | 8 MiB over all ports and values of a signed call: inline bytes, every item of a `many`, 32 bytes an object id; a `data` item counts as its text without whitespace, a `bytes` item as its decoded bytes; over it 422 `input_deserialization_error`, before the hash is compared. Unsigned calls have only the body limit |",
    proven: { "runtime/invoke-envelope": 4, "runtime/storage": 1, "wire/envelope": 3 },
  },
  {
    id: "1.14",
    text: "| resolved output budget | 8 MiB, independent; ★ inline bytes plus the known sizes of stored blobs over it → 500 `output_serialization_error` |",
    proven: { "requirements/section-1": 1, "runtime/invoke-results": 1 },
  },
  {
    id: "1.15",
    text: "| `/invoke` body | 12 MiB (12,582,912) by default, configurable, never raises the budgets |",
    proven: { "requirements/section-1": 1, "runtime/serve": 2 },
  },
  {
    id: "1.16",
    text: "| tool timeout | 10 s by default: construction, authorize, input decoding, invoke, output encoding together; an integer 1 … 2,147,483,647 ms, else a start-up error |",
    proven: { "requirements/section-1": 2, "runtime/bootstrap": 2, "runtime/invoke-faults": 1 },
  },
  { id: "1.17", text: "| replay TTL | 300,000 ms by default |", proven: { "runtime/config": 1 } },
  {
    id: "1.18",
    text: "| TLS | handshake 10 s; TLS 1.2 or later; ★ ALPN `http/1.1` only (HTTP/2 off: no leader needs it, and its flood attacks then cannot apply) |",
    proven: { "runtime/tls": 4 },
  },
  {
    id: "1.19",
    text: "| JSON nesting | 127 levels are accepted, 128 refused, counted over the whole body; the decoded text of a `bytes` item counts anew |",
    proven: { "runtime/invoke-envelope": 2, "wire/json": 1 },
  },
  {
    id: "1.20",
    text: "| request | ★ headers received within 10 s, the whole request within 30 s, a body never below 16,384 bytes/s for 5 s (408), at most 64 headers |",
    proven: { "runtime/request-body": 2, "runtime/serve": 3 },
  },
  { id: "1.21", text: "Tool FQN:", reason: "the heading of the next sentence" },
  {
    id: "1.22",
    text: "`domain.name@version`, at least three dot-separated parts, each `[a-z][a-z0-9_-]+` (two characters or more); version decimal, 1 to 4,294,967,295, leading zeros allowed; its text everywhere (metadata, look-up, duplicates) has the version in shortest form (`test/vectors/fqn.json`).",
    proven: { "runtime/bootstrap": 2, "runtime/fqn": 2, "runtime/meta": 1 },
  },
  {
    id: "1.23",
    text: "`description()` blank or only whitespace: refused by svc-gen and ★ at start-up.",
    proven: { "generator/classes": 1, "runtime/bootstrap": 1 },
  },
  {
    id: "1.24",
    text: "★ The input of one call has at most 300,000 values by default, configurable; members' names, arrays and objects count as one each, in the whole body and in the decoded texts of `bytes` items; beyond that: 413 `payload_too_large` at step 3 of section 7, before the nonce is claimed and before a value is decoded.",
    proven: { "runtime/input-values": 2 },
  },
  {
    id: "1.25",
    text: "★ A value is tried only by the branches of a union that it may fit, by its kind and its required members; where several remain, the tries of one call together take at most 500,000 steps and two more for each of its values, one step for each member or item that is read; beyond that: 422 `input_deserialization_error`.",
    proven: { "wire/union-filter": 1 },
  },
  {
    id: "2.1",
    text: "The input ports of a tool are the properties of its input schema **in the order in which they are declared** (the textual order of the JSON), the outputs of a variant likewise; a repeated property keeps its first place and its last value; `type` and `required` of the containing object are ignored; an input schema without `properties` is refused.",
    proven: { "requirements/section-2": 2, "wire/ports": 1 },
  },
  {
    id: "2.2",
    text: 'A port is `many` when its schema has `"type": "array"` exactly, otherwise `one`; `["array","null"]` and `anyOf` are `one`.',
    proven: { "wire/ports": 1 },
  },
  {
    id: "2.4",
    text: "Where a schema is a `$ref` (root, port, variant, payload) exactly one hop is followed: a JSON pointer within the document, percent-decoded, siblings ignored; a non-local or unresolvable one is a refusal.",
    proven: { "requirements/section-2": 1, "wire/ports": 2 },
  },
  {
    id: "2.5",
    text: "The output schema has a top-level `oneOf`; every member is an object schema with exactly one property (the variant's name; a payload without `properties` has no ports), or a `const` / one-element `enum` string (a variant without ports).",
    proven: { "wire/ports": 6 },
  },
  {
    id: "2.6",
    text: 'Integer-like names ("1", "0") are legal and keep their textual position: never let a JavaScript object order them.',
    proven: { "generator/order": 1, "runtime/invoke-values": 1, "wire/ports": 1 },
  },
  {
    id: "2.7",
    text: "Cases with verdicts and the BCS of the port schema:",
    reason: "the heading of the next sentence",
  },
  { id: "2.8", text: "`test/vectors/schema.json`.", proven: { "vectors/vectors": 1 } },
  { id: "2.9", text: "Optional members.", reason: "the heading of the next sentence" },
  {
    id: "2.10",
    text: "In a signed call every port is present: an absent optional input arrives as JSON `null` and reaches the tool as `undefined`; an absent optional output leaves as `null`.",
    proven: { "runtime/invoke-values": 1, "wire/envelope": 1 },
  },
  {
    id: "2.11",
    text: "Absent, `null` and `undefined` mean the same for an optional member, nested too, in both modes.",
    proven: { "runtime/invoke-values": 3 },
  },
  {
    id: "2.11b",
    text: "★ A `default` of a schema is for callers and never filled in: the input hash commits to the values as sent, and a tool sees no others.",
    proven: { "generator/jsdoc": 1 },
  },
  {
    id: "2.12",
    text: 'So the emitted schema of an optional member accepts `null` (`"type": ["string","null"]`, not in `required`), and an optional array is a `one`.',
    proven: { "requirements/emitted": 1 },
  },
  {
    id: "2.13",
    text: "A non-optional array is `many` and can neither be sent nor returned empty: svc-gen notes this at generation time.",
    proven: { "generator/contract": 1, "runtime/invoke-envelope": 1, "runtime/invoke-results": 1 },
  },
  {
    id: "2.14",
    text: "★ Encoding follows the port, where the Rust default encoder turns every JSON array into `many` and fails: a `one` port whose value is an array carries that array as one inline value; a `many` port needs an array of 1 to 256.",
    proven: { "runtime/invoke-results": 1 },
  },
  {
    id: "2.15",
    text: '★ A string literal `"done"` in an Output type is emitted as `{"const":"done"}` and returns as tag `done` without ports.',
    proven: { "requirements/emitted": 1 },
  },
  {
    id: "2.16",
    text: '`_err_eval` cannot be declared: it is the reserved failure variant with the single inline `one` port `reason`; any tool returns it with `return errEval("text")` (typed so that it fits every Output; the inline bytes are the JSON string of the text); it is signed like a success.',
    proven: { "requirements/emitted": 1, "runtime/invoke-faults": 1, "wire/ports": 1 },
  },
  { id: "3.1", text: "ValueKind       enum   0 Object, 1 Data", proven: { "vectors/vectors": 1 } },
  {
    id: "3.2",
    text: "NexusValue      enum   0 Object { id: 32 bytes }, 1 InlineData { bytes: vec u8 }, 2 WalrusData { blob_id: vec u8, content_digest: vec u8 }",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.3",
    text: "NexusData       enum   0 One { value: NexusValue }, 1 Many { values: vec NexusValue }",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.4",
    text: "PortCommitment  enum   0 One { kind: ValueKind, commitment: vec u8 }, 1 Many { kind: ValueKind, commitments: vec vec u8 }",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.5",
    text: "PortSchema      struct port_name: vec u8, is_many: bool, value_kind: ValueKind",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.6",
    text: "OutputVariant   struct variant_name: vec u8, ports: vec PortSchema",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.7",
    text: "MetaSchema      struct input_ports: vec PortSchema, output_variants: vec OutputVariant",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.8",
    text: "OffchainToolOutput struct tag: vec u8, ports: vec { port_name: vec u8, values: vec NexusValue }",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "3.9",
    text: "nonce preimage  struct execution_id: 32 bytes, walk_index: u64, vertex_name: vec u8, iteration: u64",
    proven: { "wire/signature": 1 },
  },
  {
    id: "3.10",
    text: "A Walrus blob id is the 43-character canonical base64url text (no padding) of 32 bytes, stored as its ASCII bytes; the content digest is 32 bytes (SHA-256 of the content).",
    proven: { "runtime/storage": 1, "wire/data": 4 },
  },
  { id: "3.11", text: "The values of one port are all objects or all data.", proven: { "wire/data": 1 } },
  {
    id: "3.12",
    text: "A Many of one value and a One of it have the same BCS within a result.",
    proven: { "runtime/invoke-results": 1 },
  },
  {
    id: "3.13",
    text: 'NexusData as JSON is `{"one":ITEM}` or `{"many":[…]}`, ITEM as in section 5 without `bytes`, or `{"kind":"walrus","blob_id":B64,"content_digest":B64}`, both standard base64 with padding of the stored bytes; written with the members in this order, ids as `0x` and 64 lower-case digits, data as its canonical JSON text.',
    proven: { "vectors/vectors": 1, "wire/data": 1 },
  },
  {
    id: "3.14",
    text: "An object id is 1 to 64 hex digits, `0x` optional, left-padded to 32 bytes.",
    proven: { "wire/data": 2 },
  },
  { id: "3.15", text: "`test/vectors/nexus-data.json`:", reason: "the heading of the next sentence" },
  {
    id: "3.16",
    text: "JSON forms, verdicts, BCS, commitments; `test/vectors/output.json`: explicit results against a schema (a group of one value satisfies a `many` port; several values or none never satisfy a `one`).",
    proven: { "vectors/vectors": 2 },
  },
  { id: "4.1", text: "content commitment of a value:", reason: "the heading of the next sentence" },
  {
    id: "4.2",
    text: "SHA-256 of the inline bytes; the content digest of a Walrus value; the 32-byte id of an object.",
    proven: { "wire/signature": 1 },
  },
  {
    id: "4.3",
    text: "input hash = SHA-256( resolved-input domain ‖ BCS( vec of { port_name: vec u8, commitment:",
    proven: { "wire/signature": 1 },
  },
  { id: "4.4", text: "PortCommitment } in port order ) )", proven: { "wire/signature": 1 } },
  {
    id: "4.5",
    text: "leader signature = Ed25519 over the 32-byte input hash.",
    proven: { "runtime/invoke-auth": 1, "vectors/vectors": 1 },
  },
  {
    id: "4.6",
    text: "output hash = SHA-256( raw-output domain ‖ BCS(OffchainToolOutput) )",
    proven: { "wire/signature": 1 },
  },
  {
    id: "4.7",
    text: "tool signature = Ed25519 over ( tool-response domain ‖ leader signature (64) ‖ nonce (32) ‖ output hash (32) )",
    proven: { "vectors/vectors": 1 },
  },
  {
    id: "4.8",
    text: "invocation nonce = SHA-256( invocation-nonce domain ‖ BCS(nonce preimage) )",
    proven: { "wire/signature": 1 },
  },
  {
    id: "4.9",
    text: "Verification is strict in the sense of ed25519-dalek `verify_strict`:",
    reason: "the heading of the next sentence",
  },
  {
    id: "4.10",
    text: "S below the group order, the cofactorless equation, A a curve point, small-order A or R and non-canonical A or R refused (`test/vectors/ed25519.json`).",
    proven: { "wire/ed25519": 1 },
  },
  {
    id: "4.11",
    text: "Neither node:crypto nor @noble/ed25519 with `zip215: false` gives these verdicts by itself (198 and 180 false accepts in 1,650 vectors, of which 1,053 are here).",
    proven: { "requirements/section-4": 1 },
  },
  {
    id: "4.12",
    text: "The leader's signature covers the inputs only: not the nonce, the leader's id, the tool or the time.",
    proven: { "requirements/section-4": 1 },
  },
  {
    id: "4.13",
    text: "Anyone who can read a request can repeat it under another nonce.",
    proven: { "requirements/section-4": 1 },
  },
  {
    id: "4.14",
    text: "Authenticated HTTPS is therefore part of the protocol; the documentation says so plainly.",
    proven: { "requirements/section-4": 1 },
  },
  {
    id: "4.15",
    text: "Golden values: one-ports z = bytes `Z`, aa = bytes `A`, in that order → input hash `c4c6b94a64dfa36bbc1261eb8cd2ea030a0187cb6f66b34571be80aa1539f858`; tag `ok`, port result = [inline `x`] → BCS `026f6b0106726573756c7401010178`, output hash `05b824008a23a42ccb453d2dc4fd3ab6d1ef55246c719dc035dd2e621041cb6c`; execution id 0xe, walk 3, vertex `vertex`, iteration 0 → nonce `7dc2b7b7addb953fc231afd71d9444beca7b253f1e45481bc50d4ac6cd0e4c32`.",
    proven: { "wire/signature": 3 },
  },
  {
    id: "4.16",
    text: "Complete cases (schemas, body, hash, keys, headers, output bytes, signatures):",
    reason: "the heading of the next sentence",
  },
  { id: "4.17", text: "`test/vectors/signing.json`.", proven: { "vectors/vectors": 1 } },
  { id: "5.1", text: "| `X-Svc-Sig-V` | `3` |", proven: { "runtime/invoke-auth": 1 } },
  {
    id: "5.2",
    text: "| `X-Svc-Leader-Id` | bytes 0x21 to 0x7e after HTTP's trimming (anything else 401), looked up exactly; a listed leader_id outside that set never matches |",
    proven: { "runtime/allowed-leaders": 1, "runtime/invoke-auth": 3 },
  },
  {
    id: "5.3",
    text: "| `X-Svc-Leader-Key-Id` | u64 in decimal digits, ★ digits only (no sign), leading zeros allowed |",
    proven: { "runtime/invoke-auth": 2 },
  },
  { id: "5.4", text: "| `X-Svc-Input-Hash` | base64url of 32 bytes |", proven: { "runtime/invoke-auth": 1 } },
  { id: "5.5", text: "| `X-Svc-Leader-Signature` | base64url of 64 bytes |", proven: { "runtime/invoke-auth": 1 } },
  { id: "5.6", text: "| `X-Svc-Nonce` | base64url of 32 bytes |", proven: { "runtime/invoke-auth": 1 } },
  {
    id: "5.7",
    text: "base64url without padding, strictly decoded: no padding, no other alphabet, no stray bits, exact length.",
    proven: { "wire/signature": 1 },
  },
  { id: "5.8", text: "★ A header given twice is refused.", proven: { "runtime/invoke-auth": 1 } },
  {
    id: "5.9",
    text: "Every fault here is 401 `auth_failed`; ★ its `details` are fixed texts that name the header and the fault, never its value.",
    proven: { "runtime/invoke-auth": 1 },
  },
  { id: "5.10", text: "Body:", reason: "the heading of the next sentence" },
  {
    id: "5.11",
    text: '`{"ports":[{"port_name":NAME,"value":VALUE}, …]}`, exactly these members, each schema port exactly once, in any order.',
    proven: { "wire/envelope": 6 },
  },
  {
    id: "5.12",
    text: 'VALUE is `{"one":ITEM}` or `{"many":[ITEM,…]}`, matching the port.',
    proven: { "wire/envelope": 4 },
  },
  {
    id: "5.13",
    text: 'ITEM is exactly one of `{"kind":"data","data":JSON}`, `{"kind":"data","bytes":BASE64}` (standard alphabet, canonical padding) or `{"kind":"object","id":HEX}` (never conforms to a data port); `walrus` items are refused: inputs arrive resolved.',
    proven: { "wire/envelope": 9 },
  },
  {
    id: "5.14",
    text: "Of a member repeated in the envelope or in a `data` value, only the last one counts; superseded text must be readable by the rules of this section (numbers, UTF-8, nesting), but its shape is not checked.",
    proven: { "wire/envelope": 2, "wire/input": 1 },
  },
  {
    id: "5.15",
    text: "Envelope faults are 422 `input_deserialization_error`.",
    proven: { "runtime/invoke-envelope": 1 },
  },
  {
    id: "5.16",
    text: "The inline bytes of a `data` item are the compact canonical re-serialisation of its JSON text, as serde_json does it (insertion order kept): whitespace outside strings removed; object keys in textual order, a repeated key keeps its first position and takes its last value; strings escape only `\"`, `\\` and control characters (`\\b \\t \\n \\f \\r`, otherwise `\\u00xx` in lower case), `/`, 0x7f and non-ASCII stay raw; integers in u64/i64 range kept exactly; every other number is a double, read as serde_json reads by default and printed shortest-round-trip in serde's form.",
    proven: { "wire/json": 1 },
  },
  {
    id: "5.17",
    text: "Printing: with the n shortest digits D, value = D·10^k and kk = n + k: −5 < kk ≤ 16 prints decimal, always with a point (`1.0`, `100000.0`, `1000000000000000.0`, `0.00001`), else `d.ddde±x` with one digit before the point and no `.0` (`1e+16`, `1e-7`); JavaScript's own thresholds are others.",
    proven: { "wire/json": 4 },
  },
  {
    id: "5.18",
    text: "Before serde_json 1.0.147 a positive exponent had no `+`; nothing else differs.",
    proven: { "wire/json": 1 },
  },
  {
    id: "5.19",
    text: "Reading is not correctly rounded: integer digits go into a u64 significand; from the first that would overflow it, each adds 1 to the exponent instead.",
    proven: { "wire/json": 1 },
  },
  {
    id: "5.20",
    text: "Fraction digits are then each tried anew, also after an integer overflow: a digit taken subtracts 1 from the exponent, and the first that would overflow ends it, it and all later ones dropped.",
    proven: { "wire/json": 1 },
  },
  {
    id: "5.21",
    text: "The written exponent is added. f = double(significand); while |exponent| > 308: stop if f is 0, refuse if exponent > 0, else f /= 1e308 and exponent += 308; then f *= 10^exponent (infinity refused) or f /= 10^-exponent, where 10^n is the double nearest to it (a table of literals:",
    proven: { "wire/json": 3 },
  },
  { id: "5.22", text: "`10 ** n` is wrong for 36 of the 309).", proven: { "wire/json": 1 } },
  {
    id: "5.23",
    text: "Sign last; `-0` and integers outside u64/i64 go this way too (`18446744073709551616.5e-20` → `0.1844674407370955`).",
    proven: { "wire/json": 3 },
  },
  {
    id: "5.24",
    text: "Invalid UTF-8, lone surrogate escapes, a byte-order mark, trailing text, out-of-range numbers are refused before any comparison.",
    proven: { "runtime/invoke-envelope": 1, "wire/envelope": 4 },
  },
  { id: "5.25", text: "Vectors:", reason: "the heading of the next sentence" },
  { id: "5.26", text: "`test/vectors/json-canonical.json`.", proven: { "vectors/vectors": 1 } },
  {
    id: "5.27",
    text: "The inline bytes of a `bytes` item are exactly the decoded bytes (their formatting is part of the commitment); that they are not one JSON document is found when the input is decoded (step 6 below), like a type fault.",
    proven: { "runtime/invoke-envelope": 2 },
  },
  {
    id: "5.28",
    text: "A leader writes its body in canonical form already, so the text as sent (whitespace outside strings removed) is the canonical text.",
    proven: { "runtime/leader": 1 },
  },
  {
    id: "5.29",
    text: "★ Up to three hashes of the whole request are compared with the hash in the header, each with one form for all its `data` items: as sent; canonical; canonical with numbers printed as serde_json did before 1.0.147 (`1e16`).",
    proven: { "runtime/invoke-envelope": 2 },
  },
  {
    id: "5.30",
    text: "So leaders built with either version are served, and the common case only hashes slices.",
    proven: { "runtime/invoke-envelope": 1, "wire/json": 1 },
  },
  {
    id: "5.31",
    text: "If none is equal, the answer is 422 `input_integrity_error`. **The tool's input is decoded from the texts whose hash matched and from nothing else**, so that what is hashed and what is used cannot differ; a `number` is JavaScript's value of that text.",
    proven: { "runtime/invoke-envelope": 2, "wire/envelope": 1 },
  },
  {
    id: "5.32",
    text: "★ Decoding is one walk over contract and text: kinds, ranges, formats and constraints are checked where the value is made.",
    proven: { "types/judge": 1 },
  },
  {
    id: "5.32a",
    text: "A union takes only a branch that accepts the value with its constraints; of several such branches, the one that omits the fewest members, then the first.",
    proven: { "wire/constraints": 1 },
  },
  {
    id: "5.32b",
    text: "Patterns and formats are applied to texts of at most 65,536 characters; a longer text does not match.",
    proven: { "wire/constraints": 1 },
  },
  { id: "5.32c", text: "Items that must differ are compared as they are decoded.", proven: { "wire/constraints": 1 } },
  {
    id: "5.33",
    text: "A leader (our client) sends `data` only where the value's bytes equal their canonical form and are at most 61,440 bytes, else `bytes`.",
    proven: { "runtime/leader": 1 },
  },
  { id: "5.34", text: "Values: 64-bit integers must survive.", proven: { "runtime/invoke-values": 1 } },
  {
    id: "5.35",
    text: "An integer is a text of digits with an optional `-` within u64/i64; `-0`, `1.0`, `1e3` and digits beyond are doubles, in every form.",
    proven: { "runtime/invoke-envelope": 1, "wire/json": 1 },
  },
  {
    id: "5.36",
    text: "A `bigint` takes an integer from −2^63 to 2^64−1, narrowed by `@format int64` or `@format uint64` on the member (the schema's `format`); outside → 422 in, `output_serialization_error` out; an integer beyond ±(2^53−1) for a `number` is ★ refused (422) with its path, never rounded, also one of digits beyond u64/i64.",
    proven: { "generator/jsdoc": 1, "runtime/invoke-values": 5 },
  },
  { id: "6.1", text: "Plain JSON of the input type.", proven: { "runtime/invoke-values": 1 } },
  {
    id: "6.2",
    text: "Unknown members are ignored unless the type forbids them; a repeated declared member is 422.",
    proven: { "runtime/unsigned": 3, "wire/input": 1 },
  },
  {
    id: "6.2b",
    text: "★ A `many` takes 1 to 256 values here too, so that what works without signatures works with them.",
    proven: { "runtime/unsigned": 1 },
  },
  {
    id: "6.5",
    text: "★ A request with any header of section 5 is refused here: 422 `input_deserialization_error`, with details that say that this server takes unsigned calls (the Rust toolkit reads the envelope as the plain input, so a tool whose members are all optional runs without its input).",
    proven: { "runtime/unsigned": 2 },
  },
  {
    id: "6.4",
    text: '★ The result is JSON (the specification\'s "inline JSON by default") in the form `{"<tag>":{"<port>":value,…}}` as `application/json`, `many` as arrays, a variant without ports as `{"<tag>":{}}`, 64-bit integers as exact digits, absent optional ports as `null`, a stored value as the ITEM of its NexusData form (section 3), with `Vary: Accept`; unsigned mode only; OpenAPI publishes this form.',
    proven: { "runtime/unsigned": 6 },
  },
  {
    id: "6.3",
    text: "It is the BCS of a signed result instead when `Accept` names the result content type with at least the quality of JSON, or when the server is set to BCS for unsigned calls (`SVC_UNSIGNED_RESULTS=bcs`, for leaders that call without signatures: the Rust toolkit always answers so, and the recordings were made so).",
    proven: { "runtime/invoke-values": 1, "runtime/unsigned": 2 },
  },
  {
    id: "7.1",
    text: "★ This order (the specification's up to `authorize`, which needs the instance; Rust checks replay before it reads the body, caches the body's 422s and decodes the input before it constructs): 1.",
    proven: { "runtime/invoke-auth": 2, "runtime/invoke-faults": 1, "runtime/replay-http": 2 },
  },
  {
    id: "7.2",
    text: "`Content-Length` present (411; also for chunked bodies) and within the limit (413); `Content-Encoding` absent or `identity` (415).",
    proven: { "runtime/serve": 5 },
  },
  { id: "7.3", text: "`Content-Type` is ignored. 2.", proven: { "runtime/serve": 1 } },
  { id: "7.4", text: "Signed mode: headers, leader look-up, signature (401).", proven: { "runtime/invoke-auth": 3 } },
  {
    id: "7.5",
    text: "Steps 1 and 2 are complete before a byte of the body is kept; `Expect: 100-continue` is answered with 100 only after them, any other expectation with 417. 3.",
    proven: { "runtime/invoke-auth": 5 },
  },
  {
    id: "7.6",
    text: "Signed mode: envelope, budget, input hash rebuilt and compared (422). 4.",
    proven: { "runtime/invoke-envelope": 3 },
  },
  { id: "7.7", text: "Signed mode: replay check (section 8). 5.", proven: { "runtime/replay-http": 1 } },
  {
    id: "7.8",
    text: "A tool instance is constructed (one for each invocation and each health check); signed mode:",
    proven: { "runtime/invoke-faults": 1, "runtime/meta": 1 },
  },
  { id: "7.9", text: "`authorize(ctx)`. 6.", proven: { "runtime/invoke-auth": 1, "runtime/invoke-faults": 1 } },
  {
    id: "7.10",
    text: "Input decoded and validated (422 with the path of the failing member); `invoke`; `encodeOutput`; result checked against the ports; BCS; signature.",
    proven: { "runtime/invoke-auth": 1, "runtime/invoke-results": 1, "runtime/invoke-values": 1 },
  },
  { id: "7.11", text: "`AuthContext`:", reason: "the heading of the next sentence" },
  {
    id: "7.12",
    text: "`leaderId: string`, `leaderKeyId: bigint`, `inputHash` (32 bytes), `leaderSignature` (64), `nonce` (32).",
    proven: { "runtime/invoke-auth": 1 },
  },
  {
    id: "7.13",
    text: "The result is the tag and the ports **in schema order**, whatever order the tool's object had.",
    proven: { "runtime/invoke-values": 1, "wire/codec": 1 },
  },
  {
    id: "7.14",
    text: "`encodeOutput` may build explicit ports with `OffchainToolOutput.fromPorts(tag, [[name, NexusData], …])`; the runtime checks names, order, cardinality, kinds and sizes, ★ and inline values by the port's type, so that nothing is signed that the metadata do not say.",
    proven: { "runtime/invoke-results": 8 },
  },
  {
    id: "7.15",
    text: "Response to a success: 200, result content type, BCS body; with a `response_signing_key` the two headers `X-Svc-Sig-V: 3` and `X-Svc-Tool-Signature` and no other signing header.",
    proven: { "runtime/invoke-auth": 2 },
  },
  {
    id: "7.16",
    text: 'Errors are JSON `{"error": code, "details"?: text}` and never signed.',
    proven: { "runtime/invoke-envelope": 1, "runtime/replay-http": 1 },
  },
  {
    id: "7.17",
    text: "| 400 | `bad_request` | a request that the HTTP parser refuses (also length with chunked), no `Host`, two `Host`s, unknown methods | – |",
    proven: { "runtime/serve": 1 },
  },
  {
    id: "7.18",
    text: "| 400 | `host_header_required`, `invalid_scheme` | `/meta`: host missing or malformed (`Host` or `X-Forwarded-Host`); forwarded scheme not http or https | fixed |",
    proven: { "runtime/meta": 3 },
  },
  {
    id: "7.19",
    text: "| 401 | `auth_failed` | any header or signature fault | fixed; they name the header |",
    proven: { "runtime/invoke-auth": 2 },
  },
  {
    id: "7.20",
    text: "| 403 | `permission_denied` | `authorize` threw the exported `PermissionDenied` | that error's own message |",
    proven: { "runtime/invoke-faults": 1 },
  },
  {
    id: "7.35",
    text: "| 403 | `permission_denied` | ★ unsigned mode: an `Origin` that is not allowed by name (a web page's; none is by default), or without one a `Sec-Fetch-Site` other than `none`; before a byte of body is kept | fixed |",
    proven: { "runtime/browser-requests": 3 },
  },
  {
    id: "7.21",
    text: "| 404, 405 | `not_found`, `method_not_allowed` (with `Allow`) | routing | – |",
    proven: { "runtime/serve": 2 },
  },
  {
    id: "7.22",
    text: "| 408, 411, 413, 415, 417, 431 | `request_timeout`, `length_required`, `payload_too_large`, `unsupported_content_encoding`, `expectation_failed`, `headers_too_large` | section 1, steps 1 to 3 | the limit |",
    proven: { "runtime/invoke-auth": 1, "runtime/serve": 5 },
  },
  { id: "7.23", text: "| 409 | `request_in_flight` | section 8 | fixed |", proven: { "runtime/replay-http": 1 } },
  {
    id: "7.24",
    text: "| 422 | `input_integrity_error` | the hash of no form matches | fixed |",
    proven: { "runtime/invoke-envelope": 1 },
  },
  {
    id: "7.25",
    text: "| 422 | `input_deserialization_error` | envelope, JSON or type fault | path (`tags[1]`, `deep.at`), expected, got (kinds, not values) |",
    proven: { "runtime/invoke-envelope": 2, "runtime/invoke-values": 1, "wire/envelope": 1 },
  },
  {
    id: "7.43",
    text: "| 422 | `input_deserialization_error` | ★ `invoke` threw the exported `InvalidInput`, which it may do before it has any effect | path and text of that error, `pair: expected BASE-QUOTE` |",
    proven: { "runtime/invoke-faults": 1, "runtime/modes": 1 },
  },
  { id: "7.26", text: "| 429 | `rate_limited` | only when configured | – |", proven: { "runtime/load": 2 } },
  {
    id: "7.27",
    text: "| 500 | `tool_invocation_failed` | anything thrown by the tool's own code: construction, `authorize` and `invoke` (other than their refusals) | none |",
    proven: { "runtime/invoke-faults": 1 },
  },
  {
    id: "7.28",
    text: "| 500 | `internal_error` | a fault of the server that no other row names | none |",
    proven: { "runtime/meta": 1 },
  },
  {
    id: "7.29",
    text: "| 500 | `output_serialization_error` | the output cannot be encoded or does not conform, or `encodeOutput` threw | port and reason when the runtime found it; nothing that custom code threw |",
    proven: { "runtime/invoke-faults": 3 },
  },
  {
    id: "7.42",
    text: "| 409 | ★ `replay_memory_lost` | section 8: a repeat whose first attempt another memory may have taken; nothing ran now | fixed |",
    proven: { "runtime/replay-memory-name": 1 },
  },
  {
    id: "7.30",
    text: "| 503 | `replay_store_full`, ★ `replay_store_unavailable`, `overloaded`, `shutting_down` | with `Retry-After`; never cached; nothing ran | – |",
    proven: { "runtime/invoke-shutdown": 1, "runtime/load": 1, "runtime/replay-http": 2, "runtime/shutdown": 1 },
  },
  {
    id: "7.41",
    text: "| 503 | ★ `tool_invocation_interrupted` | shutdown ended a run that had started; it may have had effects; not cached | – |",
    proven: { "runtime/invoke-shutdown": 1, "runtime/isolate": 1, "runtime/shutdown": 1 },
  },
  {
    id: "7.31",
    text: "| 504 | `tool_invocation_timeout` | the deadline passed | none |",
    proven: { "runtime/invoke-faults": 1 },
  },
  {
    id: "7.32",
    text: "A 500 never carries thrown text, a stack or a path; the log does.",
    proven: { "runtime/invoke-faults": 2, "runtime/meta": 1 },
  },
  { id: "7.33", text: "Recorded requests:", reason: "the heading of the next sentence" },
  { id: "7.34", text: "`test/vectors/http.json`.", proven: { "vectors/vectors": 1 } },
  {
    id: "8.1",
    text: "Memory of the process, per tool, keyed by (nonce, input hash); an entry also knows its leader id and key id.",
    proven: { "runtime/replay-http": 3 },
  },
  {
    id: "8.2",
    text: "Look-up of (nonce, hash): complete → the cached answer; in flight → 409.",
    proven: { "runtime/replay-http": 2 },
  },
  {
    id: "8.3",
    text: "Otherwise, when another entry of that nonce is in flight → 409.",
    proven: { "runtime/replay-http": 1 },
  },
  { id: "8.4", text: "Otherwise it runs.", proven: { "runtime/replay-http": 1 } },
  {
    id: "8.5",
    text: "★ Entries of one nonce with different hashes exist at the same time, each until its own TTL.",
    proven: { "runtime/replay": 1 },
  },
  {
    id: "8.6",
    text: "A run completes its entry however it ends: success, 403, 422 of step 6, 500, 504.",
    proven: { "runtime/replay-http": 2 },
  },
  {
    id: "8.7",
    text: "An exact retry within the TTL gets the same status and body without running the tool; a success is signed again over the retry's own leader signature, the nonce and the cached body, with the key then current (none: unsigned).",
    proven: { "runtime/replay-http": 2 },
  },
  {
    id: "8.8",
    text: "★ A retry of a completed entry by another leader or key first passes `authorize` on a new instance, under the deadline (its refusal or fault is answered and not cached), and then gets the cached answer; a cached 403 is never given to another leader or key: that request runs, and its end replaces the entry.",
    proven: { "runtime/replay-http": 4 },
  },
  {
    id: "8.9",
    text: "Refusals with 401, for envelope faults and with `input_integrity_error` are never stored (they come before the check).",
    proven: { "runtime/replay-http": 1 },
  },
  {
    id: "8.10",
    text: "★ A caller that disconnects does not release its entry, and in signed mode the tool gets no signal: the run continues and its end completes the entry, so that the retry gets the result and no tool runs twice. (In unsigned mode the `AbortSignal` fires with reason `disconnect`.)",
    proven: { "runtime/replay-http": 1, "runtime/unsigned": 1 },
  },
  {
    id: "8.11",
    text: "At the deadline the entry completes at once with 504 (a retry gets that 504, never a second run); ★ the signal fires with reason `timeout`, the late result is discarded and counted, and the TTL counts from when the tool settles.",
    proven: { "runtime/admin": 2, "runtime/invoke-faults": 1, "runtime/replay-http": 1 },
  },
  {
    id: "8.12",
    text: "Otherwise it counts from completion; at age = TTL the entry is gone.",
    proven: { "runtime/replay-http": 1 },
  },
  { id: "8.13", text: "Time is monotonic.", proven: { "requirements/section-8": 1 } },
  {
    id: "8.14",
    text: "★ At shutdown the signal fires with reason `shutdown` after the drain limit; a run that then ends in a throw is answered 503 `tool_invocation_interrupted` and not cached: its entry becomes a mark, which lasts one TTL or until the pair has run again.",
    proven: { "runtime/invoke-shutdown": 1, "runtime/shutdown": 1 },
  },
  {
    id: "8.20",
    text: "★ A run that has not ended 2 s later is answered in the same way; its entry stays in flight.",
    proven: { "runtime/shutdown": 2 },
  },
  {
    id: "8.31",
    text: "★ A memory has a name, 16 random bytes in base64url, made when it begins (with a shared store: when its data begin, or are found lost).",
    proven: { "runtime/replay-memory-name": 2, "e2e/redis/store-contract": 1 },
  },
  {
    id: "8.32",
    text: "In signed mode every answer carries it as `X-Svc-Replay-Memory`.",
    proven: { "runtime/replay-memory-name": 1 },
  },
  {
    id: "8.33",
    text: "A caller that repeats a request sends, in the same header, the name that it knew when it first sent the request and the milliseconds since then, as `NAME;age=MS`; no signature covers this header.",
    proven: { "runtime/replay-memory-name": 1 },
  },
  {
    id: "8.34",
    text: "Where the pair (nonce, hash) is unknown, and the name is not this memory's or the age is not below the shortest TTL in force in that time: 409 `replay_memory_lost`, nothing runs, nothing is stored.",
    proven: { "runtime/replay-memory-name": 5, "e2e/redis/store-contract": 1 },
  },
  {
    id: "8.38",
    text: "The same holds for a repeat whose pair has a mark, or has the 403 of another caller, which may have replaced a mark.",
    proven: { "runtime/invoke-shutdown": 1, "runtime/leader-ran": 1, "e2e/redis/redis-store": 1 },
  },
  {
    id: "8.39",
    text: "★ A caller that knows a name sends it with the first attempt too, with age 0: of several memories behind one address only the named one runs the request, and a repeat cannot run at a memory that did not see the first attempt.",
    proven: { "runtime/leader-life": 1 },
  },
  {
    id: "8.35",
    text: "So a repeat never runs twice, even after a crash, a shutdown, after the TTL, or at another process behind one address.",
    proven: { "runtime/replay": 1, "runtime/replay-memory-name": 2, "e2e/redis/redis-store": 1 },
  },
  {
    id: "8.36",
    text: "A value of another form counts as another memory's name.",
    proven: { "runtime/replay-memory-name": 1 },
  },
  {
    id: "8.37",
    text: "Without the header (leaders of today): as above, and a pair with a mark runs.",
    proven: { "runtime/replay-memory-name": 1, "runtime/invoke-shutdown": 1 },
  },
  {
    id: "8.15",
    text: "★ The store is bounded in bytes for the whole process (entries and cached bodies accounted; by default what a container's limit leaves, at most 512 MiB; start-up logs the rate that this sustains over the TTL).",
    proven: { "runtime/replay": 2, "runtime/replay-http": 1 },
  },
  {
    id: "8.16",
    text: "When full of live entries a new invocation gets 503 `replay_store_full`: an unexpired entry is never evicted.",
    proven: { "runtime/replay-http": 1 },
  },
  {
    id: "8.30",
    text: "★ One of several listed leaders may use at most as much of the store as remains for all others, in bytes of its runs and unexpired entries: beyond that its new invocations get 503 `replay_store_full`, and those of other leaders run.",
    proven: { "runtime/replay": 3, "runtime/replay-http": 1 },
  },
  {
    id: "8.17",
    text: "Expiry costs nothing per request (the Rust system scans every live entry on each request, and is unbounded).",
    proven: { "runtime/replay-cost": 1 },
  },
  { id: "8.18", text: "The store is an interface; memory is the default.", proven: { "runtime/replay-http": 2 } },
  {
    id: "8.19",
    text: "For several processes the same states live in an external store shared by all replicas, injected in code or named by the environment (the config file has no field for it): an in-flight entry there has a lease of the timeout plus 30 s, renewed by its owner; after a lapsed lease the pair is answered with 409 until its TTL, then runs.",
    proven: { "e2e/redis/store-contract": 1 },
    needs: "redis-server",
  },
  {
    id: "8.22",
    text: "★ In a shared store: a claim that cannot be made, or whose answer does not come, is 503 `replay_store_unavailable`, and nothing runs; the result of a run that was claimed is always delivered.",
    proven: { "runtime/replay-http": 3 },
  },
  {
    id: "8.23",
    text: "Time is the store's; the TTL is the one in force at completion; while a lapsed or lost claim of a nonce lasts, other hashes of that nonce are answered with 409 too.",
    proven: { "e2e/redis/store-contract": 1 },
    needs: "redis-server",
  },
  {
    id: "8.24",
    text: "After the store has lost data or changed its instance, new runs are 503 for a grace period in which processes report their runs and recent ends again.",
    proven: { "e2e/redis/store-contract": 1 },
    needs: "redis-server",
  },
  {
    id: "8.25",
    text: "A result found there is signed anew only if the tool's own signature kept with it verifies.",
    proven: { "runtime/replay-http": 1 },
  },
  {
    id: "8.26",
    text: "Guaranteed: at most one run within lease plus TTL as long as the store keeps what it acknowledged, or loses it while the claiming process lives; not across split brain, a pause beyond lease plus TTL, or loss together with the process.",
    proven: { "e2e/redis/store-contract": 1 },
    needs: "redis-server",
  },
  {
    id: "9.1",
    text: "A tool with path `a/b` serves `/a/b/health`, `/a/b/meta`, `/a/b/invoke` (empty segments dropped; the default path is the root).",
    proven: { "requirements/section-9": 1, "runtime/meta": 1, "runtime/serve": 1 },
  },
  {
    id: "9.2",
    text: "★ Paths match exactly, byte for byte, after the query is cut: no decoding, no trailing slash, case-sensitive; HEAD is answered on health only; two tools on one path or with one FQN are a start-up error.",
    proven: { "runtime/bootstrap": 2, "runtime/meta": 1, "runtime/serve": 8 },
  },
  {
    id: "9.3",
    text: "`GET /health` answers the status from the tool's `health()` (★ 200 where the class has none) with an empty body, 500 if it or `new` throws, ★ 503 past the tool's timeout; ★ a tool has one check at a time, and requests that arrive during a check get its status.",
    proven: { "runtime/meta": 4 },
  },
  { id: "9.4", text: "When no tool is at the root, `/health` answers 200.", proven: { "runtime/meta": 1 } },
  { id: "9.5", text: "`GET /tools` lists the tools' `path()` texts as a JSON array.", proven: { "runtime/meta": 1 } },
  { id: "9.6", text: "`GET /meta`:", reason: "the heading of the next sentence" },
  {
    id: "9.7",
    text: '`{"fqn","url","timeout","description","input_schema","output_schema"}` in this order; `timeout` in milliseconds; `url` = scheme `X-Forwarded-Proto` (only `http`/`https`, default `http`, ★ `https` when this process terminates TLS), host `X-Forwarded-Host` else `Host` (a name, IPv4 or bracketed IPv6 address, with an optional port; a list, spaces or user information are malformed), path without `meta` (ends in `/`).',
    proven: { "runtime/meta": 4, "runtime/tls": 1 },
  },
  {
    id: "9.8",
    text: "`--meta` prints a pretty JSON array (two spaces, final newline), one document a tool, and exits 0 without listening, without reading configuration; its `url` is `http://localhost/` for an empty path, else `http://localhost` + the path with a leading `/` added if missing and nothing else changed.",
    proven: { "runtime/bootstrap": 2 },
  },
  {
    id: "9.9",
    text: "`meta.json` holds exactly what `--meta` prints; svc-gen writes it without running the tool, and diagnoses a tool that overrides `meta` or whose static facts cannot be evaluated.",
    proven: { "generator/classes": 1, "generator/generated": 1, "requirements/emitted": 2 },
  },
  {
    id: "9.10",
    text: "Address: the `bootstrap` argument, else the environment's `BIND_ADDR` (an IP literal and port, `127.0.0.1:8080` or `[::1]:8080`; anything else is a start-up error), else `127.0.0.1:8080`.",
    proven: { "runtime/bootstrap": 5 },
  },
  {
    id: "9.11",
    text: "★ A server that requires no signatures starts on a loopback address only, unless that is allowed explicitly (the mode `disabled` in the configuration, `SVC_ALLOW_UNSIGNED=1`, `allowUnsigned` in code).",
    proven: { "runtime/unsigned-start": 1 },
  },
  {
    id: "9.12",
    text: "★ Without a configuration, a variable that can only be a misspelling of `SVC_TOOLKIT_CONFIG_PATH` is a start-up error on every address.",
    proven: { "runtime/unsigned-start": 1 },
  },
  { id: "10.1", text: "As in the specification:", reason: "the heading of the next sentence" },
  {
    id: "10.2",
    text: "`SVC_TOOLKIT_CONFIG_PATH` (set but empty is an error); one strict JSON object: unknown or repeated members fail (★ a repeated tool id too).",
    proven: { "runtime/config": 4 },
  },
  {
    id: "10.3",
    text: "`null` means absent for `invoke_max_body_bytes`, `signed_http`, the two allow-list members, `response_signing_key` and `replay_cache_ttl_ms`; elsewhere it fails. u64 values are exact (`invokeMaxBodyBytes()` is a bigint); integers only (`1024.0` fails).",
    proven: { "runtime/config": 2 },
  },
  { id: "10.4", text: "Verdicts:", reason: "the heading of the next sentence" },
  { id: "10.5", text: "`test/vectors/config.json`.", proven: { "vectors/vectors": 1 } },
  { id: "10.6", text: "Allowed leaders:", reason: "the heading of the next sentence" },
  {
    id: "10.7",
    text: '`{"version":1,"leaders":[{"leader_id":TEXT,"keys":[{"kid":u64,"public_key":HEX}]}]}`; exactly 32 bytes of hex, any case, `0x` (not `0X`) allowed, no whitespace; a repeated (leader_id, kid) fails.',
    proven: { "runtime/allowed-leaders": 4, "runtime/keys": 4 },
  },
  {
    id: "10.8",
    text: "★ A key that the strict verification could never accept (not a curve point, non-canonical, small order) fails at load.",
    proven: { "runtime/allowed-leaders": 3 },
  },
  {
    id: "10.9",
    text: "`response_signing_key`: surrounding ASCII whitespace trimmed; 64 or 66 hex digits, with or without `0x`; ★ anything else, even when it begins with `0x`, is base64 or base64url (not mixed), with or without padding, no stray bits; 32 bytes, or 33 with a leading zero flag.",
    proven: { "runtime/keys": 8 },
  },
  {
    id: "10.10",
    text: "With signed mode required, a served tool without an entry in `tools` is a start-up error; tool ids need not be FQNs of served tools.",
    proven: { "runtime/bootstrap": 1, "runtime/config": 1 },
  },
  {
    id: "10.11",
    text: "With `mode: disabled`, members must still be known, present and of the right type (text, u64, array, object; `version` 0 to 255), but values (keys, versions, TTL, files) are not checked, and `hasTool` is false.",
    proven: { "runtime/config": 2 },
  },
  {
    id: "10.12",
    text: "A missing or invalid allow-list file is a start-up error; with both sources given the path is never opened.",
    proven: { "runtime/allowed-leaders": 2, "runtime/config": 1 },
  },
  {
    id: "10.13",
    text: "The config file is watched (atomic replacement and symlink swaps included); an invalid or unreadable new version leaves the old one in force and is logged.",
    proven: { "runtime/reload": 1, "runtime/watch": 2 },
  },
  {
    id: "10.14",
    text: "★ A reload may change leaders, keys and TTLs only: a version that changes the mode, or drops a served tool, is refused whole (the specification fixes the mode at configuration time); a changed `invoke_max_body_bytes` is logged as requiring a restart.",
    proven: { "runtime/reload": 3 },
  },
  {
    id: "10.15",
    text: "★ An allow-list given by path is followed as the configuration file is, and read beside the calls: a new version is in force within two seconds of its last write, also under load, and later by the time that checking tens of thousands of new keys takes (the Rust system reads it at the next look-up, while every call waits); until then the previous list is in force; if the new version is unreadable or invalid, the previous list stays in force and the fault is logged.",
    proven: { "runtime/allowed-leaders": 2 },
  },
  { id: "10.16", text: "TLS:", reason: "the heading of the next sentence" },
  {
    id: "10.17",
    text: "`SVC_TOOL_TLS_CERT_PATH` and `SVC_TOOL_TLS_KEY_PATH` both set and non-empty, or both absent; anything else, or unreadable, empty, encrypted or mismatched files, is a start-up error before the port is bound.",
    proven: { "runtime/tls": 8 },
  },
  { id: "11.1", text: "No events are emitted beyond logs.", reason: "says what there is not" },
  { id: "11.2", text: "Endpoints and the metadata document are not versioned.", proven: { "runtime/meta": 1 } },
  {
    id: "11.3",
    text: "There is no abort mode: an exception outside a call is logged and does not end the process.",
    proven: { "runtime/bootstrap": 1 },
  },
  {
    id: "11.4",
    text: "TLS uses Node's own OpenSSL, the only provider.",
    reason: "node:tls is the only TLS that test/boundaries.test.ts lets the server import",
  },
  {
    id: "11.5",
    text: "Evidence of the registered-key kind needs a `response_signing_key`: a tool served in signed mode without one is reported once in the log at start.",
    proven: { "runtime/invoke-auth": 1 },
  },
  {
    id: "11.6",
    text: "Receivers must be upgraded before senders use `bytes`: the operators' documentation says so.",
    proven: { "requirements/section-11": 1 },
  },
  {
    id: "11.7",
    text: "`WithSerdeErrorPath` has its counterpart: a wrapper with one public field `value` and the pair `fromJson(codec, bytes)` / `toJson(codec)` over a generated codec, whose errors carry the member's path both ways.",
    proven: { "requirements/section-11": 2 },
  },
];
