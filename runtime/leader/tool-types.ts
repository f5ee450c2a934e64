/** The types of a tool class as its callers see them. Nothing of this exists at run time. */

import type { DataReference, WalrusValue } from "../wire/data.js";
import type { JsonText } from "./request.js";

/** A tool class, reduced to its types. */
export interface ToolType {
  readonly prototype: { readonly __io: { readonly input: unknown; readonly output: unknown } };
}

/** The types of a tool whose class is not known. */
export interface UntypedTool extends ToolType {
  readonly prototype: { readonly __io: { readonly input: object; readonly output: unknown } };
}

/** The `Input` of a tool class. */
export type InputOf<Tool extends ToolType> = Tool["prototype"]["__io"]["input"];

/**
 * The `Input` of a tool class as a client sends it: any value, or item of a list, may be a text that is sent unchanged. Of
 * a tool without types any object.
 */
export type SentInput<Tool extends ToolType> =
  object extends InputOf<Tool> ? object : { [Name in keyof InputOf<Tool>]: SentValue<InputOf<Tool>[Name]> };

type SentValue<Value> =
  | Value
  | JsonText
  | (Value extends readonly (infer Item)[] ? readonly (Item | JsonText)[] : never);

/** The reserved failure result, made by `errEval`. */
export interface ErrEvalOutput {
  _err_eval: { reason: string };
}

/**
 * What a caller receives of a tool class: its `Output`, a reference in place of data that is stored elsewhere, or the
 * failure result. Of a tool without types `unknown`.
 */
export type OutputOf<Tool extends ToolType> =
  unknown extends ReturnedBy<Tool> ? unknown : Received<ReturnedBy<Tool>> | ErrEvalOutput;

type ReturnedBy<Tool extends ToolType> = Tool["prototype"]["__io"]["output"];

type Received<Output> = Output extends string
  ? Output
  : Output extends object
    ? { [Tag in keyof Output]: { [Name in keyof Output[Tag]]: ReceivedPort<Output[Tag][Name]> } }
    : never;

/** The reference types of a port, or `never`. */
type ReferenceOf<Port> = Extract<Port, DataReference<unknown>>;

type ReceivedPort<Port> = [ReferenceOf<Port>] extends [never]
  ? Port extends readonly (infer Item)[]
    ? [ReferenceOf<Item>] extends [never]
      ? Port
      : ReceivedValue<Item>[]
    : Port
  : ReceivedValue<Port>;

type ReceivedValue<Value> = Exclude<Value, DataReference<unknown>> | WalrusValue;
