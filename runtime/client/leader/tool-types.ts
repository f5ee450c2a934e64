import type { DataReference, ReferenceOf, WalrusValue } from "../wire/bcs/data.js";
import type { JsonText } from "./request/request.js";

export interface ToolType {
  readonly prototype: { readonly __io: { readonly input: unknown; readonly output: unknown } };
}

/** Types of a tool whose class is unknown. */
export interface UntypedTool extends ToolType {
  readonly prototype: { readonly __io: { readonly input: object; readonly output: unknown } };
}

export type InputOf<Tool extends ToolType> = Tool["prototype"]["__io"]["input"];

/**
 * `Input` of a tool class as a client sends it: any value, or item of a list, may be a {@link JsonText}. For an untyped
 * tool, any object.
 */
export type SentInput<Tool extends ToolType> =
  Same<InputOf<Tool>, object> extends true
    ? object
    : keyof InputOf<Tool> extends never
      ? Readonly<Record<string, never>>
      : { [Name in keyof InputOf<Tool>]: SentValue<InputOf<Tool>[Name]> };

/** Whether two types are identical, not only assignable to each other. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

type SentValue<Value> =
  | Value
  | JsonText
  | (Value extends readonly (infer Item)[] ? readonly (Item | JsonText)[] : never);

/** Reserved failure result, created by `errEval`. */
export interface ErrEvalOutput {
  _err_eval: { reason: string };
}

/**
 * Output that a caller receives: the `Output` of the class, with references instead of stored values, or the failure
 * result. For an untyped tool, `unknown`.
 */
export type OutputOf<Tool extends ToolType> =
  unknown extends ReturnedBy<Tool> ? unknown : Received<ReturnedBy<Tool>> | ErrEvalOutput;

type ReturnedBy<Tool extends ToolType> = Tool["prototype"]["__io"]["output"];

type Received<Output> = Output extends string
  ? Output
  : Output extends object
    ? { [Tag in keyof Output]: { [Name in keyof Output[Tag]]: ReceivedPort<Output[Tag][Name]> } }
    : never;

type ReceivedPort<Port> = [ReferenceOf<Port>] extends [never]
  ? Port extends readonly (infer Item)[]
    ? [ReferenceOf<Item>] extends [never]
      ? Port
      : ReceivedValue<Item>[]
    : Port
  : ReceivedValue<Port>;

type ReceivedValue<Value> = Exclude<Value, DataReference<unknown>> | WalrusValue;

/**
 * Result by variant, so that `tag` narrows `value`. For an untyped tool, the tag is any string and values are
 * `unknown`.
 */
export type ByVariant<Output, Facts> = unknown extends Output
  ? Facts & { readonly tag: string; readonly value: Readonly<Record<string, unknown>> }
  : VariantOf<Output, Facts>;

type VariantOf<Output, Facts> = Output extends string
  ? Facts & { readonly tag: Output; readonly value: Readonly<Record<never, never>> }
  : Output extends object
    ? { [Tag in keyof Output]: Facts & { readonly tag: Tag; readonly value: Readonly<Output[Tag]> } }[keyof Output]
    : never;

/** `Output` of a tool, with the content of stored values instead of references. */
export type ResolvedOutputOf<Tool extends ToolType> =
  unknown extends OutputOf<Tool> ? unknown : ResolvedVariant<OutputOf<Tool>>;

type ResolvedVariant<Output> = Output extends string
  ? Output
  : { [Tag in keyof Output]: { [Name in keyof Output[Tag]]: ResolvedPort<Output[Tag][Name]> } };

type ResolvedPort<Port> = Port extends readonly (infer Item)[]
  ? WalrusValue extends Item
    ? Exclude<Item, WalrusValue>[]
    : Port
  : Exclude<Port, WalrusValue>;

/** Texts of the ports with these values; `many` ports as lists. */
export type TextsOf<Value> = string extends keyof Value
  ? Readonly<Record<string, JsonText | readonly JsonText[]>>
  : { readonly [Name in keyof Value]-?: Value[Name] extends readonly unknown[] ? readonly JsonText[] : JsonText };
