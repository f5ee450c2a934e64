import type { DataReference, Encoded, ReferenceOf } from "svc-client/internal/wire/bcs/data";
import { outputEncoderOf } from "./output-encoders.js";

/** A tool class, reduced to its name and its output type. */
interface ToolOf<Output> {
  fqn(): string;
  readonly prototype: { readonly __io: { readonly output: Output } };
}

type TagOf<Output> = Output extends object ? keyof Output & string : never;
type PayloadOf<Output, Tag extends string> = Output extends { readonly [name in Tag]: infer Payload } ? Payload : never;

/** Content type of a port: the T of a `DataRef<T>`; for a list, the type of an item. */
type ContentOf<Port> = [ReferenceOf<Port>] extends [never]
  ? Port extends readonly (infer Item)[]
    ? ContentOf<Item>
    : Port
  : ReferenceOf<Port> extends DataReference<infer T>
    ? T
    : never;

/**
 * JSON text of one value of an output port, exactly as the runtime writes it inline: checked against the contract, with
 * members in schema order and exact integers. Equal values have equal bytes, so they are stored once.
 *
 * @example
 * ```ts
 * import { portJson } from "svc-runtime";
 * import type { WalrusStorage } from "svc-runtime-storage";
 * import { Sum } from "./sum.js";
 *
 * export const storeSum = (storage: WalrusStorage, sum: bigint) => storage.upload(portJson(Sum, "ok", "sum", sum));
 * ```
 *
 * @param tool the tool class; its contract must be registered, as in every running server
 * @param value the value of the port; one item for a list port
 * @throws {@link WireFault} `output_serialization_error` with port and reason; TypeError if the tool has no contract
 */
export function portJson<Output, Tag extends TagOf<Output>, Port extends keyof PayloadOf<Output, Tag> & string>(
  tool: ToolOf<Output>,
  tag: Tag,
  port: Port,
  value: ContentOf<PayloadOf<Output, Tag>[Port]>,
): Encoded<ContentOf<PayloadOf<Output, Tag>[Port]>> {
  return Buffer.from(outputEncoderOf(tool.fqn()).text(tag, port, value));
}
