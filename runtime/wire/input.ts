/**
 * From JSON texts to the typed input of a tool (protocol.md sections 2, 5 and 6).
 *
 * The texts become a plain tree; one walk over contract and tree checks kinds, integers, dates and bytes and makes the
 * tool's values; the generated validator then sees the tree for everything else (patterns, bounds, closed objects).
 */

import { decodeBase64 } from "./base64.js";
import { complaint } from "./complaint.js";
import type { Codec, Contract, Port } from "./contract.js";
import { parseDateTime } from "./date-time.js";
import type { CommittedText } from "./envelope.js";
import { type Path, pathText, WireFault } from "./fault.js";
import {
  ARRAY,
  type Builder,
  build,
  checkJson,
  DOUBLE,
  hasRepeatedMembers,
  type JsonDocument,
  type JsonFacts,
  OBJECT,
  parseJson,
  scalarOf,
} from "./json.js";
import { JsonError } from "./json-error.js";
import { bigintRange, kindOf, literalMismatch, Mismatch } from "./mismatch.js";
import { chooseBranch, compileIndexes, mayShareValues, type Tally } from "./undeclared.js";

/** A JSON value as plain JavaScript: large integers are bigints, objects have own members only. */
export type Tree = null | boolean | string | number | bigint | Tree[] | { [name: string]: Tree };

/** Which numbers of a tree were written as doubles although their value is integral: by container and key. */
type Doubles = Map<object, Set<string | number>>;

/** What one reading knows beside its trees. */
interface Reading extends Tally {
  /** Absent, as all of these, while there is nothing to note. */
  readonly doubles: Doubles | undefined;
  /** Names that an object had more than once; only filled where that is a fault. */
  readonly repeated: Map<object, Set<string>> | undefined;
  /** What a definition made of a container: branches of a union that try the same one share the work. */
  decoded: Map<Decode, Map<object, Decoded>> | undefined;
}

/** What was made of a container, and how many members were passed over in it. */
interface Decoded {
  readonly value: unknown;
  readonly passedOver: number;
}

const fault = (details: string) => new WireFault("input_deserialization_error", details);

/** Sets an own member, `__proto__` included. */
export function setMember<T>(object: Record<string, T>, name: string, value: T): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/** Stands in for an integral double until its container knows where it is. */
class IntegralDouble {
  constructor(readonly value: number) {}
}

class TreeReader implements Reading {
  doubles: Doubles | undefined;
  repeated: Map<object, Set<string>> | undefined;
  decoded: Map<Decode, Map<object, Decoded>> | undefined;
  passedOver = 0;

  /**
   * @param marking whether integral doubles are to be told from integers: only bigints care
   * @param watching whether repeated members are to be noted
   */
  constructor(
    private readonly marking: boolean,
    private readonly watching = false,
  ) {}

  /**
   * Reads a text of its own as member `key` of `container`.
   *
   * @throws {@link JsonError}
   */
  readText(bytes: Buffer, container: object, key: string | number): Tree {
    if (this.isPlain(checkJson(bytes))) return JSON.parse(bytes.toString("utf8")) as Tree;
    return this.read(parseJson(bytes), 0, container, key);
  }

  /** Reads an entry as member `key` of `container`. */
  read(document: JsonDocument, entry: number, container: object, key: string | number): Tree {
    const { bytes, tape } = document;
    const kind = tape[entry] as number;
    if (kind < ARRAY && kind !== DOUBLE) return scalarOf(document, entry);
    if (this.isPlain(document)) {
      return JSON.parse(bytes.toString("utf8", tape[entry + 1], tape[entry + 2])) as Tree;
    }
    return this.settle(build<Tree | IntegralDouble>(document, entry, this.builder()), container, key);
  }

  /** Whether a checked text holds nothing that JSON.parse would lose or misread. */
  private isPlain({ large, doubles, escapedNames }: JsonFacts): boolean {
    return !large && !escapedNames && !(this.marking && doubles) && !this.watching;
  }

  private settle(value: Tree | IntegralDouble, container: object, key: string | number): Tree {
    if (!(value instanceof IntegralDouble)) return value;
    this.doubles ??= new Map();
    const keys = this.doubles.get(container);
    if (keys === undefined) this.doubles.set(container, new Set([key]));
    else keys.add(key);
    return value.value;
  }

  /** A member comes once more: what was known of its value is past. */
  private again(object: object, name: string): void {
    this.doubles?.get(object)?.delete(name);
    if (!this.watching) return;
    this.repeated ??= new Map();
    const names = this.repeated.get(object);
    if (names === undefined) this.repeated.set(object, new Set([name]));
    else names.add(name);
  }

  private builder(): Builder<Tree | IntegralDouble> {
    return {
      scalar: (document, entry) => {
        const value = scalarOf(document, entry);
        return this.marking && document.tape[entry] === DOUBLE && Number.isInteger(value)
          ? new IntegralDouble(value as number)
          : value;
      },
      array: (items) => {
        const array: Tree[] = [];
        for (const [i, item] of items.entries()) array.push(this.settle(item, array, i));
        return array;
      },
      object: (names, values) => {
        const object: Record<string, Tree> = {};
        for (const [i, name] of names.entries()) {
          if (Object.hasOwn(object, name)) this.again(object, name);
          setMember(object, name, this.settle(values[i] as Tree | IntegralDouble, object, name));
        }
        return object;
      },
    };
  }
}

/** Makes the tool's value of a tree, or says why it cannot. `double`: the tree is a number written as a double. */
type Decode = (tree: Tree, double: boolean, reading: Reading) => unknown;

/** Decodes single values by codec. */
export class ValueDecoder {
  private readonly decode: Decode;

  constructor(codec: Codec, definitions: Contract["definitions"] = []) {
    this.decode = new DecoderCompiler(definitions).compile(codec);
  }

  /**
   * Reads one JSON text.
   *
   * @throws {@link WireFault} `input_deserialization_error` with the member's path
   */
  read(bytes: Uint8Array): unknown {
    const reader = new TreeReader(true);
    const holder = {};
    const document = located("", () => parseJson(bytes));
    const tree = reader.read(document, 0, holder, "");
    const value = this.decode(tree, reader.doubles?.has(holder) ?? false, reader);
    if (value instanceof Mismatch) throw fault(value.describe());
    return value;
  }
}

/** Reads a text; one that is no JSON is a fault of its place. */
function located<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonError) throw fault(`${place === "" ? "" : `${place}: `}not JSON: ${error.message}`);
    throw error;
  }
}

interface CompiledPort {
  readonly port: Port;
  readonly decode: Decode;
}

/** Decodes the input of one tool. */
export class InputDecoder {
  private readonly ports: readonly CompiledPort[];
  private readonly names: ReadonlySet<string>;
  private readonly marking: boolean;

  constructor(private readonly contract: Contract) {
    const compiler = new DecoderCompiler(contract.definitions ?? []);
    this.ports = contract.input.map((port) => ({ port, decode: compiler.compile(port.codec) }));
    for (const { name } of contract.input) compiler.names.add(name);
    this.names = compiler.names;
    this.marking = compiler.needsIntegers;
  }

  /**
   * Decodes the committed texts of a signed request.
   *
   * @param values for each port, in order, the texts whose hash matched
   * @returns the tool's input
   * @throws {@link WireFault} `input_deserialization_error` with the path of the failing member
   */
  decodeSigned(values: readonly (readonly CommittedText[])[]): Record<string, unknown> {
    const reader = new TreeReader(this.marking);
    const root: Record<string, Tree> = {};
    const read = (text: CommittedText, container: object, key: string | number, path: Path): Tree =>
      text.document === undefined
        ? located(pathText(path), () => reader.readText(text.bytes, container, key))
        : reader.read(text.document, text.entry, container, key);
    for (let i = 0; i < this.ports.length; i++) {
      const { name, many } = (this.ports[i] as CompiledPort).port;
      const texts = values[i] as readonly CommittedText[];
      if (many) {
        const items: Tree[] = [];
        for (let j = 0; j < texts.length; j++) items.push(read(texts[j] as CommittedText, items, j, [name, j]));
        setMember(root, name, items);
      } else {
        setMember(root, name, read(texts[0] as CommittedText, root, name, [name]));
      }
    }
    return this.decode(root, reader);
  }

  /**
   * Decodes the body of an unsigned request: plain JSON of the input type.
   *
   * @throws {@link WireFault} `input_deserialization_error` with the path of the failing member
   */
  decodeUnsigned(body: Uint8Array): Record<string, unknown> {
    const document = located("body", () => parseJson(body));
    if (document.tape[0] !== OBJECT) throw fault(`body: expected an object`);
    const reader = new TreeReader(this.marking, hasRepeatedMembers(document));
    return this.decode(reader.read(document, 0, {}, "") as Record<string, Tree>, reader);
  }

  private decode(root: Record<string, Tree>, reading: Reading): Record<string, unknown> {
    const input: Record<string, unknown> = {};
    const marks = reading.doubles?.get(root);
    const repeated = reading.repeated?.get(root);
    for (const { port, decode } of this.ports) {
      const { name, many, optional } = port;
      const tree = Object.hasOwn(root, name) ? root[name] : undefined;
      if (repeated?.has(name)) throw fault(repetition().within(name).describe());
      if (tree === undefined || (tree === null && optional)) {
        if (!optional) throw fault(`${pathText([name])}: expected a value, got nothing`);
        continue;
      }
      let value: unknown;
      if (many) {
        if (!Array.isArray(tree)) throw fault(`${pathText([name])}: expected an array, got ${kindOf(tree)}`);
        value = decodeItems(tree, decode, reading);
      } else {
        value = decode(tree, marks?.has(name) ?? false, reading);
      }
      if (value instanceof Mismatch) throw fault(value.describe([name]));
      setMember(input, name, value);
    }
    const { validateInput } = this.contract;
    if (!validateInput(root)) throw fault(complaint(validateInput.errors ?? [], root, this.names));
    return input;
  }
}

const repetition = () => new Mismatch("the member once", "it twice");

function decodeItems(tree: readonly Tree[], decode: Decode, reading: Reading): unknown {
  const marks = reading.doubles?.get(tree);
  let values: unknown[] | undefined;
  for (let i = 0; i < tree.length; i++) {
    const item = tree[i] as Tree;
    const value = decode(item, marks?.has(i) ?? false, reading);
    if (value instanceof Mismatch) return value.within(i);
    if (value !== item) values ??= tree.slice(0, i);
    values?.push(value);
  }
  return values ?? tree;
}

/** Turns codecs into closures, once, at start-up. */
class DecoderCompiler {
  /** Every declared member name: what may stand in an error's path. */
  readonly names = new Set<string>();
  needsIntegers = false;
  /** Whether a value may be tried against several branches. */
  private unions = false;
  /** Whether several of them may fit, and the members that each passes over decide. */
  private choosing = false;
  private readonly definitions: ReadonlyMap<string, Codec>;
  private readonly compiled = new Map<string, Decode>();

  constructor(definitions: NonNullable<Contract["definitions"]>) {
    this.definitions = new Map(definitions);
  }

  compile(codec: Codec): Decode {
    switch (codec.kind) {
      case "json":
        return (tree) => tree;
      case "null":
        return (tree) => (tree === null ? null : new Mismatch("null", kindOf(tree)));
      case "boolean":
        return (tree) => (typeof tree === "boolean" ? tree : new Mismatch("a boolean", kindOf(tree)));
      case "string": {
        if (codec.pattern === undefined) {
          return (tree) => (typeof tree === "string" ? tree : new Mismatch("a string", kindOf(tree)));
        }
        const pattern = new RegExp(codec.pattern, "u");
        return (tree) =>
          typeof tree === "string" && pattern.test(tree) ? tree : new Mismatch("a text of its pattern", kindOf(tree));
      }
      case "number":
        return this.number(codec.integer === true);
      case "literal": {
        const values = new Set<unknown>(codec.values);
        const mismatch = literalMismatch(codec.values);
        return (tree) => (values.has(tree) ? tree : mismatch(tree));
      }
      case "bigint":
        return this.bigint(codec.format);
      case "date":
        return (tree) => {
          const date = typeof tree === "string" ? parseDateTime(tree) : undefined;
          return date ?? new Mismatch("an RFC 3339 date-time", kindOf(tree));
        };
      case "bytes":
        return (tree) => {
          const bytes = typeof tree === "string" ? decodeBase64(tree) : undefined;
          return bytes === undefined ? new Mismatch("standard base64 with padding", kindOf(tree)) : ownBytes(bytes);
        };
      case "array": {
        const decode = this.compile(codec.item);
        return (tree, _, reading) =>
          Array.isArray(tree) ? decodeItems(tree, decode, reading) : new Mismatch("an array", kindOf(tree));
      }
      case "tuple":
        return this.tuple(codec);
      case "object":
        return this.object(codec);
      case "union": {
        this.unions = true;
        if (mayShareValues(codec.branches)) this.choosing = true;
        const branches = codec.branches.map((branch) => this.compile(branch));
        return (tree, double, reading) => chooseBranch(branches, reading, (branch) => branch(tree, double, reading));
      }
      case "ref":
        return this.reference(codec.name);
    }
  }

  private number(integer: boolean): Decode {
    // Integers are to be told from doubles here too: `1.0` is none.
    if (integer) this.needsIntegers = true;
    const expected = integer ? "an integer within ±(2^53-1)" : "a number";
    return (tree, double) => {
      if (typeof tree === "bigint") return new Mismatch("a number within ±(2^53-1)", "an integer beyond it");
      if (typeof tree !== "number") return new Mismatch(expected, kindOf(tree));
      // serde's reading is not JavaScript's: at the edge of the range it has numbers that a double has not.
      if (!Number.isFinite(tree)) return new Mismatch("a number within the range of doubles", "one beyond it");
      if (integer && (double || !Number.isInteger(tree))) return new Mismatch(expected, "a number that is no integer");
      return tree;
    };
  }

  private bigint(format: "int64" | "uint64" | undefined): Decode {
    this.needsIntegers = true;
    const { min, max, name } = bigintRange(format);
    return (tree, double) => {
      if (typeof tree === "number") {
        if (double || !Number.isInteger(tree)) return new Mismatch("an integer", "a number that is no integer");
        return min === 0n && tree < 0 ? new Mismatch(name, "an integer outside its range") : BigInt(tree);
      }
      if (typeof tree !== "bigint") return new Mismatch("an integer", kindOf(tree));
      return tree >= min && tree <= max ? tree : new Mismatch(name, "an integer outside its range");
    };
  }

  private tuple({ items, optional = 0, rest, tail = [] }: Extract<Codec, { kind: "tuple" }>): Decode {
    const fixed = items.map((item) => this.compile(item));
    const last = tail.map((item) => this.compile(item));
    const between = rest === undefined ? undefined : this.compile(rest);
    const least = fixed.length - optional + last.length;
    const most = between === undefined ? fixed.length + last.length : Number.POSITIVE_INFINITY;
    const expected = `an array of ${most === least ? least : most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`} items`;
    return (tree, _, reading) => {
      if (!Array.isArray(tree)) return new Mismatch("an array", kindOf(tree));
      if (tree.length < least || tree.length > most) return new Mismatch(expected, `${tree.length} items`);
      const marks = reading.doubles?.get(tree);
      const values: unknown[] = [];
      for (let i = 0; i < tree.length; i++) {
        const fromEnd = tree.length - i;
        const decode = fromEnd <= last.length ? last[last.length - fromEnd] : (fixed[i] ?? between);
        const item = tree[i] as Tree;
        // An optional item that is null is absent, like an optional member.
        const absent = item === null && i < fixed.length && i >= fixed.length - optional;
        const value = absent ? undefined : decode?.(item, marks?.has(i) ?? false, reading);
        if (value instanceof Mismatch) return value.within(i);
        values.push(value);
      }
      return values;
    };
  }

  private object(codec: Extract<Codec, { kind: "object" }>): Decode {
    const { members } = codec;
    const declared = members.map(({ name, optional, codec }) => {
      this.names.add(name);
      return { name, optional: optional === true, decode: this.compile(codec), literal: codec.kind === "literal" };
    });
    const literals = declared.filter(({ optional, literal }) => literal && !optional);
    const known = new Set(members.map(({ name }) => name));
    const decodeOther = compileIndexes(codec, (each) => this.compile(each));
    return (tree, _, reading) => {
      if (tree === null || typeof tree !== "object" || Array.isArray(tree)) {
        return new Mismatch("an object", kindOf(tree));
      }
      // First what tells the branches of a union apart.
      for (const { name, decode } of literals) {
        const member = Object.hasOwn(tree, name) ? tree[name] : undefined;
        if (member === undefined) continue;
        const value = decode(member, false, reading);
        if (value instanceof Mismatch) return value.within(name).asAnotherBranch();
      }
      const marks = reading.doubles?.get(tree);
      const repeated = reading.repeated?.get(tree);
      let object: Record<string, unknown> | undefined = hasOnly(tree, declared) ? undefined : {};
      let fitting = 0;
      for (const { name, optional, decode } of declared) {
        const member = Object.hasOwn(tree, name) ? tree[name] : undefined;
        if (repeated?.has(name)) return repetition().within(name);
        if (member === undefined || (member === null && optional)) {
          if (!optional) return new Mismatch("a value", "nothing").within(name).after(fitting);
          continue;
        }
        const value = decode(member, marks?.has(name) ?? false, reading);
        if (value instanceof Mismatch) return value.within(name).after(fitting);
        if (value !== member) object ??= firstMembers(tree, fitting);
        fitting++;
        if (object !== undefined) setMember(object, name, value);
      }
      if (object !== undefined && (decodeOther !== undefined || this.choosing)) {
        for (const name of Object.keys(tree)) {
          if (known.has(name)) continue;
          const decode = decodeOther?.(name);
          if (decode === undefined) {
            if (decodeOther !== undefined) return new Mismatch("only declared members", "another");
            reading.passedOver++;
            continue;
          }
          const value = decode(tree[name] as Tree, marks?.has(name) ?? false, reading);
          if (value instanceof Mismatch) return value.within("*");
          setMember(object, name, value);
        }
      }
      return object ?? tree;
    };
  }

  private reference(name: string): Decode {
    const codec = this.definitions.get(name);
    if (codec === undefined)
      throw new RangeError(`contract: a codec refers to ${JSON.stringify(name)}, which it lacks`);
    const known = this.compiled.get(name);
    if (known !== undefined) return known;
    // Registered before it is compiled, because the definition may contain itself.
    const decode: Decode = (tree, double, reading) => {
      if (!this.unions || tree === null || typeof tree !== "object") return target(tree, double, reading);
      reading.decoded ??= new Map();
      let decoded = reading.decoded.get(decode);
      if (decoded === undefined) {
        decoded = new Map();
        reading.decoded.set(decode, decoded);
      }
      const before = reading.passedOver;
      let made = decoded.get(tree);
      if (made === undefined) {
        const value = target(tree, double, reading);
        made = { value, passedOver: reading.passedOver - before };
        decoded.set(tree, made);
      }
      reading.passedOver = before + made.passedOver;
      return made.value instanceof Mismatch ? made.value.copy() : made.value;
    };
    this.compiled.set(name, decode);
    const target = this.compile(codec);
    return decode;
  }
}

/** Whether an object holds none but declared members, in the order of their declaration and none of them null. */
function hasOnly(tree: { readonly [name: string]: Tree }, declared: readonly { readonly name: string }[]): boolean {
  let place = 0;
  for (const name in tree) {
    while (place < declared.length && declared[place]?.name !== name) place++;
    if (place === declared.length || tree[name] === null) return false;
    place++;
  }
  return true;
}

/** The first members of an object, as many as are said. */
function firstMembers(tree: { readonly [name: string]: Tree }, count: number): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const name of Object.keys(tree).slice(0, count)) setMember(object, name, tree[name]);
  return object;
}

/** Bytes with a buffer of their own: small Buffers share one with the rest of the process. */
function ownBytes(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength === bytes.length ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}
