/**
 * Lets tsc notice that `Input` or `Output` has changed since svc-gen ran. The generated server holds the types as svc-gen
 * saw them, in the plain form below; the class's own are brought into the same form and compared. Types only.
 */

import type { DataReference } from "./wire/data.js";

/** What is compared: a tool class carries its types in its prototype. */
interface Typed {
  readonly prototype: { readonly __io: { readonly input: unknown; readonly output: unknown } };
}

type Io<Tool extends Typed> = Tool["prototype"]["__io"];

/** `true` when `Written` still says what the class says; a sentence otherwise, which tsc shows. */
export type Unchanged<Tool extends Typed, Written extends { readonly input: unknown; readonly output: unknown }> =
  Same<Plain<Io<Tool>["input"]>, Written["input"]> extends false
    ? "Input has changed: run svc-gen"
    : Same<Plain<Io<Tool>["output"]>, Written["output"]> extends false
      ? "Output has changed: run svc-gen"
      : true;

type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

// biome-ignore lint/suspicious/noExplicitAny: equal to every type but never
type Anything = any;
// biome-ignore lint/complexity/noBannedTypes: an object of which no member is known
type Empty = {};

/**
 * The plain form: no names, no brands, no enums; what is not told apart (`unknown`, `object`) is `Anything`. A level of the
 * type is a level of the form: tsc compares about a hundred.
 */
type Plain<T> = 0 extends 1 & T
  ? Anything
  : unknown extends T
    ? Anything
    : [T] extends [never]
      ? Anything
      : PlainEach<T>;

type PlainEach<T> = T extends null
  ? null
  : T extends boolean
    ? T extends true
      ? true
      : false
    : T extends DataReference<unknown>
      ? { reference: true }
      : T extends bigint
        ? bigint
        : T extends string
          ? Text<Unbranded<T, string>>
          : T extends number
            ? Numeric<Unbranded<T, number>>
            : T extends undefined
              ? never
              : T extends Date
                ? { date: true }
                : T extends Uint8Array
                  ? { bytes: true }
                  : T extends readonly unknown[]
                    ? { items: Items<T> extends readonly unknown[] ? Items<T> : Anything }
                    : [keyof T] extends [never]
                      ? Anything
                      : Members<T>;

/** A text or a number without the members that brand it. */
type Unbranded<T, Any> = T extends infer Bare & Pick<T, Exclude<keyof T, keyof Any>> ? Bare : T;
type Text<T> = T extends string ? Literal<T, `${T}`, string> : string;
type Numeric<T> = T extends number ? Literal<T, { literal: `${T}` }, number> : number;

/** A literal or enum member has one value, and is required as a key; a brand or a pattern is no key that must be there. */
type Literal<T extends string | number, One, Any> = Empty extends { [K in T]: true } ? Any : One;

/** Of a list with a brand this makes an object. */
type Items<T extends readonly unknown[]> = { -readonly [K in keyof T]: Plain<Exclude<T[K], undefined>> };

/** Required or not is a part of each name, so that an added optional member is a difference. One may be null in any case. */
type Members<T> = {
  -readonly [K in keyof T as K extends symbol ? never : `${K & (string | number)}${Mark<T, K>}`]-?: Mark<
    T,
    K
  > extends "?"
    ? Plain<Exclude<T[K], undefined>> | null
    : Plain<T[K]>;
};

/** `unknown` has no part that is undefined; `{} | null | undefined`, which means the same, has one. */
type Mark<T, K extends keyof T> = Empty extends { [P in K]: T[P] }
  ? "?"
  : 0 extends 1 & T[K]
    ? "!"
    : undefined extends Extract<T[K], undefined>
      ? "?"
      : "!";
