import type { RawValue } from "../../wire/bcs/bcs-shapes.js";
import type { InlineValue } from "../../wire/bcs/data.js";
import { JsonError } from "../../wire/json/error.js";
import { quote } from "../../wire/json/print.js";
import { plainValue } from "../../wire/json/untyped-json.js";
import { LeaderError } from "../error.js";
import { JsonText } from "../request/request.js";
import type { ByVariant, ResolvedOutputOf, TextsOf, ToolType, UntypedTool } from "../tool-types.js";
import type { OutputReader, ReadablePort } from "./output-reader.js";
import type { ToolResult } from "./result.js";

export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** `ByteBudget` shared by several reads. By default, each read has the budget of the reader. */
  readonly budget?: ReadBudget;
}

/** Remaining bytes for reads. `take` throws if they do not suffice. */
export interface ReadBudget {
  readonly left: number;
  take(bytes: number): void;
}

export type ResolvedValue =
  | { readonly kind: "object"; readonly id: Uint8Array }
  /** `stored`: the bytes match the digest in the reference. Send them unchanged, in a member `bytes`. */
  | { readonly kind: "data"; readonly bytes: Uint8Array; readonly stored: boolean };

/** Fetches stored values: a `WalrusReader` of svc-runtime-storage, or an object with the same `resolve`. */
export interface ValueReader {
  resolve(values: readonly RawValue[], options?: ReadOptions): Promise<ResolvedValue[]>;
}

export type ResolvedResult<Tool extends ToolType = UntypedTool> = WithTexts<ByVariant<ResolvedOutputOf<Tool>, unknown>>;

type WithTexts<Result> = Result extends { readonly value: infer Value }
  ? Result & {
      /**
       * Ports as the texts that the tool signed or stored; `many` ports as arrays. Pass these to another tool, because
       * the formatting of a stored text is part of its commitment.
       */
      readonly texts: TextsOf<Value>;
    }
  : never;

/**
 * Fetches and verifies the content of a result's references, all ports within one byte budget (protocol.md sections 1
 * and 3).
 *
 * @throws {@link LeaderError} `invalid_answer` for a stored value that is not JSON; errors of the reader
 * (`StorageError`)
 */
export async function resolveResult(
  { tag, ports }: Pick<ToolResult, "tag" | "ports">,
  reader: ValueReader | undefined,
  outputReader: OutputReader | undefined,
  options: ReadOptions = {},
): Promise<ResolvedResult> {
  const values = ports.flatMap((port) => port.values);
  if (reader === undefined && values.some(({ kind }) => kind === "walrus")) {
    throw new TypeError(
      "resolve: the result refers to stored values: create the client with `reader: new WalrusReader(…)`",
    );
  }
  const resolved = await (reader ?? IN_PLACE).resolve(values, options);
  const plain: [string, unknown][] = [];
  const texts: [string, JsonText | JsonText[]][] = [];
  const inline: ReadablePort[] = [];
  let at = 0;
  for (const { name, many, values: own } of ports) {
    const found = resolved.slice(at, at + own.length).map((each) => new JsonText(bytesOf(name, each)));
    at += own.length;
    const plainValues = found.map((text) => plainOf(name, text));
    texts.push([name, many ? found : (found[0] as JsonText)]);
    plain.push([name, many ? plainValues : plainValues[0]]);
    inline.push({ name, many, values: found.map(({ bytes }) => ({ kind: "inline", bytes })) });
  }
  const value = outputReader?.read({ tag, ports: inline }) ?? Object.fromEntries(plain);
  return { tag, value, texts: Object.fromEntries(texts) } as ResolvedResult;
}

/** Reader for results without references. */
const IN_PLACE: ValueReader = {
  resolve: async (values) =>
    values.map((value) => ({ kind: "data", bytes: (value as InlineValue).bytes, stored: false }) as const),
};

function bytesOf(name: string, value: ResolvedValue): Uint8Array {
  if (value.kind === "data") return value.bytes;
  throw new LeaderError("invalid_answer", `${quote(name)}: expected data, got an object id`);
}

function plainOf(name: string, { bytes }: JsonText): unknown {
  try {
    return plainValue(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new LeaderError("invalid_answer", `${quote(name)}: the stored value is not JSON: ${error.message}`);
  }
}
