/**
 * Checks of a served tool from where a leader is. No probe runs the tool: every call is refused before `invoke`, by
 * its signature, by its body, which is no JSON, or by values that do not decode. Some make an instance of the tool, as
 * health does.
 */

import { randomBytes } from "node:crypto";
import { derivePorts, isLoopback, PortError } from "svc-runtime/internal/generator";
import { buildEnvelope, JsonText, type Leader, signRequest } from "svc-runtime/leader";
import { changeText, diffDocuments } from "../contract/diff.js";
import { type JudgedMetadata, readMetadata, UnreadableMetadata } from "../contract/metadata.js";
import { ERROR_ANSWERS } from "../error-answers.js";
import { printJson } from "../json.js";
import { bad, type Check, good, skipped } from "./check.js";
import {
  certificateFault,
  errorOf,
  explainFailure,
  type NoAnswer,
  type Probe,
  type ProbeAnswer,
  printable,
  send,
  type TlsTrust,
} from "./http.js";

export interface ServerQuestions {
  /** The text of the committed `meta.json`, if any. */
  readonly committed: string | undefined;
  /** Signs the probes; without it they are signed by an unknown leader. */
  readonly leader: Leader | undefined;
  readonly headerPrefix: string;
  readonly ca: Buffer | undefined;
  /** Whether a server without signatures is what its operator wants. */
  readonly unsigned: boolean;
  /** The limit of a body. */
  readonly maxBody: number;
  /** Sends a body of this size instead of announcing one of the limit. */
  readonly size: number | undefined;
}

const TIMEOUT_MS = 15_000;
/** A gateway that refuses an announced length does so at once; one that takes it waits for the body. */
const ANNOUNCED_MS = 3_000;
const MAX_CLOCK_MS = 60_000;
const MIN_CERTIFICATE_DAYS = 7;
const DAY_MS = 86_400_000;
/** No JSON, so that a server without signatures refuses it too. */
const NO_JSON = Buffer.from("svc-gen doctor");

/** The address of a tool: the given one without `/invoke`, `/health`, `/meta` and slashes at its end. */
export function baseOf(url: URL): URL {
  const base = new URL(url.origin);
  base.pathname = url.pathname.replace(/\/+$/, "").replace(/\/(?:invoke|health|meta)$/, "");
  return base;
}

/** All checks in order. A check whose ground is missing is left out. */
export async function checkServer(base: URL, questions: ServerQuestions): Promise<Check[]> {
  const checks: Check[] = [];
  const doctor = new ServerDoctor(base, questions, (check) => checks.push(check));
  await doctor.run();
  return checks;
}

class ServerDoctor {
  #trust: TlsTrust;

  readonly #base: URL;
  readonly #questions: ServerQuestions;
  readonly #tell: (check: Check) => void;

  constructor(base: URL, questions: ServerQuestions, tell: (check: Check) => void) {
    this.#base = base;
    this.#questions = questions;
    this.#tell = tell;
    this.#trust = { ca: questions.ca, anyCertificate: false };
  }

  async run(): Promise<void> {
    const began = Date.now();
    const health = await this.#connect();
    if (health === undefined) return;
    const middle = (began + Date.now()) / 2;
    if (health.status >= 300 && health.status < 400) {
      const to = printable(health.headers.location ?? "nowhere");
      const next = `leaders follow no redirect: register the address that it leads to, or end the redirect`;
      this.#tell(bad("redirects", `${health.status} to ${to}`, next));
      return;
    }
    this.#tell(good("redirects", "none"));
    await this.#checkHealth(health);
    const metadata = await this.#checkMetadata();
    // Nothing else is to be learnt at an address that is no tool's.
    if (metadata === "not found") return;
    await this.#checkRouting();
    this.#tell(this.#checkClock(health, middle));
    const isSigned = await this.#checkMode();
    const arrived = isSigned ? await this.#checkHeaders() : false;
    if (isSigned === false) {
      this.#tell(skipped("headers", "signature headers are not read without signatures"));
      this.#tell(skipped("body", "without signatures nothing tells whether a body was changed"));
    } else if (isSigned) this.#tell(await this.#checkBody(metadata, arrived));
    this.#tell(await this.#checkSize());
  }

  /** The first request, and what TLS says of it. */
  async #connect(): Promise<ProbeAnswer | undefined> {
    let answer = await this.#get("/health");
    const fault = "failure" in answer ? certificateFault(answer.failure) : undefined;
    if (fault !== undefined) {
      this.#tell(bad("tls", fault.detail, fault.next));
      this.#trust = { ...this.#trust, anyCertificate: true };
      answer = await this.#get("/health");
    }
    if ("failure" in answer) {
      const { detail, next } = explainFailure(answer.failure, this.#base);
      this.#tell(bad("connection", detail, next));
      return undefined;
    }
    this.#tell(good("connection", this.#base.host));
    if (fault === undefined) this.#tell(this.#judgeTls(answer));
    return answer;
  }

  #judgeTls({ tls }: ProbeAnswer): Check {
    if (tls === undefined) {
      if (isLoopback(this.#base.hostname)) return skipped("tls", "plain HTTP on this machine");
      const next = "serve over https: who can read a request can repeat it (docs/guide/signatures.md)";
      return bad("tls", "plain HTTP over a network", next);
    }
    const days = Math.floor((Date.parse(tls.certificate.valid_to) - Date.now()) / DAY_MS);
    const detail = `${tls.protocol}, the chain is trusted, the certificate ends in ${days} ${days === 1 ? "day" : "days"}`;
    if (days >= MIN_CERTIFICATE_DAYS) return good("tls", detail);
    return bad("tls", detail, "renew the certificate; a running server takes the new files by itself");
  }

  async #checkHealth(answer: ProbeAnswer): Promise<void> {
    const { status } = answer;
    if (status === 200) this.#tell(good("health", "200"));
    else if (status === 404) this.#tell(bad("health", "404: no tool has this path", await this.#toolsHere()));
    else if (status === 500 || (status === 503 && answer.body.length === 0)) {
      const why =
        status === 500 ? "its health() or its construction threw" : "the tool says so, or its health() took too long";
      this.#tell(bad("health", `${status}: ${why}`, "look at the server's log"));
    } else this.#tell(this.#unexpected("health", answer));
    const head = await this.#ask({ method: "HEAD", url: this.#at("/health") });
    if ("failure" in head) this.#tell(this.#failed("head", head));
    else if (head.status === status) this.#tell(good("head", `${head.status}, as GET`));
    else {
      const next = "let the gateway pass HEAD as it is: balancers ask for health with it";
      this.#tell(bad("head", `HEAD is ${head.status} where GET is ${status}`, next));
    }
  }

  /** The paths of tools at the same origin, for an address that is none. */
  async #toolsHere(): Promise<string> {
    const answer = await this.#ask({ method: "GET", url: new URL("/tools", this.#base) });
    const paths = "failure" in answer || answer.status !== 200 ? undefined : textsIn(answer.body);
    if (paths === undefined) return "give the address of a tool, such as https://tools.example/sum";
    const all = paths.map((path) => `${this.#base.origin}/${path.replace(/^\/+/, "")}`).map(printable);
    return all.length === 0 ? "the server has no tools" : `the tools here are ${all.slice(0, 5).join(", ")}`;
  }

  /** Paths and methods that are none: a gateway that answers for the server shows here. */
  async #checkRouting(): Promise<void> {
    const unknown = await this.#get(`/doctor-${randomBytes(6).toString("hex")}`);
    if ("failure" in unknown) this.#tell(this.#failed("unknown paths", unknown));
    else if (unknown.status === 404) {
      const who = errorOf(unknown) === undefined ? "by the gateway" : "by the server";
      this.#tell(good("unknown paths", `404, ${who}`));
    } else {
      const next = "a gateway or an application answers for every path: leaders would take its pages for answers";
      this.#tell(bad("unknown paths", `${unknown.status} where 404 is expected`, next));
    }
    const get = await this.#get("/invoke");
    if ("failure" in get) this.#tell(this.#failed("methods", get));
    else if (get.status === 405 && get.headers.allow === "POST") this.#tell(good("methods", "GET of /invoke is 405"));
    else this.#tell(this.#unexpected("methods", get, "GET of /invoke: "));
  }

  async #checkMetadata(): Promise<JudgedMetadata | "not found" | undefined> {
    const answer = await this.#get("/meta");
    if ("failure" in answer) return this.#none(this.#failed("metadata", answer));
    if (answer.status === 404) {
      this.#tell(bad("metadata", "404: no tool has this path", await this.#toolsHere()));
      return "not found";
    }
    if (answer.status !== 200) return this.#none(this.#unexpected("metadata", answer));
    let served: JudgedMetadata;
    try {
      [served] = readMetadata(answer.body, "the answer", true) as [JudgedMetadata];
    } catch (error) {
      if (!(error instanceof UnreadableMetadata)) throw error;
      const next = "the answer is not that of a tool server: look at the address and at the gateway";
      return this.#none(bad("metadata", printable(error.message), next));
    }
    this.#tell(this.#compare(served, answer.body.toString()));
    const expected = `${this.#base.href.replace(/\/$/, "")}/`;
    if (served.url === expected) this.#tell(good("public url", expected));
    else {
      const next =
        "let the gateway set X-Forwarded-Proto and X-Forwarded-Host to what callers use, and pass the path unchanged";
      this.#tell(bad("public url", `/meta says ${printable(served.url ?? "")}, asked was ${expected}`, next));
    }
    return served;
  }

  #compare(served: JudgedMetadata, text: string): Check {
    const { committed } = this.#questions;
    if (committed === undefined)
      return skipped("metadata", `${served.fqn}; there is no meta.json here to compare with`);
    const own = toolIn(committed, served.fqn);
    if (own === undefined) {
      const next =
        "run doctor in the project of this tool; or deploy what meta.json says (svc-gen diff compares versions)";
      return bad("metadata", `the server has ${served.fqn}, the meta.json here has not`, next);
    }
    const members = ["description", "timeout", "input_schema", "output_schema"].filter(
      (name) => textOf(served, name) !== textOf(own, name),
    );
    if (members.length === 0) return good("metadata", `${served.fqn}, as in meta.json`);
    const differences = diffDocuments(
      { name: "the server", text: `[${text}]` },
      { name: "meta.json", text: committed },
    );
    const tool = served.fqn.split("@")[0];
    const [first] = differences.find((each) => each.tool === tool)?.changes ?? [];
    const detail = `the server's ${members.join(", ")} of ${served.fqn} is not that of meta.json`;
    const next = "build and deploy again, or run svc-gen: one of the two is old";
    return bad(
      "metadata",
      first === undefined ? detail : `${detail}: ${first.kind}: ${printable(changeText(first))}`,
      next,
    );
  }

  #checkClock({ headers }: ProbeAnswer, here: number): Check {
    const there = Date.parse(headers.date ?? "");
    if (Number.isNaN(there)) return skipped("clock", "the answer has no Date");
    // A Date has whole seconds.
    const away = Math.round((there + 500 - here) / 1000);
    if (Math.abs(away) * 1000 <= MAX_CLOCK_MS) return good("clock", `${Math.abs(away)} s away from this one`);
    const next = "synchronise both machines (NTP): certificates, logs and the leaders' own records need it";
    return bad("clock", `${Math.abs(away)} s ${away > 0 ? "ahead of" : "behind"} this machine`, next);
  }

  /** Whether signatures are required; undefined when that cannot be told. */
  async #checkMode(): Promise<boolean | undefined> {
    const answer = await this.#post(NO_JSON, {});
    if ("failure" in answer) return this.#none(this.#failed("signatures", answer));
    const code = errorOf(answer)?.code;
    if (code === "auth_failed") {
      this.#tell(good("signatures", "required: an unsigned call is 401"));
      return true;
    }
    if (code !== "input_deserialization_error") return this.#none(this.#unexpected("signatures", answer));
    const detail = "not required: everybody who reaches the server may call";
    if (this.#questions.unsigned) this.#tell(good("signatures", `${detail}, as wanted`));
    else if (isLoopback(this.#base.hostname))
      this.#tell(skipped("signatures", `${detail}; this is a loopback address`));
    else {
      const next =
        "name a configuration by SVC_TOOLKIT_CONFIG_PATH (svc-gen config init); when this is wanted: --unsigned";
      this.#tell(bad("signatures", detail, next));
    }
    return false;
  }

  /** Sends all signature headers over a random hash. No inputs have it, so the request is of no use to who reads it. */
  async #checkHeaders(): Promise<boolean> {
    const { leader, headerPrefix } = this.#questions;
    const signer = leader ?? { id: "svc-gen-doctor", keyId: 0, key: randomBytes(32) };
    const request = signRequest({ body: NO_JSON, inputHash: randomBytes(32) }, signer, { headerPrefix });
    const answer = await this.#post(request.body, request.headers);
    if ("failure" in answer) return this.#none(this.#failed("headers", answer)) ?? false;
    const { code = "", details = "" } = errorOf(answer) ?? {};
    const isUnknown = code === "auth_failed" && details.endsWith("no such leader and key in the allow-list");
    if (leader === undefined && isUnknown) {
      this.#tell(good("headers", "all six arrived; --leader-key and --leader-id would prove the signature too"));
      return true;
    }
    if (code === "input_deserialization_error") {
      this.#tell(good("headers", "all six arrived, and the leader's signature verifies"));
      return true;
    }
    if (code !== "auth_failed") {
      this.#tell(this.#unexpected("headers", answer));
      return false;
    }
    this.#tell(bad("headers", `401 ${details}`, this.#headerStep(details, signer)));
    return false;
  }

  #headerStep(details: string, { id, keyId }: Leader): string {
    const row = "(troubleshooting: auth_failed)";
    const [, prefix] = /^(\S+-)Sig-V: /.exec(details) ?? [];
    if (prefix !== undefined && prefix !== this.#questions.headerPrefix) {
      return `the server reads headers that begin with ${prefix}: --header-prefix ${prefix} ${row}`;
    }
    if (details.endsWith("no such leader and key in the allow-list")) {
      return `list leader ${id} with key ${keyId} in the allow-list; when it is there, look for "stays in force" in the log: the new version may have been refused ${row}`;
    }
    if (details.endsWith("does not verify")) {
      return `the listed public key is not that of this private key, or a hop changed the header ${row}`;
    }
    if (details.endsWith("given twice")) return `a gateway sends the header again: let it pass each header once ${row}`;
    return `a gateway drops or changes the header: let it pass all headers that begin with ${this.#questions.headerPrefix} ${row}`;
  }

  /** A call whose hash is right and whose first value is no JSON: the hash is compared, the tool is not run. */
  async #checkBody(metadata: JudgedMetadata | undefined, arrived: boolean): Promise<Check> {
    const { leader, headerPrefix } = this.#questions;
    if (leader === undefined) {
      const next = "--leader-key FILE --leader-id ID signs a probe that shows it";
      return skipped("body", "whether bodies arrive unchanged is seen by signed probes only", next);
    }
    if (metadata === undefined || !arrived) return skipped("body", "needs metadata and headers that arrive");
    const ports = inputPorts(metadata);
    if (ports === undefined) return skipped("body", "the schemas of the metadata have no ports");
    if (ports.length === 0) return skipped("body", "the tool has no inputs: every call would run it");
    const notJson = new JsonText(Buffer.from([0xff]));
    // Canonical, and changed by programs that read and write JSON.
    const sensitive = new JsonText('["é/\\u0001",1.0,1e+16,18446744073709551615]');
    const input = Object.fromEntries(
      ports.map(({ name, many }, at) => [
        name,
        many ? [at === 0 ? notJson : sensitive, sensitive] : at === 0 ? notJson : sensitive,
      ]),
    );
    const request = signRequest(buildEnvelope(ports, input), leader, { headerPrefix });
    const answer = await this.#post(request.body, request.headers);
    if ("failure" in answer) return this.#failed("body", answer);
    const { code, details = "" } = errorOf(answer) ?? {};
    const isEnvelope = /^(?:body|ports)\b/.test(details) && !details.includes(": not JSON: ");
    if (code === "input_deserialization_error" && !isEnvelope) {
      return good("body", "it arrives unchanged: the input hash agrees");
    }
    if (code !== "permission_denied") return this.#unexpected("body", answer);
    return good("body", "it arrives unchanged: the input hash agrees; the tool's authorize refuses this leader");
  }

  /** A body at the limit: the tool has to answer, not a gateway. */
  async #checkSize(): Promise<Check> {
    const { size, maxBody } = this.#questions;
    const bytes = size ?? maxBody;
    const what = size === undefined ? `an announced body of ${bytes} bytes` : `a body of ${bytes} bytes`;
    const answer = await this.#ask({
      method: "POST",
      url: this.#at("/invoke"),
      headers: { "Content-Type": "application/json" },
      ...(size === undefined ? { announced: bytes, timeoutMs: ANNOUNCED_MS } : { body: Buffer.alloc(bytes, "x") }),
    });
    if ("failure" in answer) {
      if (size === undefined && answer.failure === "timeout") {
        return good("size", `${what} is taken; --size ${bytes} would send one`);
      }
      const next = "raise the limit of the gateway (nginx: client_max_body_size 12m)";
      return bad("size", `${what}: the connection ended without an answer (${answer.failure})`, next);
    }
    const error = errorOf(answer);
    if (error?.code === "payload_too_large") {
      const detail = `${what} is over the tool's own limit: ${error.details}`;
      if (bytes > maxBody) return skipped("size", detail);
      return bad("size", detail, `${nextStep("payload_too_large")}; if the limit is meant, leaders have to know it`);
    }
    if (error?.code === "auth_failed" || error?.code === "input_deserialization_error") {
      return good("size", `${what} reaches the tool`);
    }
    if (answer.status !== 413) return this.#unexpected("size", answer, `${what}: `);
    const next =
      "raise the limit of the gateway to that of the tool (nginx: client_max_body_size 12m) (troubleshooting: payload_too_large)";
    return bad("size", `${what} is refused by a gateway (413 that is not the tool's)`, next);
  }

  #none(check: Check): undefined {
    this.#tell(check);
  }

  #failed(name: string, { failure }: NoAnswer): Check {
    const { detail, next } = explainFailure(failure, this.#base);
    return bad(name, detail, next);
  }

  /** An answer that no server of a tool in good health gives to this probe. */
  #unexpected(name: string, answer: ProbeAnswer, what = ""): Check {
    const error = errorOf(answer);
    const { status, headers } = answer;
    const after = headers["retry-after"] === undefined ? "" : `, Retry-After ${printable(headers["retry-after"])}`;
    if (error !== undefined) {
      const details = error.details === "" ? "" : `: ${error.details}`;
      const lacking = status === 503 && after === "" ? "; the gateway drops Retry-After" : "";
      const next = nextStep(error.code) ?? "see docs/protocol.md, section 7";
      return bad(name, `${what}${status} ${error.code}${details}${after}`, `${next}${lacking}`);
    }
    const isGateway = status === 502 || status === 503 || status === 504;
    const next = isGateway
      ? "a gateway answers: it does not reach the server. Look at whether that runs, and at the address of it in the gateway"
      : "something other than the tool answers: look at the address and at the gateway's rules";
    return bad(name, `${what}${status} without an error of the protocol`, next);
  }

  #at(path: string): URL {
    const url = new URL(this.#base);
    url.pathname = `${this.#base.pathname.replace(/\/$/, "")}${path}`;
    return url;
  }

  #get(path: string): Promise<ProbeAnswer | NoAnswer> {
    return this.#ask({ method: "GET", url: this.#at(path) });
  }

  #post(body: Uint8Array, headers: Readonly<Record<string, string>>): Promise<ProbeAnswer | NoAnswer> {
    const type = { "Content-Type": "application/json" };
    return this.#ask({ method: "POST", url: this.#at("/invoke"), headers: { ...type, ...headers }, body });
  }

  #ask(probe: Omit<Probe, "timeoutMs"> & Partial<Pick<Probe, "timeoutMs">>): Promise<ProbeAnswer | NoAnswer> {
    return send({ timeoutMs: TIMEOUT_MS, ...probe }, this.#trust);
  }
}

const textOf = ({ document }: JudgedMetadata, name: string) => printJson(document.get(name) ?? null);

/** A tool of a `meta.json`; undefined when it has none of this name, or cannot be read. */
function toolIn(text: string, fqn: string): JudgedMetadata | undefined {
  try {
    return readMetadata(Buffer.from(text), "meta.json").find((tool) => tool.fqn === fqn);
  } catch (error) {
    if (error instanceof UnreadableMetadata) return undefined;
    throw error;
  }
}

/** Undefined when the metadata is not that of a tool. */
function inputPorts({ input, output }: JudgedMetadata) {
  try {
    return derivePorts(printJson(input), printJson(output)).inputPorts;
  } catch (error) {
    if (error instanceof PortError) return undefined;
    throw error;
  }
}

/** The texts in a JSON array; undefined for anything else. */
function textsIn(body: Buffer): string[] | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : undefined;
  } catch {
    return undefined;
  }
}

/** The next step after an answer with this code. Undefined for a code that is not the protocol's. */
function nextStep(code: string): string | undefined {
  const answer = ERROR_ANSWERS.get(code);
  return answer && `${answer.operator} (troubleshooting: ${code})`;
}
