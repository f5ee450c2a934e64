/** The bytes of an output port's value, for a tool that stores it. */

import { contractOf } from "./contracts.js";
import type { Contract } from "./wire/contract.js";
import type { DataReference, Encoded } from "./wire/data.js";
import { OutputEncoder } from "./wire/output.js";
import { sharedBytes } from "./wire/shared-bytes.js";

/** A tool class, as far as its output is concerned. */
interface ToolOf<Output> {
  fqn(): string;
  readonly prototype: { readonly __io: { readonly output: Output } };
}

type TagOf<Output> = Output extends object ? keyof Output & string : never;
type PayloadOf<Output, Tag extends string> = Output extends { readonly [name in Tag]: infer Payload } ? Payload : never;

/** What stands for the data of a port, if anything does. */
type ReferenceOf<Port> = Extract<Port, DataReference<unknown>>;

/** What is read where the port is: the T of a `DataRef<T>`; of a list one item. */
type ContentOf<Port> = [ReferenceOf<Port>] extends [never]
  ? Port extends readonly (infer Item)[]
    ? ContentOf<Item>
    : Port
  : ReferenceOf<Port> extends DataReference<infer T>
    ? T
    : never;

const encoders = new WeakMap<Contract, OutputEncoder>();

/**
 * The JSON text of one value of an output port, exactly as the runtime writes it inline: checked against the contract,
 * members in the order of the schema, integers exact. The same value has the same bytes, so that it is stored once; and
 * what does not fit its port is found before anything is paid. The bytes are in shared memory, so that an upload makes no
 * copy of them.
 *
 * ```ts
 * const report = await storage.upload(portJson(Render, "ok", "report", pages));
 * return { ok: { report } };
 * ```
 *
 * @param tool the class, once its contract is known: in a tool that is served, always
 * @param value of a list port one item
 * @throws {@link WireFault} `output_serialization_error` with port and reason; TypeError for a tool without a contract
 */
export function portJson<Output, Tag extends TagOf<Output>, Port extends keyof PayloadOf<Output, Tag> & string>(
  tool: ToolOf<Output>,
  tag: Tag,
  port: Port,
  value: ContentOf<PayloadOf<Output, Tag>[Port]>,
): Encoded<ContentOf<PayloadOf<Output, Tag>[Port]>> {
  const contract = contractOf(tool.fqn());
  if (contract === undefined)
    throw new TypeError(`${tool.fqn()} has no contract: run svc-gen and provide what it wrote`);
  let encoder = encoders.get(contract);
  if (encoder === undefined) {
    encoder = new OutputEncoder(contract);
    encoders.set(contract, encoder);
  }
  return sharedBytes(encoder.text(tag, port, value));
}
