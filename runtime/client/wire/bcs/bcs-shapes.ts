/** Structures that are encoded as BCS: ports, values and commitments (protocol.md section 3). */

export type ValueKind = "object" | "data";

/** One input or output port in the on-chain schema. */
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

/** Fields of one value, not validated; data.ts validates them. */
export type RawValue =
  | { readonly kind: "object"; readonly id: Uint8Array }
  | { readonly kind: "inline"; readonly bytes: Uint8Array }
  | { readonly kind: "walrus"; readonly blobId: Uint8Array; readonly contentDigest: Uint8Array };

/** Result in wire order: variant and ports. */
export interface RawOutput {
  readonly tag: string;
  readonly ports: readonly { readonly name: string; readonly values: readonly RawValue[] }[];
}
