/** Exact decimal numbers: `units / 10^scale`. A double would round them. */

export interface Decimal {
  readonly units: bigint;
  /** Number of decimal places. */
  readonly scale: number;
}

/** Number of digits that always fit into a signed 64-bit integer. */
const MAX_DIGITS = 18;

/** Reads `64123.10`: no sign, no exponent, at most 18 digits. Undefined for any other text. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === undefined || whole.length + fraction.length > MAX_DIGITS) return undefined;
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, scale: a.scale + b.scale };
}

/** Prints all digits, including trailing zeros. */
export function formatDecimal({ units, scale }: Decimal): string {
  const digits = units.toString().padStart(scale + 1, "0");
  return scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
