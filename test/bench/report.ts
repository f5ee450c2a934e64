/** What a bench is and how its figures are printed and kept. */

import { isWithinSpread, ratioOf, type Summary, summarize } from "./statistics.js";

/** How long and how often is measured. */
export interface Settings {
  /** Repeats of every measurement. */
  readonly repeats: number;
  /** Calls of one measurement; where a call is large or a loop short, a share of it. */
  readonly calls: number;
  /** Live replay entries, where they are what is measured. */
  readonly entries: number;
}

export const DEFAULT_SETTINGS: Settings = { repeats: 5, calls: 8_000, entries: 50_000 };

/** One line of a table: what was measured, by label and unit. */
export interface Row {
  readonly name: string;
  readonly figures: Readonly<Record<string, Summary>>;
  /** To the first side of the comparison, repeat by repeat: of one figure. */
  readonly ratio?: Summary;
}

/** Where a goal ends. */
export type Limit = { readonly atMost: number };

/** A goal of the project, and what was measured. */
export interface Goal {
  readonly text: string;
  readonly value: Summary;
  readonly limit: Limit;
  readonly met: boolean;
}

/** What a bench found. */
export interface Outcome {
  readonly rows: readonly unknown[];
  readonly goals?: readonly Goal[];
  /** Why there is nothing, where there is nothing. */
  readonly skipped?: string;
}

export interface Bench {
  /** What is measured, beside what. */
  readonly title: string;
  run(settings: Settings): Promise<Outcome>;
}

/** What one measurement gave, by label and unit. */
export type Figures = Readonly<Record<string, number>>;

/** One side of a comparison: each time it is asked it measures anew, in a process of its own. */
export interface Side {
  readonly name: string;
  measure(): Promise<Figures>;
}

/**
 * Measures sides in turn, the order turned round each time, and prints a line each.
 *
 * @param figure the label of what the ratios are of; the first side is the floor
 */
export async function compare(repeats: number, sides: readonly Side[], figure: string): Promise<Row[]> {
  const measured = sides.map((): Figures[] => []);
  for (let repeat = 0; repeat < repeats; repeat++) {
    const order = [...sides.keys()];
    for (const side of repeat % 2 === 0 ? order : order.reverse()) {
      measured[side]?.push(await (sides[side] as Side).measure());
    }
  }
  return tabulate(
    sides.map(({ name }, side) => [name, measured[side] as Figures[]]),
    figure,
  );
}

/** Sums up what was measured on each side, repeat by repeat, and prints a line each. */
export function tabulate(
  sides: readonly (readonly [name: string, measured: readonly Figures[]])[],
  figure: string,
): Row[] {
  const values = (measured: readonly Figures[], label: string) => measured.map((figures) => figures[label] as number);
  const floor = values(sides[0]?.[1] ?? [], figure);
  return sides.map(([name, measured], side) => {
    const labels = Object.keys(measured[0] ?? {});
    const row: Row = {
      name,
      figures: Object.fromEntries(labels.map((label) => [label, summarize(values(measured, label))])),
      ...(side > 0 && { ratio: ratioOf(values(measured, figure), floor) }),
    };
    print(row, figure);
    return row;
  });
}

/** A number with three digits that say something. */
function digits(value: number): string {
  const places = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
}

function withSpread({ median, spread }: Summary): string {
  return `${digits(median)} ± ${digits(spread)}`;
}

/** Prints a row; a ratio that its spread does not tell from one is said to be none. */
export function print({ name, figures, ratio }: Row, figure?: string): void {
  const parts = Object.entries(figures).map(([label, summary]) => {
    const text = `${label} ${withSpread(summary)}`;
    if (label !== figure || ratio === undefined) return text;
    const verdict = isWithinSpread(ratio, 1) ? ", no difference" : "";
    return `${text} = ${withSpread(ratio)} × the first${verdict}`;
  });
  console.log(`  ${name.padEnd(32)} ${parts.join("   ")}`);
}

/** Judges a goal and prints the verdict. */
function judge(text: string, value: Summary | undefined, limit: Limit): Goal {
  if (value === undefined) throw new Error(`${text}: not measured`);
  const { atMost } = limit;
  const met = value.median <= atMost;
  const doubt = isWithinSpread(value, atMost) ? ", nearer to it than its own spread" : "";
  console.log(`  goal: ${text}: ${withSpread(value)}, at most ${atMost}: ${met ? "met" : "missed"}${doubt}`);
  return { text, value, limit, met };
}

/** Judges the ratio of a row and prints the verdict. */
export function judgeRatio(text: string, row: Row | undefined, limit: Limit): Goal {
  return judge(text, row?.ratio, limit);
}

/** Judges a figure of a row itself and prints the verdict. */
export function judgeFigure(text: string, row: Row | undefined, figure: string, limit: Limit): Goal {
  return judge(text, row?.figures[figure], limit);
}
