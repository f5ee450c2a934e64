import type { Contract } from "svc-runtime/v1";
export const contracts: readonly Contract[] = [
  {
    fqn: "xyz.demo.sum@1",
    description: "Adds two integers.",
    path: "sum",
    timeout: 10000,
    inputSchema: '{"type":"object","properties":{"a":{"type":"integer","format":"int64"},"b":{"type":"integer","format":"int64"},"label":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"note":{"type":["string","null"]}},"required":["a","b","label","tags"]}',
    outputSchema: '{"oneOf":[{"type":"object","properties":{"ok":{"type":"object","properties":{"sum":{"type":"integer","format":"int64"},"label":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["sum","label","tags"]}},"required":["ok"],"additionalProperties":false},{"type":"object","properties":{"err":{"type":"object","properties":{"reason":{"type":"string"}},"required":["reason"]}},"required":["err"],"additionalProperties":false}]}',
    input: [
      { name: "a", many: false, codec: { kind: "bigint", format: "int64" } },
      { name: "b", many: false, codec: { kind: "bigint", format: "int64" } },
      { name: "label", many: false, codec: { kind: "string" } },
      { name: "tags", many: true, codec: { kind: "string" } },
      { name: "note", many: false, optional: true, codec: { kind: "string" } },
    ],
    output: [
      { name: "ok", ports: [
        { name: "sum", many: false, codec: { kind: "bigint", format: "int64" } },
        { name: "label", many: false, codec: { kind: "string" } },
        { name: "tags", many: true, codec: { kind: "string" } },
      ] },
      { name: "err", ports: [{ name: "reason", many: false, codec: { kind: "string" } }] },
    ],
    validateInput: () => true,
  },
];
