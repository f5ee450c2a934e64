/** Shapes of the structures encoded as BCS: ports, values and commitments (protocol.md section 3). */

/** Kind of a port's values: object ids, or data. */
export type ValueKind = "object" | "data";

/** One port in the on-chain schema. */
export interface PortShape {
  readonly name: string;
  readonly many: boolean;
}

/** One output variant in the on-chain schema. */
export interface VariantShape {
  readonly name: string;
  readonly ports: readonly PortShape[];
}

/** The ports of a tool, in schema order. svc-gen generates data ports only. */
export interface MetaSchema {
  readonly inputPorts: readonly PortShape[];
  readonly outputVariants: readonly VariantShape[];
}

/** The fields of one value, unchecked; data.ts validates them. */
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

/** A result in wire order: names and values. */
export interface RawOutput {
  readonly tag: string;
  readonly ports: readonly { readonly name: string; readonly values: readonly RawValue[] }[];
}
