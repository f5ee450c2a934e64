/**
 * What serde_json reads and prints, as protocol.md section 5 words it: slow, recursive, and written without a look at
 * `runtime/client/wire/json`. Numbers are exact integers until they become doubles.
 */

type Value =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "array"; readonly items: readonly Value[] }
  | { readonly kind: "object"; readonly members: readonly (readonly [string, Value])[] };

/** The canonical text of a document, or undefined when serde_json refuses it. `legacy`: before serde_json 1.0.147. */
export function serdeText(source: string, legacy = false): string | undefined {
  try {
    const reader = new Reader([...source], legacy);
    const value = reader.value(0);
    reader.space();
    return reader.atEnd ? print(value) : undefined;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

class Refused extends Error {}

class Reader {
  #at = 0;

  readonly #characters: readonly string[];
  readonly #legacy: boolean;

  constructor(characters: readonly string[], legacy: boolean) {
    this.#characters = characters;
    this.#legacy = legacy;
  }

  get atEnd(): boolean {
    return this.#at === this.#characters.length;
  }

  space(): void {
    while ([" ", "\t", "\n", "\r"].includes(this.#characters[this.#at] ?? "")) this.#at++;
  }

  #next(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new Refused();
    return character;
  }

  #take(wanted: string): boolean {
    if (this.#characters[this.#at] !== wanted) return false;
    this.#at++;
    return true;
  }

  #expect(wanted: string): void {
    for (const character of wanted) if (this.#next() !== character) throw new Refused();
  }

  value(depth: number): Value {
    this.space();
    switch (this.#characters[this.#at]) {
      case "n":
        this.#expect("null");
        return { kind: "text", text: "null" };
      case "t":
        this.#expect("true");
        return { kind: "text", text: "true" };
      case "f":
        this.#expect("false");
        return { kind: "text", text: "false" };
      case '"':
        return { kind: "text", text: quoted(this.#string()) };
      case "[":
        return this.#array(depth + 1);
      case "{":
        return this.#object(depth + 1);
      default:
        return { kind: "text", text: this.#number() };
    }
  }

  #array(depth: number): Value {
    if (depth > 127) throw new Refused();
    this.#at++;
    const items: Value[] = [];
    this.space();
    if (this.#take("]")) return { kind: "array", items };
    do {
      items.push(this.value(depth));
      this.space();
    } while (this.#take(","));
    this.#expect("]");
    return { kind: "array", items };
  }

  #object(depth: number): Value {
    if (depth > 127) throw new Refused();
    this.#at++;
    const members: [string, Value][] = [];
    this.space();
    if (this.#take("}")) return { kind: "object", members };
    do {
      this.space();
      if (this.#characters[this.#at] !== '"') throw new Refused();
      const name = this.#string();
      this.space();
      this.#expect(":");
      const value = this.value(depth);
      const known = members.find(([other]) => other === name);
      if (known === undefined) members.push([name, value]);
      else known[1] = value;
      this.space();
    } while (this.#take(","));
    this.#expect("}");
    return { kind: "object", members };
  }

  #string(): string {
    this.#expect('"');
    let text = "";
    for (let character = this.#next(); character !== '"'; character = this.#next()) {
      if ((character.codePointAt(0) as number) < 0x20) throw new Refused();
      text += character === "\\" ? this.#escape() : character;
    }
    return text;
  }

  #escape(): string {
    const letter = this.#next();
    const simple: Record<string, string> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r" };
    if (letter === '"' || letter === "\\" || letter === "/") return letter;
    const named = simple[letter];
    if (named !== undefined) return named;
    if (letter !== "u") throw new Refused();
    const unit = this.#unit();
    if (unit >= 0xdc00 && unit <= 0xdfff) throw new Refused();
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCodePoint(unit);
    this.#expect("\\u");
    const low = this.#unit();
    if (low < 0xdc00 || low > 0xdfff) throw new Refused();
    return String.fromCodePoint(0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00));
  }

  #unit(): number {
    let unit = 0;
    for (let i = 0; i < 4; i++) {
      const digit = "0123456789abcdef".indexOf(this.#next().toLowerCase());
      if (digit === -1) throw new Refused();
      unit = unit * 16 + digit;
    }
    return unit;
  }

  #digits(): number[] {
    const digits: number[] = [];
    while (/^[0-9]$/.test(this.#characters[this.#at] ?? "")) digits.push(Number(this.#characters[this.#at++]));
    if (digits.length === 0) throw new Refused();
    return digits;
  }

  #number(): string {
    const negative = this.#take("-");
    const whole = this.#digits();
    if (whole[0] === 0 && whole.length > 1) throw new Refused();
    let fraction: number[] | undefined;
    if (this.#take(".")) fraction = this.#digits();
    let exponent: bigint | undefined;
    if (this.#take("e") || this.#take("E")) {
      const minus = !this.#take("+") && this.#take("-");
      exponent = BigInt(this.#digits().join("")) * (minus ? -1n : 1n);
    }
    if (fraction === undefined && exponent === undefined) {
      const integer = BigInt(whole.join("")) * (negative ? -1n : 1n);
      const isKept = integer >= -(2n ** 63n) && integer < 2n ** 64n && !(negative && integer === 0n);
      if (isKept) return String(integer);
    }
    return printDouble(readDouble(negative, whole, fraction ?? [], exponent ?? 0n), this.#legacy);
  }
}

const U64 = 2n ** 64n;

function readDouble(negative: boolean, whole: number[], fraction: number[], written: bigint): number {
  let significand = 0n;
  let exponent = 0n;
  const overflow = whole.findIndex((digit) => {
    const longer = significand * 10n + BigInt(digit);
    if (longer >= U64) return true;
    significand = longer;
    return false;
  });
  if (overflow !== -1) exponent += BigInt(whole.length - overflow);
  for (const digit of fraction) {
    const longer = significand * 10n + BigInt(digit);
    if (longer >= U64) break;
    significand = longer;
    exponent -= 1n;
  }
  exponent += written;
  let f = Number(significand);
  while (exponent > 308n || exponent < -308n) {
    if (f === 0) break;
    if (exponent > 0n) throw new Refused();
    f /= 1e308;
    exponent += 308n;
  }
  if (f !== 0) {
    const power = Number(`1e${exponent < 0n ? -exponent : exponent}`);
    f = exponent < 0n ? f / power : f * power;
  }
  if (!Number.isFinite(f)) throw new Refused();
  return negative ? -f : f;
}

function printDouble(value: number, legacy: boolean): string {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (value === 0) return `${sign}0.0`;
  const [, whole = "", fraction = "", tens = "0"] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(`${Math.abs(value)}`) ?? [];
  // value = digits · 10^k without leading or trailing zeros
  let digits = `${whole}${fraction}`.replace(/^0+/, "");
  let k = Number(tens) - fraction.length;
  while (digits.endsWith("0")) {
    digits = digits.slice(0, -1);
    k++;
  }
  const kk = digits.length + k;
  if (kk <= -5 || kk > 16) {
    const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
    return `${sign}${mantissa}e${kk - 1 > 0 && !legacy ? "+" : ""}${kk - 1}`;
  }
  if (k >= 0) return `${sign}${digits}${"0".repeat(k)}.0`;
  if (kk > 0) return `${sign}${digits.slice(0, kk)}.${digits.slice(kk)}`;
  return `${sign}0.${"0".repeat(-kk)}${digits}`;
}

function quoted(text: string): string {
  const escapes: Record<string, string> = {
    ...{ '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r" },
  };
  let out = "";
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    out += escapes[character] ?? (code < 0x20 ? `\\u00${code.toString(16).padStart(2, "0")}` : character);
  }
  return `"${out}"`;
}

function print(value: Value): string {
  switch (value.kind) {
    case "text":
      return value.text;
    case "array":
      return `[${value.items.map(print).join(",")}]`;
    case "object":
      return `{${value.members.map(([name, member]) => `${quoted(name)}:${print(member)}`).join(",")}}`;
  }
}
