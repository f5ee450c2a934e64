/** What is written as BCS: ports, values and commitments (protocol.md section 3). */

/** What the values of a port are: object ids, or data. */
export type ValueKind = "object" | "data";

/** One port as the chain sees it. */
export interface PortShape {
  readonly name: string;
  readonly many: boolean;
}

/** One output variant as the chain sees it. */
export interface VariantShape {
  readonly name: string;
  readonly ports: readonly PortShape[];
}

/** The ports of a tool, in schema order; svc-gen makes data ports only. */
export interface MetaSchema {
  readonly inputPorts: readonly PortShape[];
  readonly outputVariants: readonly VariantShape[];
}

/** One value by its fields; whether they are allowed is checked where values are made (data.ts). */
export type RawValue =
  | { readonly kind: "object"; readonly id: Uint8Array }
  | { readonly kind: "inline"; readonly bytes: Uint8Array }
  | { readonly kind: "walrus"; readonly blobId: Uint8Array; readonly contentDigest: Uint8Array };

/** The commitment of one port: a 32-byte hash for each of its values. */
export interface PortCommitment {
  readonly many: boolean;
  readonly kind: ValueKind;
  readonly commitments: readonly Uint8Array[];
}

/** A result as it goes over the wire: names and values in order. */
export interface RawOutput {
  readonly tag: string;
  readonly ports: readonly { readonly name: string; readonly values: readonly RawValue[] }[];
}
