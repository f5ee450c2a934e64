// biome-ignore-all lint/suspicious/noTemplateCurlyInString: titles of tests as they stand in their files
/** Every sentence of docs/protocol.md with its proof. Checked by requirements.test.ts; CONTRIBUTING.md says how to add one. */

/** What is built later, and the sentences that wait for it. */
export const CAPABILITIES = {
  "shared replay": "a replay store shared by several processes",
} as const;

/** Proofs, the capability that proves it later, or both when it has several rules; or else the reason for neither. */
export interface Requirement {
  /** Section and place in it. */
  readonly id: string;
  /** The sentence as it stands in docs/protocol.md, line breaks as spaces. */
  readonly text: string;
  /**
   * `file › text`, one for each rule of the sentence: a test that fails when the rule is not kept, by words of its title
   * or by its line in a table of cases, which stand in the file exactly once.
   */
  readonly proofs?: readonly string[];
  /** The later capability that proves it, or those of its rules that have no proof here. */
  readonly owner?: keyof typeof CAPABILITIES;
  /** Why there is nothing to prove: a definition, a remark, a heading. */
  readonly reason?: string;
}

export const REQUIREMENTS: readonly Requirement[] = [
  { id: "0.1", text: "Normative.", reason: "what kind of text this is" },
  {
    id: "0.2",
    text: 'It joins the specification with the answers that the specification leaves open ("not shown"); those answers are the deployed protocol\'s (nexus-toolkit / nexus-sdk 2.1.1, the Rust system that the specification describes), recorded by running it.',
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
    proofs: [
      "test/runtime/invoke-auth.test.ts › exactly one prefix is read and written",
      "test/runtime/invoke-auth.test.ts › a prefix that can begin no header name is refused at start-up",
      "test/requirements/section-1.test.ts › changes the names of the headers and nothing else",
      "test/runtime/bootstrap.test.ts › 'bootstrap(One, { headerPrefix: \"X-Nexus-\" })', 1",
      "test/runtime/leader.test.ts › the header prefix of older leaders",
    ],
  },
  {
    id: "1.2",
    text: "| signature version | `3` |",
    proofs: [
      "test/wire/signature.test.ts › signature version and the tool's message",
      'test/runtime/invoke-auth.test.ts › v3: "v3" },',
    ],
  },
  {
    id: "1.3",
    text: "| domain strings (ASCII, no terminator) | `nexus.direct.v3.resolved-input`, `nexus.direct.v3.raw-output`, `nexus.direct.v3.tool-response`, `nexus.direct.v3.invocation-nonce` |",
    proofs: [
      "test/wire/signature.test.ts › signature version and the tool's message",
      'test/wire/signature.test.ts › it("input hash", ',
      "test/wire/signature.test.ts › result and output hash",
      'test/wire/signature.test.ts › it("invocation nonce"',
    ],
  },
  {
    id: "1.4",
    text: "| result content type | `application/vnd.nexus.canonical-tool-response+bcs` |",
    proofs: [
      'test/vectors/vectors.test.ts › "http.json": 119',
      "test/runtime/invoke-values.test.ts › is read exactly and given back",
      "test/runtime/unsigned.test.ts › without Accept it is BCS",
    ],
  },
  {
    id: "1.5",
    text: "| error content type | `application/json`, without parameters |",
    proofs: ["test/runtime/serve.test.ts › it(`404 for ", 'test/vectors/vectors.test.ts › "http.json": 119'],
  },
  {
    id: "1.6",
    text: "| input ports | at most 32 |",
    proofs: ['test/wire/ports.test.ts › ["32 input ports"', "test/generator/contract.test.ts › SVC151 Input.p32"],
  },
  {
    id: "1.7",
    text: "| output variants; ports of one variant | 1 to 8; at most 16 |",
    proofs: [
      'test/wire/ports.test.ts › "8 variants"',
      'test/wire/ports.test.ts › "16 ports of a variant"',
      'test/wire/ports.test.ts › ["none", output()]',
      "test/generator/contract.test.ts › SVC166 Output.v8",
      "test/generator/contract.test.ts › SVC167 Output.ok.p16",
    ],
  },
  {
    id: "1.8",
    text: "| port and variant names | 1 to 128 ASCII bytes (control characters allowed by the protocol) |",
    proofs: [
      "test/wire/ports.test.ts › have names of 1 to 128 ASCII bytes",
      'test/wire/ports.test.ts › "128 bytes in a port name"',
      'test/wire/ports.test.ts › "128 bytes in a variant name"',
      "test/generator/contract.test.ts › SVC152 Output.ok.ü",
      'test/generator/contract.test.ts › "a\\\\n": 1',
    ],
  },
  {
    id: "1.9",
    text: "| BCS of the whole port schema | at most 65,536 bytes (the other limits keep it below) |",
    proofs: ["test/wire/ports.test.ts › fit the limit of the whole schema when every other limit is used up"],
  },
  {
    id: "1.10",
    text: "| values in a `many` | 1 to 256 |",
    proofs: [
      "test/runtime/invoke-envelope.test.ts › no value, 256 and 257 of a many port",
      'test/runtime/invoke-results.test.ts › "1 to 256 values of a many port"',
      "test/wire/data.test.ts › has limits, one inside and one over",
    ],
  },
  {
    id: "1.11",
    text: "| one inline value in NexusData and in an output | at most 61,440 bytes; BCS(NexusData) of one port, its variant byte counted, at most 65,536. An input item has no such limit |",
    proofs: [
      'test/runtime/invoke-results.test.ts › "61,440 bytes of one inline value"',
      "test/runtime/invoke-results.test.ts › 65,536 bytes of BCS(NexusData) of one port, its variant byte counted",
      "test/wire/data.test.ts › has limits, one inside and one over",
      'test/runtime/invoke-envelope.test.ts › "one data item"',
    ],
  },
  {
    id: "1.12",
    text: "| BCS of a whole result | at most 262,144 bytes |",
    proofs: ["test/runtime/invoke-results.test.ts › 262,144 bytes of BCS of the whole result"],
  },
  {
    id: "1.13",
    text: "| resolved input budget | 8 MiB over all ports and values of a signed call: inline bytes, every item of a `many`, 32 bytes an object id; a `data` item counts as its text without whitespace, a `bytes` item as its decoded bytes; over it 422 `input_deserialization_error`, before the hash is compared. Unsigned calls have only the body limit |",
    proofs: [
      'test/runtime/invoke-envelope.test.ts › "one data item"',
      'test/runtime/invoke-envelope.test.ts › "bytes, as decoded"',
      'test/runtime/invoke-envelope.test.ts › "every item of a many"',
      'test/runtime/invoke-envelope.test.ts › "over all ports"',
      'test/runtime/invoke-envelope.test.ts › "without white space"',
      'test/runtime/invoke-envelope.test.ts › "before the hash is compared"',
      "test/runtime/invoke-envelope.test.ts › unsigned calls have the body limit only",
      "test/runtime/storage.test.ts › 8 MiB over all ports: at and one over; objects count 32",
    ],
  },
  {
    id: "1.14",
    text: "| resolved output budget | 8 MiB, independent; ★ inline bytes plus the known sizes of stored blobs over it → 500 `output_serialization_error` |",
    proofs: [
      "test/runtime/invoke-results.test.ts › 8 MiB of inline bytes and known sizes of stored blobs",
      "test/requirements/section-1.test.ts › of input and output are independent: both full in one call",
      "test/runtime/storage.test.ts › the output budget of a result counts stored blobs: 8 MiB at, one over",
    ],
  },
  {
    id: "1.15",
    text: "| `/invoke` body | 12 MiB (12,582,912) by default, configurable, never raises the budgets |",
    proofs: [
      "test/runtime/serve.test.ts › 413 over 12 MiB by default",
      "test/runtime/serve.test.ts › 413 over a configured limit, exactly at it the body is read",
      "test/requirements/section-1.test.ts › are not raised by a larger limit of the body",
    ],
  },
  {
    id: "1.16",
    text: "| tool timeout | 10 s by default: construction, authorize, input decoding, invoke, output encoding together; an integer 1 … 2,147,483,647 ms, else a start-up error |",
    proofs: [
      'test/requirements/section-1.test.ts › "is 10 s by default"',
      "test/requirements/section-1.test.ts › counts the decoding of the input",
      'test/runtime/invoke-faults.test.ts › "all of them together"',
      'test/runtime/invoke-faults.test.ts › "encodeOutput that never settles"',
      "test/runtime/bootstrap.test.ts › a timeout of ${typeof timeout}",
      "test/runtime/bootstrap.test.ts › the least and the largest timeout are none",
    ],
  },
  {
    id: "1.17",
    text: "| replay TTL | 300,000 ms by default |",
    proofs: ["test/runtime/config.test.ts › a tool's key and lifetime"],
  },
  {
    id: "1.18",
    text: "| TLS | handshake 10 s; TLS 1.2 or later; ★ ALPN `http/1.1` only (HTTP/2 off: no leader needs it, and its flood attacks then cannot apply) |",
    proofs: [
      "test/runtime/tls.test.ts › are cut after ten seconds, said nothing or half",
      "test/runtime/tls.test.ts › it(`${version} is refused`",
      "test/runtime/tls.test.ts › http/1.1 by ALPN, never h2",
    ],
  },
  {
    id: "1.19",
    text: "| JSON nesting | 127 levels are accepted, 128 refused, counted over the whole body; the decoded text of a `bytes` item counts anew |",
    proofs: [
      "test/wire/json.test.ts › is 127 levels, not 128, of arrays and of objects",
      "test/runtime/invoke-envelope.test.ts › 122 in an untyped port of a signed body",
      "test/runtime/invoke-envelope.test.ts › 127 in bytes: the decoded text counts anew",
      "test/runtime/invoke-envelope.test.ts › 126 in a member of an unsigned body",
    ],
  },
  {
    id: "1.20",
    text: "| request | ★ headers received within 10 s, the whole request within 30 s, a body never below 16,384 bytes/s for 5 s (408), at most 64 headers |",
    proofs: [
      'test/runtime/serve.test.ts › headers within 10 s, the whole request within 30 s"',
      "test/runtime/serve.test.ts › 408 for headers that stay out, and for a body that does",
      "test/runtime/request-body.test.ts › a drip below the rate: 408",
      "test/runtime/request-body.test.ts › ends one that comes at a little less, once",
      "test/runtime/request-body.test.ts › 5 s at 16,384 bytes/s by default",
      "test/runtime/serve.test.ts › 64 headers are accepted, 65, 66 and 1,100 are 431",
    ],
  },
  { id: "1.21", text: "Tool FQN:", reason: "the heading of the next sentence" },
  {
    id: "1.22",
    text: "`domain.name@version`, at least three dot-separated parts, each `[a-z][a-z0-9_-]+` (two characters or more); version decimal, 1 to 4,294,967,295, leading zeros allowed; its text everywhere (metadata, look-up, duplicates) has the version in shortest form (`test/vectors/fqn.json`).",
    proofs: [
      'test/vectors/vectors.test.ts › "fqn.json": 20',
      "test/runtime/fqn.test.ts › gives name, version and the text with the shortest version",
      "test/runtime/fqn.test.ts › takes versions from 1 to 4,294,967,295",
      "test/runtime/fqn.test.ts › gives the recorded verdicts",
      "test/runtime/meta.test.ts › its version is in shortest form",
      'test/runtime/bootstrap.test.ts › "two spellings of one name"',
      'test/runtime/bootstrap.test.ts › "an entry under another spelling"',
    ],
  },
  {
    id: "1.23",
    text: "`description()` blank or only whitespace: refused by svc-gen and ★ at start-up.",
    proofs: [
      "test/runtime/bootstrap.test.ts › a description of ${JSON",
      "test/generator/classes.test.ts › SVC115 src/d.ts",
    ],
  },
  {
    id: "2.1",
    text: "The input ports of a tool are the properties of its input schema **in the order in which they are declared** (the textual order of the JSON), the outputs of a variant likewise; a repeated property keeps its first place and its last value; `type` and `required` of the containing object are not looked at; an input schema without `properties` is refused.",
    proofs: [
      "test/wire/ports.test.ts › have the textual order, integer-like names too; a repeated one its first place and last value",
      "test/requirements/section-2.test.ts › type and required of the containing object are not looked at",
      "test/requirements/section-2.test.ts › an input schema without properties is refused",
      'test/vectors/vectors.test.ts › "schema.json": 21',
    ],
  },
  {
    id: "2.2",
    text: 'A port is `many` when its schema has `"type":',
    proofs: ["test/wire/ports.test.ts › are many for the type array exactly"],
  },
  {
    id: "2.3",
    text: '"array"` exactly, otherwise `one`; `["array","null"]` and `anyOf` are `one`.',
    proofs: [
      "test/wire/ports.test.ts › are many for the type array exactly",
      'test/vectors/vectors.test.ts › "schema.json": 21',
    ],
  },
  {
    id: "2.4",
    text: "Where a schema is a `$ref` (root, port, variant, payload) exactly one hop is followed: a JSON pointer within the document, percent-decoded, siblings ignored; a non-local or unresolvable one is a refusal.",
    proofs: [
      "test/wire/ports.test.ts › follow one hop of a $ref, percent-decoded, siblings ignored",
      "test/requirements/section-2.test.ts › one hop is followed at root, port, variant and payload, no second one",
    ],
  },
  {
    id: "2.5",
    text: "The output schema has a top-level `oneOf`; every member is an object schema with exactly one property (the variant's name; a payload without `properties` has no ports), or a `const` / one-element `enum` string (a variant without ports).",
    proofs: [
      "test/wire/ports.test.ts › are objects with one property, constants and one-element enums",
      'test/wire/ports.test.ts › ["no oneOf"',
      'test/wire/ports.test.ts › ["two properties"',
      'test/wire/ports.test.ts › ["no property"',
      'test/wire/ports.test.ts › ["an enum of two"',
      'test/wire/ports.test.ts › ["a constant that is no text"',
      'test/vectors/vectors.test.ts › "schema.json": 21',
    ],
  },
  {
    id: "2.6",
    text: 'Integer-like names ("1", "0") are legal and keep their textual position: never let a JavaScript object order them.',
    proofs: [
      "test/wire/ports.test.ts › have the textual order, integer-like names too",
      'test/runtime/invoke-values.test.ts › describe("ports in schema order, whatever their names"',
      "test/generator/order.test.ts › members, variants and literals keep the order in which they are written",
      "test/runtime/bootstrap.test.ts › prints one document a tool, members in textual order",
    ],
  },
  {
    id: "2.7",
    text: "Cases with verdicts and the BCS of the port schema:",
    reason: "the heading of the next sentence",
  },
  {
    id: "2.8",
    text: "`test/vectors/schema.json`.",
    proofs: [
      'test/vectors/vectors.test.ts › "schema.json": 21',
      "test/wire/recorded-ports.test.ts › schema vector: ${each.name}",
    ],
  },
  { id: "2.9", text: "Optional members.", reason: "the heading of the next sentence" },
  {
    id: "2.10",
    text: "In a signed call every port is present: an absent optional input arrives as JSON `null` and reaches the tool as `undefined`; an absent optional output leaves as `null`.",
    proofs: [
      'test/wire/envelope.test.ts › ["a port missing"',
      "test/wire/input.test.ts › signed: an absent optional input arrives as null",
      "test/runtime/invoke-values.test.ts › out: null, undefined and absence leave as null, nested too",
    ],
  },
  {
    id: "2.11",
    text: "Absent, `null` and `undefined` mean the same for an optional member, nested too, in both modes.",
    proofs: [
      "test/runtime/invoke-values.test.ts › in: null and, unsigned, absence reach the tool as undefined",
      "test/runtime/invoke-values.test.ts › out: null, undefined and absence leave as null, nested too",
      'test/runtime/invoke-values.test.ts › "an object with bigints, a list and an optional member"',
    ],
  },
  {
    id: "2.12",
    text: 'So the emitted schema of an optional member admits `null` (`"type": ["string","null"]`, not in `required`), and an optional array is a `one`.',
    proofs: [
      "test/requirements/section-2.test.ts › an optional member admits null and is not required; an optional array is a one",
    ],
  },
  {
    id: "2.13",
    text: "A non-optional array is `many` and can neither be sent nor returned empty: say so at generation time (a note).",
    proofs: [
      "test/generator/contract.test.ts › notes tell what a port is",
      "test/generator/cli.test.ts › notes take a line each and have one hint together",
      "test/runtime/invoke-envelope.test.ts › no value, 256 and 257 of a many port",
      'test/runtime/invoke-results.test.ts › "1 to 256 values of a many port"',
    ],
  },
  {
    id: "2.14",
    text: "★ Encoding follows the port, where the Rust default encoder turns every JSON array into `many` and fails: a `one` port whose value is an array carries that array as one inline value; a `many` port needs an array of 1 to 256.",
    proofs: ['test/runtime/invoke-results.test.ts › "1 to 256 values of a many port"'],
  },
  {
    id: "2.15",
    text: '★ A string literal `"done"` in an Output type is emitted as `{"const":"done"}` and returns as tag `done` without ports.',
    proofs: [
      "test/requirements/section-2.test.ts › a string literal is a const, and leaves as its tag without ports",
      'test/runtime/unsigned.test.ts › "a result without ports"',
    ],
  },
  {
    id: "2.16",
    text: '`_err_eval` cannot be declared: it is the reserved failure variant with the single inline `one` port `reason`; any tool returns it with `return errEval("text")` (typed so that it fits every Output; the inline bytes are the JSON string of the text); it is signed like a success.',
    proofs: [
      'test/generator/contract.test.ts › "{ _err_eval: { reason: string } }"',
      'test/wire/ports.test.ts › ["the reserved name"',
      "test/runtime/invoke-faults.test.ts › one inline port reason, the JSON string of the text",
      'test/runtime/invoke-faults.test.ts › "the reserved variant",',
      "test/requirements/section-2.test.ts › fits every Output, annotated or inferred",
      'test/vectors/vectors.test.ts › "output.json": 14',
    ],
  },
  {
    id: "3.1",
    text: "ValueKind       enum   0 Object, 1 Data",
    proofs: [
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      'test/vectors/vectors.test.ts › "schema.json": 21',
    ],
  },
  {
    id: "3.2",
    text: "NexusValue      enum   0 Object { id: 32 bytes }, 1 InlineData { bytes: vec u8 }, 2 WalrusData { blob_id: vec u8, content_digest: vec u8 }",
    proofs: [
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      "test/wire/bcs.test.ts › is written by hand as by the declared layout, and read back",
    ],
  },
  {
    id: "3.3",
    text: "NexusData       enum   0 One { value: NexusValue }, 1 Many { values: vec NexusValue }",
    proofs: ['test/vectors/vectors.test.ts › "nexus-data.json": 40'],
  },
  {
    id: "3.4",
    text: "PortCommitment  enum   0 One { kind: ValueKind, commitment: vec u8 }, 1 Many { kind: ValueKind, commitments: vec vec u8 }",
    proofs: [
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      "test/wire/bcs.test.ts › is that of the declared layout",
    ],
  },
  {
    id: "3.5",
    text: "PortSchema      struct port_name: vec u8, is_many: bool, value_kind: ValueKind",
    proofs: ['test/vectors/vectors.test.ts › "schema.json": 21'],
  },
  {
    id: "3.6",
    text: "OutputVariant   struct variant_name: vec u8, ports: vec PortSchema",
    proofs: ['test/vectors/vectors.test.ts › "schema.json": 21'],
  },
  {
    id: "3.7",
    text: "MetaSchema      struct input_ports: vec PortSchema, output_variants: vec OutputVariant",
    proofs: ['test/vectors/vectors.test.ts › "schema.json": 21'],
  },
  {
    id: "3.8",
    text: "OffchainToolOutput struct tag: vec u8, ports: vec { port_name: vec u8, values: vec NexusValue }",
    proofs: [
      "test/wire/signature.test.ts › result and output hash",
      'test/vectors/vectors.test.ts › "signing.json": 60',
      'test/vectors/vectors.test.ts › "output.json": 14',
    ],
  },
  {
    id: "3.9",
    text: "nonce preimage  struct execution_id: 32 bytes, walk_index: u64, vertex_name: vec u8, iteration: u64",
    proofs: [
      'test/wire/signature.test.ts › it("invocation nonce"',
      "test/wire/bcs.test.ts › takes u64s at both ends and nothing beyond",
      "test/wire/bcs.test.ts › takes 32 bytes of execution id",
    ],
  },
  {
    id: "3.10",
    text: "A Walrus blob id is the 43-character canonical base64url text (no padding) of 32 bytes, stored as its ASCII bytes; the content digest is 32 bytes (SHA-256 of the content).",
    proofs: [
      'test/wire/data.test.ts › "a blob id of 42 characters"',
      'test/wire/data.test.ts › "a blob id with stray bits"',
      'test/wire/data.test.ts › "a blob id in the standard alphabet"',
      'test/wire/data.test.ts › "a digest of 31 bytes"',
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      "test/runtime/storage.test.ts › stores, verifies and gives the reference",
    ],
  },
  {
    id: "3.11",
    text: "The values of one port are all objects or all data.",
    proofs: [
      "test/wire/data.test.ts › tells objects from data",
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
    ],
  },
  {
    id: "3.12",
    text: "A Many of one value and a One of it have the same BCS within a result.",
    proofs: [
      'test/runtime/invoke-results.test.ts › "a one for a many of one value"',
      'test/wire/output.test.ts › "a many of one for a one"',
    ],
  },
  {
    id: "3.13",
    text: 'NexusData as JSON is `{"one":ITEM}` or `{"many":[…]}`, ITEM as in section 5 without `bytes`, or `{"kind":"walrus","blob_id":B64,"content_digest":B64}`, both standard base64 with padding of the stored bytes; written with the members in this order, ids as `0x` and 64 lower-case digits, data as its canonical JSON text.',
    proofs: [
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      "test/wire/data.test.ts › reads back the JSON that it writes, with the same BCS",
      'test/wire/data.test.ts › "bytes, which only requests have"',
    ],
  },
  {
    id: "3.14",
    text: "An object id is 1 to 64 hex digits, `0x` optional, left-padded to 32 bytes.",
    proofs: [
      "test/wire/data.test.ts › is padded on the left",
      'test/wire/data.test.ts › ["0xE"',
      'test/wire/data.test.ts › "1".repeat(65),',
    ],
  },
  { id: "3.15", text: "`test/vectors/nexus-data.json`:", reason: "the heading of the next sentence" },
  {
    id: "3.16",
    text: "JSON forms, verdicts, BCS, commitments; `test/vectors/output.json`: explicit results against a schema (a group of one value satisfies a `many` port; several values or none never satisfy a `one`).",
    proofs: [
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
      'test/vectors/vectors.test.ts › "output.json": 14',
      'test/wire/output.test.ts › "a group of one for a many"',
      'test/wire/output.test.ts › "several values for a one"',
    ],
  },
  { id: "4.1", text: "content commitment of a value:", reason: "the heading of the next sentence" },
  {
    id: "4.2",
    text: "SHA-256 of the inline bytes; the content digest of a Walrus value; the 32-byte id of an object.",
    proofs: [
      "test/wire/signature.test.ts › is the hash of inline bytes, the digest of a stored value, the id of an object",
      'test/vectors/vectors.test.ts › "nexus-data.json": 40',
    ],
  },
  {
    id: "4.3",
    text: "input hash = SHA-256( resolved-input domain ‖ BCS( vec of { port_name: vec u8, commitment:",
    proofs: [
      'test/wire/signature.test.ts › it("input hash", ',
      "test/wire/signature.test.ts › input hash in another port order is another",
      "test/wire/signature.test.ts › input hash of a many of one value is another",
      "test/wire/bcs.test.ts › is that of the declared layout",
    ],
  },
  {
    id: "4.4",
    text: "PortCommitment } in port order ) )",
    proofs: [
      'test/wire/signature.test.ts › it("input hash", ',
      "test/wire/signature.test.ts › input hash in another port order is another",
    ],
  },
  {
    id: "4.5",
    text: "leader signature = Ed25519 over the 32-byte input hash.",
    proofs: [
      'test/vectors/vectors.test.ts › "signing.json": 60',
      "test/runtime/invoke-auth.test.ts › a signature over another hash, of another leader, of another key, of one bit more",
    ],
  },
  {
    id: "4.6",
    text: "output hash = SHA-256( raw-output domain ‖ BCS(OffchainToolOutput) )",
    proofs: [
      "test/wire/signature.test.ts › result and output hash",
      'test/vectors/vectors.test.ts › "signing.json": 60',
    ],
  },
  {
    id: "4.7",
    text: "tool signature = Ed25519 over ( tool-response domain ‖ leader signature (64) ‖ nonce (32) ‖ output hash (32) )",
    proofs: [
      "test/wire/signature.test.ts › signature version and the tool's message",
      'test/vectors/vectors.test.ts › "signing.json": 60',
      "test/runtime/leader.test.ts › a signature says nothing about another request",
    ],
  },
  {
    id: "4.8",
    text: "invocation nonce = SHA-256( invocation-nonce domain ‖ BCS(nonce preimage) )",
    proofs: [
      'test/wire/signature.test.ts › it("invocation nonce"',
      "test/runtime/leader.test.ts › a derived nonce is that of the invocation",
    ],
  },
  {
    id: "4.9",
    text: "Verification is strict in the sense of ed25519-dalek `verify_strict`:",
    reason: "the heading of the next sentence",
  },
  {
    id: "4.10",
    text: "S below the group order, the cofactorless equation, A a curve point, small-order A or R and non-canonical A or R refused (`test/vectors/ed25519.json`).",
    proofs: [
      'test/vectors/vectors.test.ts › "ed25519.json": 1053',
      "test/wire/ed25519.test.ts › gives verify_strict's verdict on all of them",
      "test/wire/ed25519.test.ts › refuses each as A and as R, where the equation holds",
      "test/wire/ed25519.test.ts › on S + k·L for every k that fits: refused",
    ],
  },
  {
    id: "4.11",
    text: "Neither node:crypto nor @noble/ed25519 with `zip215: false` gives these verdicts by itself (198 and 180 false accepts in 1,650 vectors, of which 1,053 are here).",
    proofs: ["test/requirements/section-4.test.ts › is what neither node:crypto nor @noble/ed25519 gives by itself"],
  },
  {
    id: "4.12",
    text: "The leader's signature covers the inputs only: not the nonce, the leader's id, the tool or the time.",
    proofs: [
      "test/requirements/section-4.test.ts › whoever can read a request can repeat it: another nonce, another leader with that key, another tool",
    ],
  },
  {
    id: "4.13",
    text: "Whoever can read a request can repeat it under another nonce.",
    proofs: [
      "test/requirements/section-4.test.ts › whoever can read a request can repeat it: another nonce, another leader with that key, another tool",
    ],
  },
  {
    id: "4.14",
    text: "Authenticated HTTPS is therefore part of the protocol; the documentation says so plainly.",
    proofs: [
      "test/requirements/section-4.test.ts › the documentation says so plainly, and that HTTPS is part of the protocol",
    ],
  },
  {
    id: "4.15",
    text: "Golden values: one-ports z = bytes `Z`, aa = bytes `A`, in that order → input hash `c4c6b94a64dfa36bbc1261eb8cd2ea030a0187cb6f66b34571be80aa1539f858`; tag `ok`, port result = [inline `x`] → BCS `026f6b0106726573756c7401010178`, output hash `05b824008a23a42ccb453d2dc4fd3ab6d1ef55246c719dc035dd2e621041cb6c`; execution id 0xe, walk 3, vertex `vertex`, iteration 0 → nonce `7dc2b7b7addb953fc231afd71d9444beca7b253f1e45481bc50d4ac6cd0e4c32`.",
    proofs: [
      'test/wire/signature.test.ts › it("input hash", ',
      "test/wire/signature.test.ts › result and output hash",
      'test/wire/signature.test.ts › it("invocation nonce"',
    ],
  },
  {
    id: "4.16",
    text: "Complete cases (schemas, body, hash, keys, headers, output bytes, signatures):",
    reason: "the heading of the next sentence",
  },
  {
    id: "4.17",
    text: "`test/vectors/signing.json`.",
    proofs: [
      'test/vectors/vectors.test.ts › "signing.json": 60',
      "test/runtime/leader.test.ts › every recorded call is built, signed, verified and decoded as recorded",
    ],
  },
  {
    id: "5.1",
    text: "| `X-Svc-Sig-V` | `3` |",
    proofs: [
      'test/runtime/invoke-auth.test.ts › v3: "v3" },',
      "test/runtime/invoke-auth.test.ts › it(`${name}: missing`",
    ],
  },
  {
    id: "5.2",
    text: "| `X-Svc-Leader-Id` | bytes 0x21 to 0x7e after HTTP's trimming (anything else 401), looked up exactly; a listed leader_id outside that set never matches |",
    proofs: [
      'test/runtime/invoke-auth.test.ts › "expected visible ASCII characters"',
      "test/runtime/invoke-auth.test.ts › white space around values",
      'test/runtime/invoke-auth.test.ts › "a leader in another case"',
      'test/runtime/invoke-auth.test.ts › "the beginning of a leader"',
      "test/runtime/allowed-leaders.test.ts › an id that no header can carry never matches",
    ],
  },
  {
    id: "5.3",
    text: "| `X-Svc-Leader-Key-Id` | u64 in decimal digits, ★ digits only (no sign), leading zeros allowed |",
    proofs: [
      'test/runtime/invoke-auth.test.ts › "+0": "plus"',
      'test/runtime/invoke-auth.test.ts › "18446744073709551616": "2^64"',
      "test/runtime/invoke-auth.test.ts › leading zeros of the key id",
    ],
  },
  {
    id: "5.4",
    text: "| `X-Svc-Input-Hash` | base64url of 32 bytes |",
    proofs: ['test/runtime/invoke-auth.test.ts › ["X-Svc-Input-Hash", base64url(32), of(32)]'],
  },
  {
    id: "5.5",
    text: "| `X-Svc-Leader-Signature` | base64url of 64 bytes |",
    proofs: ['test/runtime/invoke-auth.test.ts › ["X-Svc-Leader-Signature", base64url(64), of(64)]'],
  },
  {
    id: "5.6",
    text: "| `X-Svc-Nonce` | base64url of 32 bytes |",
    proofs: ['test/runtime/invoke-auth.test.ts › ["X-Svc-Nonce", base64url(32), of(32)]'],
  },
  {
    id: "5.7",
    text: "base64url without padding, strictly decoded: no padding, no other alphabet, no stray bits, exact length.",
    proofs: [
      'test/runtime/invoke-auth.test.ts › ["X-Svc-Input-Hash", base64url(32), of(32)]',
      'test/runtime/invoke-auth.test.ts › ["X-Svc-Leader-Signature", base64url(64), of(64)]',
      'test/runtime/invoke-auth.test.ts › ["X-Svc-Nonce", base64url(32), of(32)]',
      "test/wire/signature.test.ts › base64url ${JSON",
    ],
  },
  {
    id: "5.8",
    text: "★ A header given twice is refused.",
    proofs: ["test/runtime/invoke-auth.test.ts › given twice, in any case, equal or not, also when one is empty"],
  },
  {
    id: "5.9",
    text: "Every fault here is 401 `auth_failed`; ★ its `details` are fixed texts that name the header and the fault, never its value.",
    proofs: [
      'test/runtime/invoke-auth.test.ts › expectError(response, 401, "auth_failed") ?? assert.fail("no details")',
      "test/runtime/invoke-auth.test.ts › leaks its value",
      "test/runtime/invoke-auth.test.ts › is not in the allow-list`",
    ],
  },
  { id: "5.10", text: "Body:", reason: "the heading of the next sentence" },
  {
    id: "5.11",
    text: '`{"ports":[{"port_name":NAME,"value":VALUE}, …]}`, exactly these members, each schema port exactly once, in any order.',
    proofs: [
      'test/wire/envelope.test.ts › ["another member"',
      'test/wire/envelope.test.ts › "a port with another member"',
      'test/wire/envelope.test.ts › ["a port twice"',
      'test/wire/envelope.test.ts › ["a port missing"',
      'test/wire/envelope.test.ts › ["an unknown port"',
      "test/wire/envelope.test.ts › does not depend on the order of the ports in the body",
    ],
  },
  {
    id: "5.12",
    text: 'VALUE is `{"one":ITEM}` or `{"many":[ITEM,…]}`, matching the port.',
    proofs: [
      'test/wire/envelope.test.ts › ["one for many"',
      'test/wire/envelope.test.ts › ["many for one"',
      'test/wire/envelope.test.ts › "one and many"',
      'test/wire/envelope.test.ts › "another cardinality"',
      "test/wire/envelope.test.ts › tells a one from a many of one",
    ],
  },
  {
    id: "5.13",
    text: 'ITEM is exactly one of `{"kind":"data","data":JSON}`, `{"kind":"data","bytes":BASE64}` (standard alphabet, canonical padding) or `{"kind":"object","id":HEX}` (never conforms to a data port); `walrus` items are refused: inputs arrive resolved.',
    proofs: [
      'test/wire/envelope.test.ts › ["another kind"',
      'test/wire/envelope.test.ts › "data and bytes"',
      'test/wire/envelope.test.ts › "neither data nor bytes"',
      'test/wire/envelope.test.ts › "an object item"',
      'test/wire/envelope.test.ts › "a walrus item"',
      'test/wire/envelope.test.ts › "bytes without padding"',
      'test/wire/envelope.test.ts › "bytes with stray bits"',
      'test/wire/envelope.test.ts › "bytes in base64url"',
      'test/wire/envelope.test.ts › "an item with another member"',
    ],
  },
  {
    id: "5.14",
    text: "A member repeated in the envelope or in a `data` value counts once, the last wins; superseded text must be readable by the rules of this section (numbers, UTF-8, nesting), its shape is not checked.",
    proofs: [
      "test/wire/envelope.test.ts › count once, the last wins: ${what}",
      "test/wire/envelope.test.ts › must be readable where they are superseded: ${what}",
      "test/wire/envelope.test.ts › cost nothing of the budget where they are superseded",
      "test/runtime/invoke-envelope.test.ts › invalid UTF-8, in a value, in a name, in what is superseded",
      "test/wire/input.test.ts › signed: a repeated member of a data value counts once, the last wins",
    ],
  },
  {
    id: "5.15",
    text: "Envelope faults are 422 `input_deserialization_error`.",
    proofs: [
      "test/wire/envelope.test.ts › it(`${what}: ${details}`",
      'test/runtime/invoke-envelope.test.ts › refused(withBody(body), "input_deserialization_error")',
    ],
  },
  {
    id: "5.16",
    text: "The inline bytes of a `data` item are the compact canonical re-serialisation of its JSON text, as serde_json does it (insertion order kept): whitespace outside strings removed; object keys in textual order, a repeated key keeps its first position and takes its last value; strings escape only `\"`, `\\` and control characters (`\\b \\t \\n \\f \\r`, otherwise `\\u00xx` in lower case), `/`, 0x7f and non-ASCII stay raw; integers in u64/i64 range kept exactly; every other number is a double, read as serde_json reads by default and printed shortest-round-trip in serde's form.",
    proofs: [
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
      "test/wire/json.test.ts › equals that of an independent slow model of serde_json, in both spellings of exponents",
      'test/wire/json.test.ts › ["18446744073709551615", "18446744073709551615"]',
      "test/runtime/invoke-envelope.test.ts › white space outside strings is no part of any form, inside it is",
    ],
  },
  {
    id: "5.17",
    text: "Printing: with the n shortest digits D, value = D·10^k and kk = n + k: −5 < kk ≤ 16 prints decimal, always with a point (`1.0`, `100000.0`, `1000000000000000.0`, `0.00001`), else `d.ddde±x` with one digit before the point and no `.0` (`1e+16`, `1e-7`); JavaScript's own thresholds are others.",
    proofs: [
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
      'test/wire/json.test.ts › ["1e15", "1000000000000000.0"]',
      'test/wire/json.test.ts › ["1e16", "1e+16"]',
      'test/wire/json.test.ts › ["0.00001", "0.00001"]',
      'test/wire/json.test.ts › ["0.000001", "1e-6"]',
      "test/wire/json.test.ts › prints every double so that JavaScript reads it back, with a point or an exponent",
    ],
  },
  {
    id: "5.18",
    text: "Before serde_json 1.0.147 a positive exponent had no `+`; nothing else differs.",
    proofs: [
      "test/wire/json.test.ts › equals that of an independent slow model of serde_json, in both spellings of exponents",
      "test/wire/json.test.ts › prints every double so that JavaScript reads it back",
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
    ],
  },
  {
    id: "5.19",
    text: "Reading is not correctly rounded: integer digits go into a u64 significand; from the first that would overflow it, each adds 1 to the exponent instead.",
    proofs: [
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
      "test/wire/json.test.ts › equals the model's for numbers alone, however long and far",
    ],
  },
  {
    id: "5.20",
    text: "Fraction digits are then each tried anew, also after an integer overflow: a digit taken subtracts 1 from the exponent, and the first that would overflow ends it, it and all later ones dropped.",
    proofs: [
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
      "test/wire/json.test.ts › equals the model's for numbers alone, however long and far",
    ],
  },
  {
    id: "5.21",
    text: "The written exponent is added. f = double(significand); while |exponent| > 308: stop if f is 0, refuse if exponent > 0, else f /= 1e308 and exponent += 308; then f *= 10^exponent (infinity refused) or f /= 10^-exponent, where 10^n is the double nearest to it (a table of literals:",
    proofs: [
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
      "test/wire/json.test.ts › equals the model's for numbers alone, however long and far",
      'test/wire/json.test.ts › ["[1e400]", "number out of range", 1]',
      'test/wire/json.test.ts › ["0e999999999999", "0.0"]',
    ],
  },
  {
    id: "5.22",
    text: "`10 ** n` is wrong for 36 of the 309).",
    proofs: [
      "test/wire/json.test.ts › equals the model's for numbers alone, however long and far",
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
    ],
  },
  {
    id: "5.23",
    text: "Sign last; `-0` and integers outside u64/i64 go this way too (`18446744073709551616.5e-20` → `0.1844674407370955`).",
    proofs: [
      'test/wire/json.test.ts › ["18446744073709551616.5e-20", "0.1844674407370955"]',
      'test/wire/json.test.ts › ["-0", "-0.0"]',
      'test/wire/json.test.ts › ["-9223372036854775809", "-9.223372036854776e+18"]',
      'test/vectors/vectors.test.ts › "json-canonical.json": 565',
    ],
  },
  {
    id: "5.24",
    text: "Invalid UTF-8, lone surrogate escapes, a byte-order mark, trailing text, out-of-range numbers are refused before any comparison.",
    proofs: [
      'test/runtime/invoke-envelope.test.ts › ["\\ufeff{}", "body: expected a value at byte 0"]',
      'test/wire/envelope.test.ts › ["invalid UTF-8", Buffer.from(\'{',
      'test/wire/envelope.test.ts › ["a lone surrogate", body',
      'test/wire/envelope.test.ts › ["text behind it"',
      'test/wire/envelope.test.ts › ["a number out of range", body',
    ],
  },
  { id: "5.25", text: "Vectors:", reason: "the heading of the next sentence" },
  {
    id: "5.26",
    text: "`test/vectors/json-canonical.json`.",
    proofs: ['test/vectors/vectors.test.ts › "json-canonical.json": 565'],
  },
  {
    id: "5.27",
    text: "The inline bytes of a `bytes` item are exactly the decoded bytes (their formatting is part of the commitment); that they are not one JSON document is found when the input is decoded (step 6 below), like a type fault.",
    proofs: [
      "test/runtime/invoke-envelope.test.ts › bytes are committed as they are, in every form of the rest",
      "test/runtime/invoke-envelope.test.ts › bytes that are no JSON document are found when the input is decoded, after the tool is constructed",
    ],
  },
  {
    id: "5.28",
    text: "A leader writes its body in canonical form already, so the text as sent (whitespace outside strings removed) is the canonical text.",
    proofs: [
      "test/runtime/leader.test.ts › texts that are not canonical, long or deep travel as bytes and arrive whole",
      'test/runtime/leader.test.ts › test("bodies"',
    ],
  },
  {
    id: "5.29",
    text: "★ Up to three hashes of the whole request are compared with the header's, each with one form for all its `data` items: as sent; canonical; canonical with numbers printed as serde_json before 1.0.147 did (`1e16`).",
    proofs: [
      "test/runtime/invoke-envelope.test.ts › matches only ${form}",
      "test/runtime/invoke-envelope.test.ts › forms mixed are refused: ${what}",
      "test/runtime/invoke-envelope.test.ts › the same values, each in one form throughout, run",
      "test/wire/envelope.test.ts › refuses a mixture: ${what}",
    ],
  },
  {
    id: "5.30",
    text: "So leaders built with either are served, and the common case hashes slices.",
    proofs: [
      "test/runtime/invoke-envelope.test.ts › matches only ${form}",
      "test/wire/json.test.ts › is a view of the document when that has no white space",
    ],
  },
  {
    id: "5.31",
    text: "None equal → 422 `input_integrity_error`. **The tool's input is decoded from the texts whose hash matched and from nothing else**, so that what is hashed and what is used cannot differ; a `number` is JavaScript's value of that text.",
    proofs: [
      'test/runtime/invoke-envelope.test.ts › "the input hash of the header is not that of the body"',
      "test/runtime/invoke-envelope.test.ts › matches only ${form}",
      "test/wire/envelope.test.ts › gives the decoder the texts that matched, and their values",
      "test/runtime/invoke-values.test.ts › is read exactly and given back",
    ],
  },
  {
    id: "5.32",
    text: "★ Decoding is one walk over contract and text: kinds, ranges, formats and constraints are checked where the value is made.",
    proofs: [
      "test/types/judge.test.ts › the walk accepts what ajv accepts",
      'test/runtime/invoke-values.test.ts › \'"2023-02-29T00:00:00Z"',
      'test/generator/jsdoc.test.ts › { exact: "-9007199254740996" }',
    ],
  },
  {
    id: "5.32a",
    text: "A union takes only a branch that accepts the value with its constraints; of several, the one that leaves the fewest members out, then the first.",
    proofs: [
      "test/e2e/hostile-inputs.test.ts › a tool never gets a value that its type refuses",
      "test/wire/constraints.test.ts › leaves the fewest members out",
    ],
  },
  {
    id: "5.32b",
    text: "Patterns and formats see texts of at most 65,536 characters, a longer text does not fit them.",
    proofs: ["test/wire/constraints.test.ts › texts longer than the bound"],
  },
  {
    id: "5.32c",
    text: "Items that must differ are compared as they are decoded.",
    proofs: ["test/wire/constraints.test.ts › are compared as they are decoded"],
  },
  {
    id: "5.33",
    text: "A leader (our client) sends `data` only where the value's bytes equal their canonical form and are at most 61,440 bytes, else `bytes`.",
    proofs: [
      "test/runtime/leader.test.ts › texts that are not canonical, long or deep travel as bytes and arrive whole",
    ],
  },
  {
    id: "5.34",
    text: "Values: 64-bit integers must survive.",
    proofs: [
      "test/e2e/examples.test.ts › adds exactly, to the bounds of int64",
      "test/runtime/invoke-values.test.ts › int64 and uint64 bounds leave as they are",
    ],
  },
  {
    id: "5.35",
    text: "An integer is a text of digits with an optional `-` within u64/i64; `-0`, `1.0`, `1e3` and digits beyond are doubles, in every form.",
    proofs: [
      'test/runtime/invoke-values.test.ts › ["1.0", /^value: expected an integer, got a number/]',
      'test/runtime/invoke-values.test.ts › ["1e3", /^value: expected an integer, got a number/]',
      'test/runtime/invoke-values.test.ts › ["-0", /^value: expected an integer, got a number/]',
      'test/runtime/invoke-values.test.ts › "bigint without a format"',
      "test/wire/json.test.ts › keep integers exact and doubles apart from them",
      'test/runtime/invoke-envelope.test.ts › ["10000000000000000.0", "1e+16", "1e16", 1e16]',
    ],
  },
  {
    id: "5.36",
    text: "A `bigint` takes an integer from −2^63 to 2^64−1, narrowed by `@format int64` or `@format uint64` on the member (the schema's `format`); outside → 422 in, `output_serialization_error` out; an integer beyond ±(2^53−1) for a `number` is ★ refused (422) with its path, never rounded.",
    proofs: [
      'test/runtime/invoke-values.test.ts › "bigint without a format"',
      'test/runtime/invoke-values.test.ts › ["-1", "value: expected an uint64 integer, got an integer outside its range"]',
      'test/runtime/invoke-values.test.ts › [text64.umax, "value: expected an int64 integer',
      'test/runtime/invoke-values.test.ts › describe("values out that the type does not have (500, with port and reason)"',
      "test/runtime/invoke-values.test.ts › int64 and uint64 bounds leave as they are",
      'test/runtime/invoke-values.test.ts › ["9007199254740992", "value: expected a number within',
      'test/generator/jsdoc.test.ts › "format":"int64","minimum":-9007199254740993',
    ],
  },
  {
    id: "6.1",
    text: "Plain JSON of the input type.",
    proofs: [
      "test/runtime/invoke-values.test.ts › is read exactly and given back",
      "test/runtime/unsigned.test.ts › signature headers are not looked at, and a signed body is none",
    ],
  },
  {
    id: "6.2",
    text: "Unknown members are ignored unless the type forbids them; a repeated declared member is 422.",
    proofs: [
      "test/runtime/unsigned.test.ts › unknown members are ignored, however often they come",
      "test/runtime/unsigned.test.ts › unless the type forbids them; what is wrong with a member names places",
      'test/runtime/unsigned.test.ts › [\'{"value":1,"value":1}\', /^value: .*twice$/]',
      "test/wire/input.test.ts › unsigned: a repeated declared member is refused nested too, an unknown one is not",
      "test/types/zoo.test.ts › zoo: ${name}",
    ],
  },
  {
    id: "6.3",
    text: "Results are the same BCS.",
    proofs: [
      "test/runtime/invoke-values.test.ts › is read exactly and given back",
      "test/runtime/unsigned.test.ts › without Accept it is BCS",
    ],
  },
  {
    id: "6.4",
    text: '★ When `application/json` has a strictly higher quality in `Accept` than both the result content type and `*/*`, the result is `{"<tag>":{"<port>":value,…}}` as `application/json`, `many` as arrays, with `Vary:',
    proofs: [
      "test/runtime/unsigned.test.ts › it(`Accept: ${accept}`",
      "test/runtime/unsigned.test.ts › ports in schema order, many as arrays, exact integers, names and texts quoted",
    ],
  },
  {
    id: "6.5",
    text: "Accept`; unsigned mode only; a result holding an object or Walrus value stays BCS.",
    proofs: [
      'test/runtime/unsigned.test.ts › assert.equal(response.headers.get("vary"), "Accept");',
      "test/runtime/unsigned.test.ts › in signed mode Accept is not looked at",
      "test/runtime/unsigned.test.ts › a result that holds a stored value stays BCS",
    ],
  },
  {
    id: "7.1",
    text: "★ This order (the specification's up to `authorize`, which needs the instance; Rust checks replay before it reads the body, caches the body's 422s and decodes the input before it constructs): 1.",
    proofs: [
      "test/runtime/invoke-auth.test.ts › length, limit and coding come before the signature",
      "test/runtime/invoke-auth.test.ts › the signature comes before the expectation, the expectation before the body",
      'test/runtime/invoke-envelope.test.ts › "nothing is constructed"',
      'test/runtime/replay-http.test.ts › 401, envelope faults and input_integrity_error"',
      "test/runtime/replay-http.test.ts › in flight from the claim to the end: construction and authorize count",
      "test/runtime/invoke-faults.test.ts › comes before the input is decoded, which comes before invoke",
    ],
  },
  {
    id: "7.2",
    text: "`Content-Length` present (411; also for chunked bodies) and within the limit (413); `Content-Encoding` absent or `identity` (415).",
    proofs: [
      "test/runtime/serve.test.ts › 411 without Content-Length",
      "test/runtime/serve.test.ts › 411 for chunked bodies, whatever comes with them",
      "test/runtime/serve.test.ts › 413 over 12 MiB by default",
      "test/runtime/serve.test.ts › 415 for Content-Encoding: ${coding}",
      "test/runtime/serve.test.ts › identity is no coding, in any case",
      "test/runtime/serve.test.ts › 411 comes before 415, 413 before 415",
    ],
  },
  {
    id: "7.3",
    text: "`Content-Type` is ignored. 2.",
    proofs: ["test/runtime/serve.test.ts › Content-Type is ignored: ${JSON"],
  },
  {
    id: "7.4",
    text: "Signed mode: headers, leader look-up, signature (401).",
    proofs: [
      "test/runtime/invoke-auth.test.ts › it(`${name}: missing`",
      "test/runtime/invoke-auth.test.ts › is not in the allow-list`",
      "test/runtime/invoke-auth.test.ts › a signature over another hash, of another leader, of another key, of one bit more",
    ],
  },
  {
    id: "7.5",
    text: "All of 1 and 2 before a byte of body is kept; `Expect: 100-continue` is answered 100 only after them, any other expectation 417. 3.",
    proofs: [
      "test/runtime/invoke-auth.test.ts › every header, before a byte of the body (401)",
      "test/runtime/invoke-auth.test.ts › a stranger never gets 100 Continue, and its connection is closed",
      "test/runtime/invoke-auth.test.ts › no 100 Continue for a body that is ${what}",
      "test/runtime/invoke-auth.test.ts › a leader gets 100 Continue, then sends its body and gets its answer",
      "test/runtime/invoke-auth.test.ts › 417 for Expect: ${expectation}",
    ],
  },
  {
    id: "7.6",
    text: "Signed mode: envelope, budget, input hash rebuilt and compared (422). 4.",
    proofs: [
      'test/runtime/invoke-envelope.test.ts › "nothing is constructed"',
      'test/runtime/invoke-envelope.test.ts › "before the hash is compared"',
      "test/runtime/invoke-envelope.test.ts › a body that grew or shrank on the way is refused, or is read as what was signed",
    ],
  },
  {
    id: "7.7",
    text: "Signed mode: replay check (section 8). 5.",
    proofs: [
      "test/runtime/replay-http.test.ts › an exact retry does not run again and gets the same bytes",
      "test/runtime/replay-http.test.ts › nor do they find an entry: a tampered retry gets no cached answer",
    ],
  },
  {
    id: "7.8",
    text: "A tool instance is constructed (one for each invocation and each health check); signed mode:",
    proofs: [
      "test/runtime/invoke-faults.test.ts › one instance for each invocation",
      "test/runtime/meta.test.ts › one instance for each check",
    ],
  },
  {
    id: "7.9",
    text: "`authorize(ctx)`. 6.",
    proofs: [
      "test/runtime/invoke-faults.test.ts › is asked in signed mode only",
      "test/runtime/invoke-faults.test.ts › comes before the input is decoded, which comes before invoke",
      "test/runtime/invoke-auth.test.ts › authorize gets who called: id, key id, hash, signature, nonce",
    ],
  },
  {
    id: "7.10",
    text: "Input decoded and validated (422 with the path of the failing member); `invoke`; `encodeOutput`; result checked against the ports; BCS; signature.",
    proofs: [
      "test/runtime/invoke-faults.test.ts › comes before the input is decoded, which comes before invoke",
      "test/runtime/invoke-faults.test.ts › it(`${what} is no result`",
      'test/runtime/invoke-values.test.ts › "value.list[1]: expected a number, got a string"',
      'test/runtime/invoke-results.test.ts › describe("explicit ports from encodeOutput"',
      "test/runtime/invoke-auth.test.ts › authorize gets who called: id, key id, hash, signature, nonce",
    ],
  },
  { id: "7.11", text: "`AuthContext`:", reason: "the heading of the next sentence" },
  {
    id: "7.12",
    text: "`leaderId: string`, `leaderKeyId: bigint`, `inputHash` (32 bytes), `leaderSignature` (64), `nonce` (32).",
    proofs: ["test/runtime/invoke-auth.test.ts › authorize gets who called: id, key id, hash, signature, nonce"],
  },
  {
    id: "7.13",
    text: "The result is the tag and the ports **in schema order**, whatever order the tool's object had.",
    proofs: [
      "test/runtime/invoke-values.test.ts › signed, in any order of the envelope",
      "test/runtime/invoke-values.test.ts › unsigned, in any order of the members",
      "test/wire/codec.test.ts › has bytes that never depend on the order of members",
    ],
  },
  {
    id: "7.14",
    text: "`encodeOutput` may build explicit ports with `OffchainToolOutput.fromPorts(tag, [[name, NexusData], …])`; the runtime checks names, order, cardinality, kinds and sizes.",
    proofs: [
      'test/runtime/invoke-results.test.ts › "as declared"',
      'test/runtime/invoke-results.test.ts › "another name"',
      'test/runtime/invoke-results.test.ts › "another order"',
      'test/runtime/invoke-results.test.ts › "several values for a one"',
      'test/runtime/invoke-results.test.ts › "an object id"',
      'test/runtime/invoke-results.test.ts › "a port too few"',
      'test/runtime/invoke-results.test.ts › "8 MiB of inline bytes and known sizes of stored blobs"',
      "test/wire/output.test.ts › are made of valid values only, whoever made them",
    ],
  },
  {
    id: "7.15",
    text: "Response to a success: 200, result content type, BCS body; with a `response_signing_key` the two headers `X-Svc-Sig-V: 3` and `X-Svc-Tool-Signature` and no other signing header.",
    proofs: [
      "test/runtime/invoke-auth.test.ts › authorize gets who called: id, key id, hash, signature, nonce",
      "test/runtime/invoke-auth.test.ts › a result carries no header of the protocol, and the tool is named once in the log at start",
      'test/vectors/vectors.test.ts › "http.json": 119',
    ],
  },
  {
    id: "7.16",
    text: 'Errors are JSON `{"error": code, "details"?: text}` and never signed.',
    proofs: [
      "test/runtime/serve.test.ts › it(`404 for ",
      "test/runtime/invoke-envelope.test.ts › nothing is constructed",
      "test/runtime/replay-http.test.ts › a cached error is never signed",
    ],
  },
  {
    id: "7.17",
    text: "| 400 | `bad_request` | what the HTTP parser refuses (also length with chunked), no `Host`, two `Host`s, unknown methods | – |",
    proofs: [
      'test/runtime/serve.test.ts › "length and chunked"',
      'test/runtime/serve.test.ts › "no host"',
      'test/runtime/serve.test.ts › "two hosts"',
      'test/runtime/serve.test.ts › "an unknown method"',
      "test/runtime/serve.test.ts › it(`400 for ${what}`",
    ],
  },
  {
    id: "7.18",
    text: "| 400 | `host_header_required`, `invalid_scheme` | `/meta`: host missing or malformed (`Host` or `X-Forwarded-Host`); forwarded scheme not http or https | fixed |",
    proofs: [
      "test/runtime/meta.test.ts › 400 host_header_required for ${JSON",
      "test/runtime/meta.test.ts › 400 host_header_required without any, and for two forwarded ones",
      "test/runtime/meta.test.ts › 400 invalid_scheme for ${JSON",
    ],
  },
  {
    id: "7.19",
    text: "| 401 | `auth_failed` | any header or signature fault | fixed, names the header |",
    proofs: [
      "test/runtime/invoke-auth.test.ts › it(`${name}: missing`",
      "test/runtime/invoke-auth.test.ts › it(`${name}: ${what}`",
      "test/runtime/invoke-auth.test.ts › is not in the allow-list`",
      "test/runtime/invoke-auth.test.ts › a signature over another hash, of another leader, of another key, of one bit more",
    ],
  },
  {
    id: "7.20",
    text: "| 403 | `permission_denied` | `authorize` threw the exported `PermissionDenied` | that error's own message |",
    proofs: [
      "test/runtime/invoke-faults.test.ts › 403 permission_denied: authorize refuses, with its own message",
      "test/runtime/invoke-faults.test.ts › PermissionDenied is a refusal from authorize only",
    ],
  },
  {
    id: "7.35",
    text: "| 403 | `permission_denied` | ★ unsigned mode: an `Origin` that is not allowed by name (a web page's; none is by default), or without one a `Sec-Fetch-Site` other than `none`; before a byte of body is kept | fixed |",
    proofs: [
      "test/runtime/browser-requests.test.ts › 403, and nothing runs",
      "test/runtime/browser-requests.test.ts › of a page is refused before its body is read",
      "test/runtime/browser-requests.test.ts › with signatures, the signature decides",
    ],
  },
  {
    id: "7.21",
    text: "| 404, 405 | `not_found`, `method_not_allowed` (with `Allow`) | routing | – |",
    proofs: [
      "test/runtime/serve.test.ts › it(`404 for ",
      "test/runtime/serve.test.ts › it(`405 for ${method} ${path}`",
    ],
  },
  {
    id: "7.22",
    text: "| 408, 411, 413, 415, 417, 431 | `request_timeout`, `length_required`, `payload_too_large`, `unsupported_content_encoding`, `expectation_failed`, `headers_too_large` | section 1, steps 1 and 2 | the limit |",
    proofs: [
      "test/runtime/serve.test.ts › 408 for headers that stay out, and for a body that does",
      "test/runtime/serve.test.ts › 411 without Content-Length",
      "test/runtime/serve.test.ts › 413 over 12 MiB by default",
      "test/runtime/serve.test.ts › 415 for Content-Encoding: ${coding}",
      "test/runtime/serve.test.ts › 64 headers are accepted, 65, 66 and 1,100 are 431",
      "test/runtime/serve.test.ts › 431 for 20 KB of headers, in one, in many, or in the path",
      "test/runtime/invoke-auth.test.ts › 417 for Expect: ${expectation}",
    ],
  },
  {
    id: "7.23",
    text: "| 409 | `request_in_flight` | section 8 | fixed |",
    proofs: ["test/runtime/replay-http.test.ts › 409 for the same pair in flight, from anybody"],
  },
  {
    id: "7.24",
    text: "| 422 | `input_integrity_error` | no form's hash matches | fixed |",
    proofs: ['test/runtime/invoke-envelope.test.ts › "the input hash of the header is not that of the body"'],
  },
  {
    id: "7.25",
    text: "| 422 | `input_deserialization_error` | envelope, JSON or type fault | path (`tags[1]`, `deep.at`), expected, got (kinds, not values) |",
    proofs: [
      'test/runtime/invoke-envelope.test.ts › refused(withBody(body), "input_deserialization_error")',
      "test/runtime/invoke-envelope.test.ts › bytes that are no JSON document are found when the input is decoded, after the tool is constructed",
      'test/runtime/invoke-values.test.ts › "value.list[1]: expected a number, got a string"',
      "test/wire/envelope.test.ts › hold nothing of the request, wherever it stands",
      "test/runtime/unsigned.test.ts › unless the type forbids them; what is wrong with a member names places",
    ],
  },
  {
    id: "7.26",
    text: "| 429 | `rate_limited` | only when configured | – |",
    proofs: [
      "test/runtime/load.test.ts › is of a verified leader, over its keys: 429 with Retry-After before the body; others are served",
      "test/runtime/load.test.ts › nothing is counted but bytes of bodies, and no limiter is loaded",
    ],
  },
  {
    id: "7.27",
    text: "| 500 | `tool_invocation_failed` | anything thrown by the tool's own code: construction, `authorize` (other than a refusal), `invoke` | none |",
    proofs: [
      'test/runtime/invoke-faults.test.ts › describe("500 tool_invocation_failed: anything that the tool\'s own code throws, without a word of it"',
      'test/runtime/invoke-faults.test.ts › ["a promise of construction"',
      'test/runtime/invoke-faults.test.ts › ["a promise of authorize"',
      'test/runtime/invoke-faults.test.ts › ["a promise of invoke"',
    ],
  },
  {
    id: "7.28",
    text: "| 500 | `internal_error` | a fault of ours that no other line names | none |",
    proofs: [
      "test/runtime/replay-http.test.ts › ${what} is 503 replay_store_unavailable, logged; nothing ran",
      "test/runtime/meta.test.ts › a tool's own meta is served as it says; one that fails is 500 without a word of it",
    ],
  },
  {
    id: "7.29",
    text: "| 500 | `output_serialization_error` | the output cannot be encoded or does not conform, or `encodeOutput` threw | port and reason when the runtime found it; nothing that custom code threw |",
    proofs: [
      "test/runtime/invoke-faults.test.ts › cannot be encoded`",
      "test/runtime/invoke-faults.test.ts › it(`${what} is no result`",
      "test/runtime/invoke-faults.test.ts › encodeOutput throws ${what}",
      "test/runtime/invoke-faults.test.ts › code within a result throws: a getter, a toJSON, a proxy",
      'test/runtime/invoke-values.test.ts › describe("values out that the type does not have (500, with port and reason)"',
    ],
  },
  {
    id: "7.30",
    text: "| 503 | `replay_store_full`, ★ `replay_store_unavailable`, `overloaded`, `shutting_down` | with `Retry-After`; never cached; nothing ran | – |",
    proofs: [
      "test/runtime/replay-http.test.ts › ${what} is 503 replay_store_unavailable, logged; nothing ran",
      "test/runtime/replay-http.test.ts › 503 replay_store_full with Retry-After, never cached; what lives is never evicted",
      "test/runtime/bootstrap.test.ts › a request that comes on an open connection while others run is 503 shutting_down with Retry-After",
      "test/runtime/invoke-shutdown.test.ts › a run that then throws is 503 shutting_down and not cached",
      "test/runtime/load.test.ts › refuses a call too many with 503 and Retry-After; the same request runs later",
      "test/runtime/load.test.ts › refuses a call that waited too long; the same request runs later",
      "test/fault/clients.test.ts › are bounded: 503 before the body",
      "test/runtime/load.test.ts › tells calls that wait past the drain limit that they wait in vain",
    ],
  },
  {
    id: "7.31",
    text: "| 504 | `tool_invocation_timeout` | the deadline passed | none |",
    proofs: ['test/runtime/invoke-faults.test.ts › describe("504 tool_invocation_timeout: the deadline passed"'],
  },
  {
    id: "7.32",
    text: "A 500 never carries thrown text, a stack or a path; the log does.",
    proofs: [
      "test/runtime/invoke-faults.test.ts › the log has it, once",
      "test/runtime/invoke-faults.test.ts › encodeOutput throws ${what}",
      "test/runtime/meta.test.ts › a tool's own meta is served as it says; one that fails is 500 without a word of it",
    ],
  },
  { id: "7.33", text: "Recorded requests:", reason: "the heading of the next sentence" },
  { id: "7.34", text: "`test/vectors/http.json`.", proofs: ['test/vectors/vectors.test.ts › "http.json": 119'] },
  {
    id: "8.1",
    text: "Memory of the process, per tool, keyed by (nonce, input hash); an entry also knows its leader id and key id.",
    proofs: [
      "test/runtime/replay-http.test.ts › another nonce, and another tool, run beside it",
      "test/runtime/replay-http.test.ts › 409 for another hash of a nonce in flight; side by side afterwards",
      "test/runtime/replay-http.test.ts › passes authorize on a new instance, then gets the cached answer, signed for it",
      "test/runtime/replay-http.test.ts › another key's refusal replaces it",
    ],
  },
  {
    id: "8.2",
    text: "Look-up of (nonce, hash): complete → the cached answer; in flight → 409.",
    proofs: [
      "test/runtime/replay-http.test.ts › an exact retry does not run again and gets the same bytes",
      "test/runtime/replay-http.test.ts › 409 for the same pair in flight, from anybody",
      "test/runtime/replay.test.ts › every claim, end and count agrees, and the bound holds throughout",
    ],
  },
  {
    id: "8.3",
    text: "Otherwise, when another entry of that nonce is in flight → 409.",
    proofs: [
      "test/runtime/replay-http.test.ts › 409 for another hash of a nonce in flight; side by side afterwards",
      "test/runtime/replay.test.ts › complete comes before the nonce rule",
    ],
  },
  {
    id: "8.4",
    text: "Otherwise it runs.",
    proofs: [
      "test/runtime/replay-http.test.ts › another nonce, and another tool, run beside it",
      "test/runtime/replay-http-overlap.test.ts › requests, each sent three times in random overlap, run the tool",
    ],
  },
  {
    id: "8.5",
    text: "★ Entries of one nonce with several hashes live side by side until their own TTL.",
    proofs: [
      "test/runtime/replay-http.test.ts › 409 for another hash of a nonce in flight; side by side afterwards",
      "test/runtime/replay.test.ts › another entry of the nonce: in flight while it runs, side by side when complete",
    ],
  },
  {
    id: "8.6",
    text: "Every end of a run completes its entry: success, 403, 422 from decoding, 500, 504.",
    proofs: [
      'test/runtime/replay-http.test.ts › describe("every end of a run completes its entry"',
      "test/runtime/replay.test.ts › every end completes the entry: ${status}",
    ],
  },
  {
    id: "8.7",
    text: "An exact retry within the TTL gets the same status and body without running the tool; a success is signed again over the retry's own leader signature, the nonce and the cached body, with the key then current (none: unsigned).",
    proofs: [
      "test/runtime/replay-http.test.ts › an exact retry does not run again and gets the same bytes",
      "test/runtime/replay-http.test.ts › a result that differs each time is the first one for every retry",
      "test/runtime/replay-http.test.ts › with the key then current; none: unsigned",
      "test/runtime/replay-http.test.ts › only where the kept signature is not the one: for another leader, and where a store does not keep it",
    ],
  },
  {
    id: "8.8",
    text: "★ A retry of a completed entry by another leader or key first passes `authorize` on a new instance, under the deadline (its refusal or fault is answered and not cached), and then gets the cached answer; a cached 403 is never given to another leader or key: that request runs, and its end replaces the entry.",
    proofs: [
      "test/runtime/replay-http.test.ts › passes authorize on a new instance, then gets the cached answer, signed for it",
      "test/runtime/replay-http.test.ts › a refusal is answered and not cached",
      "test/runtime/replay-http.test.ts › its authorize ${what}: answered and not cached",
      "test/runtime/replay-http.test.ts › a construction that fails for it is answered and not cached",
      "test/runtime/replay-http.test.ts › is given to its own leader and key, never to another: that request runs, and its end replaces the entry",
    ],
  },
  {
    id: "8.9",
    text: "401, envelope faults and `input_integrity_error` never enter (they come before the check).",
    proofs: ['test/runtime/replay-http.test.ts › 401, envelope faults and input_integrity_error"'],
  },
  {
    id: "8.10",
    text: "★ A caller that disconnects does not release its entry, and in signed mode the tool is not told: the run goes on and its end completes the entry, so that the retry gets the result and no tool runs twice. (In unsigned mode the `AbortSignal` fires with reason `disconnect`.)",
    proofs: [
      "test/runtime/replay-http.test.ts › does not release its entry, and the tool is not told: the run goes on and the retry gets its result",
      "test/runtime/replay-http.test.ts › its run that fails or times out is cached as well",
      "test/runtime/unsigned.test.ts › fires the signal with reason disconnect, whether or not it was asked for before",
    ],
  },
  {
    id: "8.11",
    text: "At the deadline the entry completes at once with 504 (a retry gets that 504, never a second run); ★ the signal fires with reason `timeout`, the late result is discarded and counted, and the TTL counts from when the tool settles.",
    proofs: [
      "test/runtime/replay-http.test.ts › of a timed out run it counts from when the tool settles: a 504 until then, never a second run",
      "test/runtime/replay-http.test.ts › if (status === 504) await wait(60);",
      "test/runtime/invoke-faults.test.ts › the signal fires with reason timeout, the late result is discarded and logged",
      "test/runtime/replay.test.ts › of a held entry counts from the settling of the tool",
      "test/runtime/admin.test.ts › count calls by tool, status and code, replays, late results and what is refused before a tool",
    ],
  },
  {
    id: "8.12",
    text: "Otherwise it counts from completion; at age = TTL the entry is gone.",
    proofs: [
      "test/runtime/replay-http.test.ts › counts from completion; at that age the entry is gone and the request runs",
      "test/runtime/replay.test.ts › counts from completion: there at TTL − 1, gone at TTL, in look-up and in memory",
    ],
  },
  {
    id: "8.13",
    text: "Time is monotonic.",
    proofs: [
      "test/requirements/section-8.test.ts › a time of day that jumps ahead ends no entry, one that jumps back keeps none alive",
    ],
  },
  {
    id: "8.14",
    text: "★ At shutdown the signal fires with reason `shutdown` after the drain limit; a run that then ends in a throw is answered 503 and not cached.",
    proofs: [
      "test/runtime/invoke-shutdown.test.ts › the signal fires with reason shutdown; a run that then throws is 503 shutting_down and not cached",
      "test/runtime/invoke-shutdown.test.ts › a throw of ${part} as well",
      "test/runtime/invoke-shutdown.test.ts › a run that ends otherwise is answered and cached: a result, a refusal, a result that does not conform",
      "test/runtime/shutdown.test.ts › after the drain limit the signals of tools fire; what is cut short is told 503 and the process exits 3",
    ],
  },
  {
    id: "8.20",
    text: "★ One that has not ended 2 s later is answered 503 too; its entry stays in flight.",
    proofs: [
      "test/runtime/shutdown.test.ts › has the same bounds: a call that never ends is told why and cut",
      "test/runtime/shutdown.test.ts › the entry of a run that was cut stays in flight: nobody knows how far it came",
    ],
  },
  {
    id: "8.15",
    text: "★ The store is bounded in bytes for the whole process (entries and cached bodies accounted; 512 MiB by default, set in code; start-up logs the rate that this sustains over the TTL).",
    proofs: [
      "test/runtime/replay.test.ts › is 512 MiB by default; 1 MiB and the largest safe integer are taken",
      "test/runtime/replay.test.ts › counts runs in flight with the largest body that they may come to hold",
      "test/runtime/replay.test.ts › full of live entries refuses new runs, keeps every entry, and recovers as they expire",
      "test/runtime/replay.test.ts › names the rate that it sustains",
      "test/runtime/replay-http.test.ts › start-up logs the rate that the store sustains",
      'test/runtime/bootstrap.test.ts › ["too small a replay memory"',
    ],
  },
  {
    id: "8.16",
    text: "When full of live entries a new invocation gets 503 `replay_store_full`: an unexpired entry is never evicted.",
    proofs: [
      "test/runtime/replay-http.test.ts › 503 replay_store_full with Retry-After, never cached; what lives is never evicted",
      "test/runtime/replay.test.ts › full of live entries refuses new runs, keeps every entry, and recovers as they expire",
    ],
  },
  {
    id: "8.17",
    text: "Expiry costs nothing per request (the Rust system scans every live entry on each request, and is unbounded).",
    proofs: [
      "test/runtime/replay-cost.test.ts › 100,000 entries come and go at a cost that does not depend on how many there are",
    ],
  },
  {
    id: "8.18",
    text: "The store is an interface; memory is the default.",
    proofs: [
      "test/runtime/replay-http.test.ts › ${what} is 503 replay_store_unavailable, logged; nothing ran",
      "test/runtime/replay-http.test.ts › start-up logs the rate that the store sustains",
    ],
  },
  {
    id: "8.21",
    text: "This version has the memory only; what follows is the contract of the shared store to come.",
    reason: "what is built and what is not",
  },
  {
    id: "8.19",
    text: "For several processes the same states live in an external store shared by all replicas, injected in code or named by the environment (the config file has no field for it): an in-flight entry there has a lease of the timeout plus 30 s, renewed by its owner; after a lapsed lease the pair stays 409 until its TTL, then runs.",
    owner: "shared replay",
  },
  {
    id: "8.22",
    text: "★ In a shared store: a claim that cannot be made, or whose answer does not come, is 503 `replay_store_unavailable`, and nothing runs; the result of a run that was claimed is always delivered.",
    proofs: [
      "test/runtime/replay-http.test.ts › ${what} is 503 replay_store_unavailable, logged; nothing ran",
      "test/runtime/replay-http.test.ts › never settles is 503 once its time is over; one that settles late is given back",
      "test/runtime/replay-http.test.ts › ${end}: the caller has its answer, the log says so, and no byte stays counted",
    ],
  },
  {
    id: "8.23",
    text: "Time is the store's; the TTL is the one in force at completion; while a lapsed or lost claim of a nonce lasts, other hashes of that nonce are 409 too.",
    owner: "shared replay",
  },
  {
    id: "8.24",
    text: "After the store has lost data or changed its instance, new runs are 503 for a grace period in which processes report their runs and recent ends again.",
    owner: "shared replay",
  },
  {
    id: "8.25",
    text: "A result found there is signed anew only if the tool's own signature kept with it verifies.",
    owner: "shared replay",
  },
  {
    id: "8.26",
    text: "Guaranteed: at most one run within lease plus TTL as long as the store keeps what it acknowledged, or loses it while the claiming process lives; not across split brain, a pause beyond lease plus TTL, or loss together with the process.",
    owner: "shared replay",
  },
  {
    id: "9.1",
    text: "A tool with path `a/b` serves `/a/b/health`, `/a/b/meta`, `/a/b/invoke` (empty segments dropped; the default path is the root).",
    proofs: [
      'test/runtime/serve.test.ts › [nested, "/a/b/invoke"]',
      'test/runtime/serve.test.ts › "/a//b/invoke"',
      "test/runtime/meta.test.ts › is the document, its members in order, the schemas in their textual order",
      'test/requirements/section-9.test.ts › "is at the root"',
    ],
  },
  {
    id: "9.2",
    text: "★ Paths match exactly, byte for byte, after the query is cut: no decoding, no trailing slash, case-sensitive; HEAD is answered on health only; two tools on one path or with one FQN are a start-up error.",
    proofs: [
      'test/runtime/serve.test.ts › [escaped, "/sp%20ace/invoke"]',
      'test/runtime/serve.test.ts › [sum, "/sum/invoke?a?/b%zz"]',
      'test/runtime/serve.test.ts › "/s%75m/invoke"',
      'test/runtime/serve.test.ts › "/sum/invoke/"',
      'test/runtime/serve.test.ts › "/SUM/invoke"',
      'test/runtime/serve.test.ts › ["/tools", "GET", ["POST", "HEAD"',
      'test/runtime/serve.test.ts › ["/sum/meta", "GET", ["POST", "HEAD"',
      'test/runtime/serve.test.ts › ["GET", "HEAD", "PUT"',
      "test/runtime/meta.test.ts › with an empty body, to HEAD too",
      'test/runtime/bootstrap.test.ts › "two tools on one path"',
      'test/runtime/bootstrap.test.ts › "two tools of one name"',
      'test/runtime/bootstrap.test.ts › "two tools at the root"',
    ],
  },
  {
    id: "9.3",
    text: "`GET /health` answers the status from the tool's `health()` with an empty body, 500 if it or `new` throws, ★ 503 past the tool's timeout; ★ a tool has one check at a time, and requests that come while it runs share its status.",
    proofs: [
      "test/runtime/meta.test.ts › one check at a time: 2,000 pipelined requests",
      "test/runtime/meta.test.ts › with an empty body, to HEAD too",
      "test/runtime/meta.test.ts › 500 when ${what}, and the log has it",
      "test/runtime/meta.test.ts › 503 past the tool's timeout, also when it keeps the event loop busy",
    ],
  },
  {
    id: "9.4",
    text: "When no tool is at the root, `/health` answers 200.",
    proofs: ["test/runtime/meta.test.ts › /health answers 200 when no tool is at the root; the tool's, when one is"],
  },
  {
    id: "9.5",
    text: "`GET /tools` lists the tools' `path()` texts as a JSON array.",
    proofs: ["test/runtime/meta.test.ts › lists the path() texts as they are, in the order of the tools"],
  },
  { id: "9.6", text: "`GET /meta`:", reason: "the heading of the next sentence" },
  {
    id: "9.7",
    text: '`{"fqn","url","timeout","description","input_schema","output_schema"}` in this order; `timeout` in milliseconds; `url` = scheme `X-Forwarded-Proto` (only `http`/`https`, default `http`, ★ `https` when this process terminates TLS), host `X-Forwarded-Host` else `Host` (a name, IPv4 or bracketed IPv6 address, with an optional port; a list, spaces or user information are malformed), path without `meta` (ends in `/`).',
    proofs: [
      "test/runtime/meta.test.ts › is the document, its members in order, the schemas in their textual order",
      "test/runtime/meta.test.ts › it(`url by ${what}`",
      "test/runtime/meta.test.ts › 400 host_header_required for ${JSON",
      "test/runtime/meta.test.ts › 400 invalid_scheme for ${JSON",
      "test/runtime/meta.test.ts › of a tool at the root ends in the root",
      "test/runtime/tls.test.ts › the metadata's url is https",
    ],
  },
  {
    id: "9.8",
    text: "`--meta` prints a pretty JSON array (two spaces, final newline), one document a tool, and exits 0 without listening, without reading configuration; its `url` is `http://localhost/` for an empty path, else `http://localhost` + the path with a leading `/` added if missing and nothing else changed.",
    proofs: [
      "test/runtime/bootstrap.test.ts › prints one document a tool, members in textual order, and exits 0 without listening or reading configuration",
      "test/runtime/bootstrap.test.ts › url: localhost and the path, a leading slash added if missing and nothing else changed",
    ],
  },
  {
    id: "9.9",
    text: "`meta.json` holds exactly what `--meta` prints; svc-gen writes it without running the tool, and diagnoses a tool that overrides `meta` or whose static facts cannot be evaluated.",
    proofs: [
      "test/e2e/examples.test.ts › meta.json is what --meta prints",
      'test/generator/generated.test.ts › assert.equal(served.stdout, readFileSync(join(project.root, "meta.json"), "utf8"));',
      "test/requirements/section-9.test.ts › writes meta.json without running the tool",
      "test/requirements/section-9.test.ts › diagnoses a tool that overrides meta, at its place",
      "test/generator/classes.test.ts › SVC113 src/a.ts",
      "test/generator/classes.test.ts › SVC113 src/g.ts",
    ],
  },
  {
    id: "9.10",
    text: "Address: the `bootstrap` argument, else the environment's `BIND_ADDR` (an IP literal and port, `127.0.0.1:8080` or `[::1]:8080`; anything else is a start-up error), else `127.0.0.1:8080`.",
    proofs: [
      "test/runtime/bootstrap.test.ts › the address as an argument goes before the environment's",
      'test/runtime/bootstrap.test.ts › ["IPv4", "127.0.0.1:0"',
      'test/runtime/bootstrap.test.ts › ["IPv6", "[::1]:0"',
      "test/runtime/bootstrap.test.ts › is a start-up error`",
      "test/runtime/bootstrap.test.ts › without address and environment: 127.0.0.1:8080",
    ],
  },
  { id: "10.1", text: "As in the specification:", reason: "the heading of the next sentence" },
  {
    id: "10.2",
    text: "`SVC_TOOLKIT_CONFIG_PATH` (set but empty is an error); one strict JSON object: unknown or repeated members fail (★ a repeated tool id too).",
    proofs: [
      "test/runtime/bootstrap.test.ts › SVC_TOOLKIT_CONFIG_PATH that is empty, names nothing, or names what is no configuration",
      "test/runtime/config.test.ts › set but empty is an error",
      "test/runtime/config.test.ts › a repeated tool id fails, written the same way or escaped",
      "test/runtime/config.test.ts › the document must hold each member once, got a repeated one; remove it",
      "test/runtime/config.test.ts › must hold only mode, allowed_leaders_path, allowed_leaders, tools",
      'test/vectors/vectors.test.ts › "config.json": 72',
    ],
  },
  {
    id: "10.3",
    text: "`null` is absent for `invoke_max_body_bytes`, `signed_http`, the two allow-list members, `response_signing_key` and `replay_cache_ttl_ms`; elsewhere it fails. u64 values are exact (`invokeMaxBodyBytes()` is a bigint); integers only (`1024.0` fails).",
    proofs: [
      "test/runtime/config.test.ts › null is absent exactly where the contract says so",
      "test/runtime/config.test.ts › u64 is exact, and integers only",
      "test/runtime/config.test.ts › still asks for known and present members of the right kind",
      'test/vectors/vectors.test.ts › "config.json": 72',
    ],
  },
  { id: "10.4", text: "Verdicts:", reason: "the heading of the next sentence" },
  {
    id: "10.5",
    text: "`test/vectors/config.json`.",
    proofs: ['test/vectors/vectors.test.ts › "config.json": 72', 'test/runtime/config.test.ts › "there are 72"'],
  },
  { id: "10.6", text: "Allowed leaders:", reason: "the heading of the next sentence" },
  {
    id: "10.7",
    text: '`{"version":1,"leaders":[{"leader_id":TEXT,"keys":[{"kid":u64,"public_key":HEX}]}]}`; exactly 32 bytes of hex, any case, `0x` (not `0X`) allowed, no whitespace; a repeated (leader_id, kid) fails.',
    proofs: [
      "test/runtime/allowed-leaders.test.ts › finds exactly the listed ids and keys",
      'test/runtime/allowed-leaders.test.ts › "a repeated kid"',
      'test/runtime/allowed-leaders.test.ts › "a repeated kid in another entry of the leader"',
      'test/runtime/allowed-leaders.test.ts › ["version 2"',
      'test/runtime/allowed-leaders.test.ts › "an unknown member"',
      "test/runtime/keys.test.ts › takes 64 hex digits in any case, with or without 0x",
      'test/runtime/keys.test.ts › ["0X", `0X${hex}`, "a text with other characters"]',
      'test/runtime/keys.test.ts › ["white space", ` ${hex}`',
      'test/runtime/keys.test.ts › ["31 bytes", hex.slice(2)',
    ],
  },
  {
    id: "10.8",
    text: "★ A key that the strict verification could never accept (not a curve point, non-canonical, small order) fails at load.",
    proofs: [
      'test/runtime/allowed-leaders.test.ts › ["not a point"',
      'test/runtime/allowed-leaders.test.ts › "not canonical"',
      'test/runtime/allowed-leaders.test.ts › ["small order"',
      'test/runtime/keys.test.ts › ["no curve point"',
      'test/runtime/keys.test.ts › ["p + 3, a curve point not in canonical form"',
      'test/runtime/keys.test.ts › ["small order 8\'"',
    ],
  },
  {
    id: "10.9",
    text: "`response_signing_key`: surrounding ASCII whitespace trimmed; 64 or 66 hex digits, with or without `0x`; ★ anything else, even when it begins with `0x`, is base64 or base64url (not mixed), with or without padding, no stray bits; 32 bytes, or 33 with a leading zero flag.",
    proofs: [
      "test/runtime/keys.test.ts › takes ${name}, with ASCII white space around it",
      "test/runtime/keys.test.ts › takes base64 that begins with 0x",
      'test/runtime/keys.test.ts › ["mixed alphabets"',
      'test/runtime/keys.test.ts › ["stray bits", ',
      'test/runtime/keys.test.ts › ["hex with another flag"',
      'test/runtime/keys.test.ts › ["31 bytes", seed',
      'test/runtime/keys.test.ts › ["no-break space around"',
      'test/runtime/keys.test.ts › ["128 digits"',
    ],
  },
  {
    id: "10.10",
    text: "With signed mode required, a served tool without an entry in `tools` is a start-up error; tool ids need not be FQNs of served tools.",
    proofs: [
      'test/runtime/bootstrap.test.ts › "signed mode without an entry"',
      'test/runtime/bootstrap.test.ts › "an entry under another spelling"',
      "test/runtime/config.test.ts › a tool id is compared exactly and need not be a name",
      'test/vectors/vectors.test.ts › "config.json": 72',
    ],
  },
  {
    id: "10.11",
    text: "With `mode: disabled` members must still be known, present and of the right type (text, u64, array, object; `version` 0 to 255), values (keys, versions, TTL, files) are not checked, and `hasTool` is false.",
    proofs: [
      "test/runtime/config.test.ts › leaves values unchecked",
      "test/runtime/config.test.ts › still asks for known and present members of the right kind",
    ],
  },
  {
    id: "10.12",
    text: "A missing or invalid allow-list file is a start-up error; with both sources given the path is never opened.",
    proofs: [
      "test/runtime/allowed-leaders.test.ts › a missing or unreadable file is named, whatever it is instead",
      "test/runtime/allowed-leaders.test.ts › is named with its place",
      "test/runtime/config.test.ts › with both sources the path is never opened",
    ],
  },
  {
    id: "10.13",
    text: "The config file is watched (atomic replacement and symlink swaps included); an invalid or unreadable new version leaves the old one in force and is logged.",
    proofs: [
      "test/runtime/watch.test.ts › is put in force once, renamed, rewritten or appended, whatever its size and times",
      "test/runtime/watch.test.ts › is seen through the links of a ConfigMap, which swaps ..data",
      "test/runtime/watch.test.ts › of every kind is told once, and the version in force is good again when it returns",
      "test/runtime/reload.test.ts › is told with its place, and leaves the last good one in force until the next",
    ],
  },
  {
    id: "10.14",
    text: "★ A reload may change leaders, keys and TTLs only: a version that changes the mode, or drops a served tool, is refused whole (the specification fixes the mode at configuration time); a changed `invoke_max_body_bytes` is logged as waiting for a restart.",
    proofs: [
      "test/runtime/reload.test.ts › the mode, in both directions",
      "test/runtime/reload.test.ts › a served tool's entry",
      "test/runtime/reload.test.ts › invoke_max_body_bytes waits for a restart, said once",
    ],
  },
  {
    id: "10.15",
    text: "An allow-list given by path is checked at each look-up (inode, size, modification time) and re-read when it changed, so that a change takes effect on the next request; an unreadable or invalid one leaves the previous list and is logged.",
    proofs: [
      "test/requirements/section-10.test.ts › takes effect on the next request; an invalid or missing one leaves the previous list and is logged",
      "test/runtime/allowed-leaders.test.ts › is read again at the next look-up, in place or replaced, whatever its size and times",
      "test/runtime/allowed-leaders.test.ts › is compared at each look-up, by inode, size and time of change, and read again for any of them",
      "test/runtime/allowed-leaders.test.ts › is read again under the same stamp as long as it is young",
      "test/runtime/allowed-leaders.test.ts › is followed through symlink swaps",
      "test/runtime/allowed-leaders.test.ts › keeps the previous list while it is gone or invalid, warns once of each failure, and comes back",
    ],
  },
  { id: "10.16", text: "TLS:", reason: "the heading of the next sentence" },
  {
    id: "10.17",
    text: "`SVC_TOOL_TLS_CERT_PATH` and `SVC_TOOL_TLS_KEY_PATH` both set and non-empty, or both absent; anything else, or unreadable, empty, encrypted or mismatched files, is a start-up error before the port is bound.",
    proofs: [
      "test/runtime/tls.test.ts › come before a port that is taken",
      "test/runtime/tls.test.ts › the key of another certificate",
      "test/runtime/tls.test.ts › none of them: neither variable, a chain",
    ],
  },
  { id: "11.1", text: "No events are emitted beyond logs.", reason: "says what there is not" },
  {
    id: "11.2",
    text: "Endpoints and the metadata document are not versioned.",
    proofs: [
      "test/runtime/meta.test.ts › is the document, its members in order, the schemas in their textual order",
      "test/runtime/bootstrap.test.ts › prints one document a tool, members in textual order",
    ],
  },
  {
    id: "11.3",
    text: "There is no abort mode: an exception outside a call is logged and does not end the process.",
    proofs: ["test/runtime/bootstrap.test.ts › are logged and do not end the process"],
  },
  {
    id: "11.4",
    text: "TLS uses Node's own OpenSSL, the only provider.",
    reason: "node:tls is the only TLS that test/boundaries.test.ts lets the server import",
  },
  {
    id: "11.5",
    text: "Evidence of the registered-key kind needs a `response_signing_key`: a tool served in signed mode without one is named once in the log at start.",
    proofs: [
      "test/runtime/invoke-auth.test.ts › a result carries no header of the protocol, and the tool is named once in the log at start",
    ],
  },
  {
    id: "11.6",
    text: "Receivers must be upgraded before senders use `bytes`: the operators' documentation says so.",
    proofs: ["test/requirements/section-11.test.ts › tells operators to upgrade receivers before senders use bytes"],
  },
  {
    id: "11.7",
    text: "`WithSerdeErrorPath` has its counterpart: a wrapper with one public field `value` and the pair `fromJson(codec, bytes)` / `toJson(codec)` over a generated codec, whose errors carry the member's path both ways.",
    proofs: [
      "test/requirements/section-11.test.ts › holds one public field, and reads and writes it by a codec",
      "test/requirements/section-11.test.ts › names the member in its errors, both ways",
    ],
  },
];
