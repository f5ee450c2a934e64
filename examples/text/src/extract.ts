import { type InvokeContext, SvcTool } from "svc-runtime";

/** Kinds of matches. */
export type Kind = "email" | "url" | "date" | "amount";

export enum Order {
  /** In order of position. */
  Position = "position",
  /** Longest first. */
  Length = "length",
}

export interface Options {
  /** Kinds to find. Default, also if empty: all. */
  kinds?: Kind[];
  /** Maximum number of matches to return. Default: 100. */
  limit?: Limit;
  order?: Order;
  /** Return repeated texts only once. */
  unique?: boolean;
}

/**
 * @asType integer
 * @minimum 1
 * @maximum 128
 */
type Limit = number;

export interface Input {
  /** @maxLength 100000 */
  text: string;
  options?: Options;
}

export interface Span {
  /** Position in the text, in UTF-16 code units. */
  start: number;
  end: number;
}

export interface Match {
  kind: Kind;
  text: string;
  at: Span;
  /** The day, if the match is a date. */
  day?: Date;
  /** The amount, if the match is one. */
  money?: {
    currency: string;
    /**
     * Amount in hundredths.
     * @format int64
     */
    hundredths: bigint;
  };
}

export type Output =
  | {
      found: {
        matches: Match[];
        /** Number of matches by kind, including those beyond the limit. */
        counts: Record<Kind, number>;
        /** Whether the limit excluded some matches. */
        more: boolean;
      };
    }
  /** No matches. This is a separate variant because a `many` port cannot be empty. */
  | "nothing";

/** Bounded ASCII patterns: 128 matches of the longest kind stay below a port's limit of 65,536 bytes. */
const PATTERNS: Readonly<Record<Kind, RegExp>> = {
  email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,3}/g,
  url: /https?:\/\/[!#-&(-;=?-~]{1,300}/g,
  date: /\b\d{4}-\d{2}-\d{2}\b/g,
  amount: /\b(?:EUR|USD|GBP) ?\d{1,15}(?:\.\d{2})?\b/g,
};

/** Finds e-mail addresses, links, dates and amounts of money in a text. */
export class Extract extends SvcTool<Input, Output> {
  static override fqn() {
    return "io.text.extract@1";
  }

  static override description() {
    return "Finds e-mail addresses, links, dates and amounts of money in a text.";
  }

  override async invoke({ text, options = {} }: Input, { log }: InvokeContext): Promise<Output> {
    const { limit = 100, order = Order.Position, unique = false } = options;
    const kinds = options.kinds?.length ? options.kinds : (Object.keys(PATTERNS) as Kind[]);
    const counts: Record<Kind, number> = { email: 0, url: 0, date: 0, amount: 0 };
    const seen = new Set<string>();
    const all: Match[] = [];
    for (const kind of kinds) {
      for (const found of text.matchAll(PATTERNS[kind])) {
        const match = matchOf(kind, found[0], found.index);
        if (match === undefined || (unique && seen.has(match.text))) continue;
        seen.add(match.text);
        counts[kind]++;
        all.push(match);
      }
    }
    log.debug({ characters: text.length, matches: all.length }, "extracted");
    if (all.length === 0) return "nothing";
    all.sort(order === Order.Length ? (a, b) => b.text.length - a.text.length : (a, b) => a.at.start - b.at.start);
    return { found: { matches: all.slice(0, limit), counts, more: all.length > limit } };
  }
}

/** A match with its parsed value; undefined for an impossible date. */
function matchOf(kind: Kind, text: string, start: number): Match | undefined {
  const match: Match = { kind, text, at: { start, end: start + text.length } };
  if (kind === "date") {
    const day = new Date(`${text}T00:00:00Z`);
    return Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text) ? undefined : { ...match, day };
  }
  if (kind === "amount") {
    const [whole = "0", cents = "00"] = text.slice(3).trim().split(".");
    return { ...match, money: { currency: text.slice(0, 3), hundredths: BigInt(whole) * 100n + BigInt(cents) } };
  }
  return match;
}
