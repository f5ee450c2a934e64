/** The input form, built from the schema. Every control shows its label, constraints and error. */

import type { ComponentChildren, TargetedClipboardEvent, TargetedKeyboardEvent } from "preact";
import { MAX_VALUES, pathText } from "svc-runtime/internal/protocol";
import { draft, editValue, errorAt, fields, tool } from "../store.js";
import { AnyJson } from "./any-json.js";
import { isList, NUMBER, Num, replaceAt, sameValue, type Value, type ValueStep } from "./exact-json.js";
import { branchName, choiceText, type Field, type FieldMember, numberProblem, type Schema } from "./field-schema.js";

export function controlId(path: string): string {
  return `field:${path}`;
}

export function InputForm() {
  const value = draft.value?.value;
  const all = fields.value;
  if (value === undefined || all === undefined) return null;
  const root = all.input;
  if (root.kind !== "object") return <p>This input has no members.</p>;
  if (!(value instanceof Map)) return <p class="problem">The input is not a JSON object. Edit it as JSON.</p>;
  return (
    <form class="form" aria-label="Input" onSubmit={(event) => event.preventDefault()}>
      {root.members.length === 0 && <p class="hint">This tool has no input ports.</p>}
      <Members members={root.members} value={value} path={[]} />
    </form>
  );
}

function set(path: readonly ValueStep[], next: Value | undefined): void {
  const before = draft.value?.value;
  if (before !== undefined) editValue(replaceAt(before, path, next));
}

interface MembersProps {
  readonly members: readonly FieldMember[];
  readonly value: ReadonlyMap<string, Value>;
  readonly path: readonly ValueStep[];
}

function Members({ members, value, path }: MembersProps) {
  const known = new Set(members.map(({ name }) => name));
  const others = [...value.keys()].filter((name) => !known.has(name));
  return (
    <>
      {members
        .filter((member) => !isFixed(member, value))
        .map((member) => (
          <MemberField key={member.name} {...member} value={value.get(member.name)} path={[...path, member.name]} />
        ))}
      {others.length > 0 && <p class="hint">Only the JSON shows: {others.join(", ")}</p>}
    </>
  );
}

/** Whether a member has its only possible value, which the picker of a union shows. */
function isFixed({ schema, name }: FieldMember, value: ReadonlyMap<string, Value>): boolean {
  const field = fields.value?.field(schema);
  const own = value.get(name);
  return field?.kind === "choice" && field.values.length === 1 && own !== undefined && sameValue(own, field.values[0]);
}

/** A value of the input, and its path. */
interface ValueProps {
  readonly value: Value | undefined;
  readonly path: readonly ValueStep[];
}

interface FieldProps extends ValueProps {
  readonly schema: Schema;
  readonly label: string;
}

type MemberProps = ValueProps & FieldMember;

interface BodyProps<Kind extends Field["kind"]> extends ValueProps {
  readonly field: Extract<Field, { readonly kind: Kind }>;
}

function MemberField({ name, schema, required, value, path }: MemberProps) {
  const field = fields.value?.field(schema);
  if (field === undefined) return null;
  // If the schema allows null, null means that the member is not set.
  const isSet =
    value !== undefined && (value !== null || field.kind === "null" || (!field.nullable && field.kind !== "json"));
  const isOptional = !required || (field.nullable && field.kind !== "null");
  return (
    <div class="member">
      {isOptional && (
        <label class="optional">
          <input
            type="checkbox"
            checked={isSet}
            onChange={(event) =>
              set(path, event.currentTarget.checked ? fields.value?.empty(schema, 0, 1) : required ? null : undefined)
            }
          />
          <span>
            set {pathText(path)} <span class="hint">{required ? "(otherwise null)" : "(optional)"}</span>
          </span>
        </label>
      )}
      {isSet || !isOptional ? (
        <FieldOf schema={schema} value={value} path={path} label={name} />
      ) : (
        <Notes field={field} path={pathText(path)} />
      )}
    </div>
  );
}

/** Description, constraints, and the error in the last answer. */
function Notes({
  field,
  path,
  problem,
}: {
  readonly field: Field;
  readonly path: string;
  readonly problem?: string | undefined;
}) {
  const error = errorAt.value?.path === path ? errorAt.value.text : undefined;
  return (
    <div class="notes" id={`${controlId(path)}:notes`}>
      {field.description !== "" && <p>{field.description}</p>}
      {(field.rules !== "" || field.deprecated) && (
        <p class="hint">
          {field.rules.replace(/^(?:object|array|string|boolean|number)(?: · |$)/, "")}
          {field.deprecated && <strong> deprecated</strong>}
        </p>
      )}
      {problem !== undefined && <p class="problem">{problem}</p>}
      {error !== undefined && (
        <p class="problem server" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

function FieldOf({ schema, value, path, label }: FieldProps) {
  const field = fields.value?.field(schema);
  if (field === undefined) return null;
  const at = pathText(path);
  const invalid = errorAt.value?.path === at;
  const examples = field.examples.length > 0 && (
    <span class="examples">
      {field.examples.map((example, i) => (
        <button type="button" class="small" key={i} onClick={() => set(path, example)}>
          {field.examples.length === 1 ? `Example for ${at}` : `Example ${i + 1} for ${at}`}
        </button>
      ))}
    </span>
  );
  if (field.kind === "union")
    return <UnionBody field={field} value={value} path={path} label={label} schema={schema} />;
  if (field.kind === "object" || field.kind === "list") {
    return (
      <fieldset
        id={controlId(at)}
        tabIndex={-1}
        aria-describedby={`${controlId(at)}:notes`}
        class={invalid ? "invalid" : ""}
      >
        <legend>{label}</legend>
        <Notes field={field} path={at} />
        {examples}
        {field.kind === "object" && <ObjectBody field={field} value={value} path={path} schema={schema} />}
        {field.kind === "list" && <ListBody field={field} value={value} path={path} />}
      </fieldset>
    );
  }
  const problem =
    field.kind === "number"
      ? numberProblem(value instanceof Num ? value.text : String(value ?? ""), field)
      : field.secret && value === ""
        ? "not set: calls send an empty text"
        : undefined;
  return (
    <div class={invalid ? "field invalid" : "field"}>
      <label for={controlId(at)}>{label}</label>
      <Control field={field} schema={schema} value={value} path={path} invalid={invalid || problem !== undefined} />
      <Notes field={field} path={at} problem={problem} />
      {examples}
    </div>
  );
}

function ObjectBody({ field, value, path, schema }: BodyProps<"object"> & { readonly schema: Schema }) {
  if (value instanceof Map) return <Members members={field.members} value={value} path={path} />;
  return <Misfit path={path} schema={schema} />;
}

/** Shown for a value that the form cannot edit. */
function Misfit({ path, schema }: { readonly path: readonly ValueStep[]; readonly schema: Schema | undefined }) {
  return (
    <p class="problem">
      The value in the JSON has another type.{" "}
      <button type="button" class="small" onClick={() => set(path, schema && fields.value?.empty(schema))}>
        Reset {pathText(path)}
      </button>
    </p>
  );
}

function ListBody({ field, value, path }: BodyProps<"list">) {
  const at = pathText(path);
  const isMany = path.length === 1 && tool.value?.inputPorts.some(({ name, many }) => many && name === path[0]);
  const items = isList(value) ? value : [];
  const least = isMany ? Math.max(1, field.min) : field.min;
  const most = isMany ? Math.min(MAX_VALUES, field.max) : field.max;
  return (
    <>
      {items.map((item, i) => (
        <div class="item" key={i}>
          <FieldOf schema={field.places[i] ?? field.item} value={item} path={[...path, i]} label={`${at}[${i}]`} />
          <button
            type="button"
            class="small"
            aria-label={`Remove ${at}[${i}]`}
            disabled={items.length <= least}
            onClick={() => set([...path, i], undefined)}
          >
            ✕
          </button>
        </div>
      ))}
      <button
        type="button"
        class="small"
        disabled={items.length >= most}
        onClick={() =>
          set(path, [...items, fields.value?.empty(field.places[items.length] ?? field.item, 0, 1) ?? null])
        }
      >
        Add item to {at}
      </button>
      <span class="hint">
        {" "}
        {items.length} {isMany ? `of ${least} to ${most}` : items.length === 1 ? "item" : "items"}
      </span>
      {(items.length > most || items.length < least) && (
        <p class="problem">
          {items.length > most ? `more than ${most}` : `fewer than ${least}`} items: the server refuses this list
        </p>
      )}
    </>
  );
}

/** One frame: the picker of the branch, and the body of the chosen one. */
function UnionBody({ field, value, path, label }: BodyProps<"union"> & FieldProps) {
  const at = pathText(path);
  const all = fields.value;
  if (all === undefined) return null;
  const chosen = all.branchOf(value ?? null, field.branches);
  const schema = field.branches[chosen] as Schema;
  const branch = all.field(schema);
  const isFixedChoice = branch.kind === "choice" && branch.values.length === 1;
  const isScalar = branch.kind !== "object" && branch.kind !== "list" && branch.kind !== "union";
  return (
    <fieldset
      id={isScalar && !isFixedChoice ? undefined : controlId(at)}
      tabIndex={-1}
      class={errorAt.value?.path === at ? "invalid" : ""}
    >
      <legend>
        {label}{" "}
        <select
          aria-label={`Type of ${label}`}
          onChange={(event) => set(path, all.empty(field.branches[Number(event.currentTarget.value)] as Schema, 0, 1))}
        >
          {field.branches.map((each, i) => (
            <option key={i} value={i} selected={i === chosen}>
              {branchName(all, each, i)}
            </option>
          ))}
        </select>
      </legend>
      <Notes field={{ ...field, rules: "" }} path={at} />
      {branch.kind === "object" && <ObjectBody key={chosen} field={branch} value={value} path={path} schema={schema} />}
      {branch.kind === "list" && <ListBody key={chosen} field={branch} value={value} path={path} />}
      {branch.kind === "union" && (
        <UnionBody key={chosen} field={branch} value={value} path={path} label={label} schema={schema} />
      )}
      {isScalar && !isFixedChoice && (
        <FieldOf key={chosen} schema={schema} value={value} path={path} label={branchName(all, schema, chosen)} />
      )}
    </fieldset>
  );
}

type ControlProps = BodyProps<Field["kind"]> & { readonly schema: Schema; readonly invalid: boolean };

function Control({ field, schema, value, path, invalid }: ControlProps) {
  const at = pathText(path);
  const common = { id: controlId(at), "aria-describedby": `${controlId(at)}:notes`, "aria-invalid": invalid };
  const text = value == null ? "" : choiceText(value);
  const typed = {
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      set(path, currentTarget.value),
  };
  switch (field.kind) {
    case "choice": {
      const chosen = field.values.findIndex((each) => choiceText(each) === text);
      return (
        <select {...common} onChange={(event) => set(path, field.values[Number(event.currentTarget.value)])}>
          {chosen < 0 && (
            <option value="" selected>
              {text}
            </option>
          )}
          {field.values.map((each, i) => (
            <option key={choiceText(each)} value={i} selected={i === chosen}>
              {choiceText(each)}
            </option>
          ))}
        </select>
      );
    }
    case "number":
      return (
        <input
          {...common}
          value={text}
          inputMode={field.integer ? "numeric" : "decimal"}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            const digits = currentTarget.value.trim();
            set(path, NUMBER.test(digits) ? new Num(digits) : digits);
          }}
        />
      );
    case "date":
      return (
        <Row>
          <input {...common} {...typed} autocomplete="off" placeholder="2026-01-31T12:00:00Z" />
          <button type="button" class="small" onClick={() => set(path, new Date().toISOString())}>
            Now for {at}
          </button>
        </Row>
      );
    case "bytes":
      return (
        <Row>
          <input {...common} {...typed} autocomplete="off" spellcheck={false} placeholder="base64" />
          <input
            type="file"
            aria-label={`File for ${at}`}
            onChange={async ({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file !== undefined) set(path, base64Of(new Uint8Array(await file.arrayBuffer())));
            }}
          />
        </Row>
      );
    case "null":
      return <input {...common} value="null" readOnly />;
    case "text":
      if (field.secret) {
        return <input {...common} {...typed} type="password" autocomplete="new-password" />;
      }
      return <textarea {...common} {...typed} {...asInput} rows={1} autocomplete="off" />;
    default:
      return (
        <AnyJson
          id={common.id}
          describedBy={common["aria-describedby"]}
          value={value ?? null}
          schema={schema}
          onValue={(next) => set(path, next)}
        />
      );
  }
}

/** Lets a textarea act as an input while its text is one line. Shift+Enter adds a line break. */
const asInput = {
  onKeyDown(event: TargetedKeyboardEvent<HTMLTextAreaElement>) {
    if (event.key === "Enter" && !event.shiftKey && !event.currentTarget.value.includes("\n")) event.preventDefault();
  },
  onPaste(event: TargetedClipboardEvent<HTMLTextAreaElement>) {
    const pasted = event.clipboardData?.getData("text") ?? "";
    const kept = pasted.replace(/\r?\n?$/, "");
    if (kept === pasted || event.currentTarget.value.includes("\n")) return;
    event.preventDefault();
    // Unlike an assignment of the value, the browser can undo this.
    document.execCommand("insertText", false, kept);
  },
};

function Row({ children }: { readonly children: ComponentChildren }) {
  return <div class="row">{children}</div>;
}

/** Number of bytes for each call of `String.fromCharCode`. */
const CHUNK = 8192;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}
