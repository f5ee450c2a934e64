/**
 * Checks a running server with requests like a leader's. No probe runs the tool: every call is rejected before
 * `invoke`, because its signature, body or values are invalid. Some probes construct the tool, like `GET /health`.
 */

import { randomBytes } from "node:crypto";
import { derivePorts, isLoopback, PortError } from "svc-runtime/internal/generator";
import { buildEnvelope, JsonText, type Leader, signRequest } from "svc-runtime/leader";
import { changeLine, type Difference, diffDocuments, PATH_CHANGED, URL_CHANGED } from "../contract/diff.js";
import { type JudgedMetadata, readListing, readMetadata, UnreadableMetadata } from "../contract/metadata.js";
import {
  type ExchangeFailure,
  type ExchangeRequest,
  type ExchangeResponse,
  exchange,
  headerOf,
} from "../http/exchange.js";
import { certificateFault, errorOf, explainFailure, printable } from "../http/failures.js";
import { listedTools } from "../http/tools-at.js";
import { authReason, ERROR_ANSWERS } from "../text/error-answers.js";
import { printJson } from "../text/json.js";
import { bad, type Check, good, skipped } from "./check.js";

export interface ServerQuestions {
  /** Text of the project's `meta.json`, if any. */
  readonly committed: string | undefined;
  /** Signer of the probes; if undefined, a random key of an unknown leader. */
  readonly leader: Leader | undefined;
  readonly headerPrefix: string;
  readonly ca: Buffer | undefined;
  /** Whether the server is expected to accept unsigned calls. */
  readonly unsigned: boolean;
  /** Expected limit of a request body, in bytes. */
  readonly maxBody: number;
  /** Size, in bytes, of a body to send. If undefined, a `Content-Length` of `maxBody` is announced without a body. */
  readonly size: number | undefined;
}

const TIMEOUT_MS = 15_000;
/** Time limit, in milliseconds, for a gateway to reject an announced length; otherwise it waits for the body. */
const ANNOUNCED_MS = 3_000;
const MIN_CERTIFICATE_DAYS = 7;
const DAY_MS = 86_400_000;
/** Invalid JSON, so that an unsigned server rejects it too. */
const INVALID_JSON = Buffer.from("svc-gen doctor");

/**
 * Runs the checks in order. Skips checks that depend on a failed one.
 *
 * @param address the tool's address, without a trailing slash
 */
export async function checkServer(address: string, questions: ServerQuestions): Promise<Check[]> {
  const checks: Check[] = [];
  const doctor = new ServerDoctor(address, questions, (check) => checks.push(check));
  await doctor.run();
  return checks;
}

const JSON_TYPE = [["Content-Type", "application/json"]] as const;

interface NoAnswer {
  readonly failure: ExchangeFailure;
  /** Whether the server asked for an announced body. */
  readonly continued: boolean;
}

class ServerDoctor {
  /** Cleared after an invalid certificate, so that the remaining checks can run. */
  #rejectUnauthorized = true;

  readonly #address: string;
  readonly #base: URL;
  readonly #questions: ServerQuestions;
  readonly #report: (check: Check) => void;

  constructor(address: string, questions: ServerQuestions, report: (check: Check) => void) {
    this.#address = address;
    this.#base = new URL(address);
    this.#questions = questions;
    this.#report = report;
  }

  async run(): Promise<void> {
    const health = await this.#connect();
    if (health === undefined) return;
    if (health.status >= 300 && health.status < 400) {
      const to = printable(headerOf(health, "location") ?? "nowhere");
      const next = "leaders do not follow redirects: register the target address, or remove the redirect";
      this.#report(bad("redirects", `${health.status} to ${to}`, next));
      return;
    }
    this.#report(good("redirects", "none"));
    await this.#checkHealth(health);
    const age = headerOf(health, "age");
    if (age !== undefined) {
      const next = "configure the gateway to cache no answers of tools: all have Cache-Control: no-store";
      this.#report(bad("cache", `a cache answered GET /health (Age: ${printable(age)})`, next));
    }
    const metadata = await this.#checkMetadata();
    // The remaining checks need a tool at this address.
    if (metadata === "not found") return;
    const isSigned = await this.#checkMode();
    const arrived = isSigned ? await this.#checkHeaders() : false;
    if (isSigned === false) {
      this.#report(skipped("headers", "an unsigned server does not read signature headers"));
      this.#report(skipped("body", "an unsigned server cannot show whether a body was changed"));
    } else if (isSigned) this.#report(await this.#checkBody(metadata, arrived));
    this.#report(await this.#checkSize());
  }

  /** Sends the first request and judges its connection. */
  async #connect(): Promise<ExchangeResponse | undefined> {
    let answer = await this.#get("/health");
    const fault = "failure" in answer ? certificateFault(answer.failure.code) : undefined;
    if (fault !== undefined) {
      this.#report(bad("tls", fault.detail, fault.next));
      this.#rejectUnauthorized = false;
      answer = await this.#get("/health");
    }
    if ("failure" in answer) {
      const { detail, next } = explainFailure(answer.failure.code, this.#base);
      this.#report(bad("connection", detail, next));
      return undefined;
    }
    this.#report(good("connection", this.#base.host));
    if (fault === undefined) this.#report(this.#judgeTls(answer));
    return answer;
  }

  #judgeTls({ tls }: ExchangeResponse): Check {
    if (tls === undefined) {
      if (isLoopback(this.#base.hostname)) return skipped("tls", "plain HTTP on this machine");
      const next = "serve over https: anyone who can read a request can repeat it (docs/keys.md)";
      return bad("tls", "plain HTTP over a network", next);
    }
    const days = Math.floor((Date.parse(tls.certificate.valid_to) - Date.now()) / DAY_MS);
    const detail = `${tls.protocol}, the chain is trusted, the certificate expires in ${days} ${days === 1 ? "day" : "days"}`;
    if (days >= MIN_CERTIFICATE_DAYS) return good("tls", detail);
    return bad("tls", detail, "renew the certificate; a running server reloads the files by itself");
  }

  async #checkHealth(answer: ExchangeResponse): Promise<void> {
    const { status } = answer;
    if (status === 200) this.#report(good("health", "200"));
    else if (status === 404) this.#report(bad("health", "404: no tool has this path", await this.#listTools()));
    else if (status === 500 || (status === 503 && answer.body.length === 0)) {
      const why =
        status === 500
          ? "the tool's health() or constructor threw"
          : "the tool reports itself unhealthy, or its health() took too long";
      this.#report(bad("health", `${status}: ${why}`, "check the server's log"));
    } else this.#report(this.#unexpected("health", answer));
  }

  /** Next step for an address without a tool: the tools at the same origin. */
  async #listTools(): Promise<string> {
    const answer = await this.#ask({ method: "GET", url: new URL("/tools", this.#base) });
    const all = "failure" in answer || answer.status !== 200 ? undefined : listedTools(this.#base.origin, answer.body);
    if (all === undefined) return "pass the address of a tool, such as https://tools.example/sum";
    const shown = all.slice(0, 5).map(([url]) => printable(url));
    return shown.length === 0 ? "the server has no tools" : `the server has the tools ${shown.join(", ")}`;
  }

  async #checkMetadata(): Promise<JudgedMetadata | "not found" | undefined> {
    const answer = await this.#get("/meta");
    if ("failure" in answer) return this.#none(this.#failed("metadata", answer));
    if (answer.status === 404) {
      this.#report(bad("metadata", "404: no tool has this path", await this.#listTools()));
      return "not found";
    }
    if (answer.status !== 200) return this.#none(this.#unexpected("metadata", answer));
    let served: JudgedMetadata;
    try {
      [served] = readMetadata(answer.body, "the answer", true) as [JudgedMetadata];
    } catch (error) {
      if (!(error instanceof UnreadableMetadata)) throw error;
      const next = "this answer is not from a tool server: check the address and the gateway";
      return this.#none(bad("metadata", printable(error.message), next));
    }
    this.#report(this.#compare(served, answer.body.toString()));
    const expected = `${this.#address}/`;
    if (served.url === expected) this.#report(good("public url", expected));
    else {
      const next =
        "configure the gateway to set X-Forwarded-Proto and X-Forwarded-Host to the scheme and host of the request, and pass the path unchanged";
      this.#report(
        bad("public url", `/meta contains the URL ${printable(served.url ?? "")}, expected ${expected}`, next),
      );
    }
    return served;
  }

  #compare(served: JudgedMetadata, text: string): Check {
    const { committed } = this.#questions;
    if (committed === undefined)
      return skipped("metadata", `${served.fqn}; this folder has no meta.json to compare with`);
    const difference = differenceIn(committed, text, served.fqn);
    if (difference === undefined) {
      const next =
        "run doctor in the project of this tool, or deploy the version in meta.json (svc-gen diff compares versions)";
      return bad("metadata", `the server has ${served.fqn}, which is not in meta.json`, next);
    }
    const [first] = difference.changes.filter(({ change }) => change !== URL_CHANGED && change !== PATH_CHANGED);
    if (first === undefined) return good("metadata", `${served.fqn}, the same as in meta.json`);
    return bad(
      "metadata",
      `the server and meta.json differ in ${served.fqn}: ${first.kind}: ${printable(changeLine(first))}`,
      "deploy the current build; or, if meta.json is older, run svc-gen",
    );
  }

  /** Whether signatures are required; undefined if unknown. */
  async #checkMode(): Promise<boolean | undefined> {
    const answer = await this.#post(INVALID_JSON, {});
    if ("failure" in answer) return this.#none(this.#failed("signatures", answer));
    const code = errorOf(answer)?.code;
    if (code === "auth_failed") {
      this.#report(good("signatures", "required: an unsigned call gets 401"));
      return true;
    }
    if (code !== "input_deserialization_error") return this.#none(this.#unexpected("signatures", answer));
    const detail = "not required: anyone who can reach the server can call it";
    if (this.#questions.unsigned) this.#report(good("signatures", `${detail} (--unsigned)`));
    else if (isLoopback(this.#base.hostname))
      this.#report(skipped("signatures", `${detail}; this is a loopback address`));
    else {
      const next =
        "set SVC_TOOLKIT_CONFIG_PATH to a configuration (svc-gen config init); if this is intended, pass --unsigned";
      this.#report(bad("signatures", detail, next));
    }
    return false;
  }

  /** Sends all signature headers, with a random hash that fits no input: a recorded request cannot run the tool. */
  async #checkHeaders(): Promise<boolean> {
    const { leader, headerPrefix } = this.#questions;
    const signer = leader ?? { id: "svc-gen-doctor", keyId: 0, key: randomBytes(32) };
    const request = signRequest({ body: INVALID_JSON, inputHash: randomBytes(32) }, signer, { headerPrefix });
    const answer = await this.#post(request.body, request.headers);
    if ("failure" in answer) return this.#none(this.#failed("headers", answer)) ?? false;
    const { code = "", details = "" } = errorOf(answer) ?? {};
    const isUnknown = code === "auth_failed" && details.endsWith("no such leader and key in the allow-list");
    if (leader === undefined && isUnknown) {
      this.#report(
        good(
          "headers",
          "the server receives all six signature headers; pass --leader-key and --leader-id to check the signature too",
        ),
      );
      return true;
    }
    if (code === "input_deserialization_error") {
      this.#report(
        good("headers", "the server receives all six signature headers, and the leader's signature is valid"),
      );
      return true;
    }
    if (code !== "auth_failed") {
      this.#report(this.#unexpected("headers", answer));
      return false;
    }
    this.#report(bad("headers", `401 ${details}`, this.#headerStep(details, signer)));
    return false;
  }

  #headerStep(details: string, { id, keyId }: Leader): string {
    const { reason, advice } = authReason(details, this.#questions.headerPrefix);
    const more =
      reason === "leader"
        ? ` (leader ${id}, key ${keyId}); if the list already contains it, search the server's log for "remains in use": the server may have refused the new list`
        : "";
    return `${advice}${more} (error code: auth_failed)`;
  }

  /**
   * Sends a call with a correct hash and an invalid first value. The server compares the hash, and rejects the value
   * before the tool runs.
   */
  async #checkBody(metadata: JudgedMetadata | undefined, arrived: boolean): Promise<Check> {
    const { leader, headerPrefix } = this.#questions;
    if (leader === undefined) {
      const next = "pass --leader-key FILE, and --leader-id ID if the ID is not leader";
      return skipped("body", "not checked: only a signed probe can show whether bodies arrive unchanged", next);
    }
    if (metadata === undefined || !arrived) return skipped("body", "not checked: needs valid metadata and headers");
    const ports = inputPorts(metadata);
    if (ports === undefined) return skipped("body", "not checked: the metadata does not describe ports");
    if (ports.length === 0)
      return skipped("body", "not checked: the tool has no input ports, so every call would run it");
    const notJson = new JsonText(Buffer.from([0xff]));
    // Canonical JSON that a gateway would change if it parsed and printed it.
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
      return good("body", "arrives unchanged: the input hash matches");
    }
    if (code !== "permission_denied") return this.#unexpected("body", answer);
    return good("body", "arrives unchanged: the input hash matches; the tool's authorize refuses this leader");
  }

  /** Sends or announces a body of the maximum size. The answer must come from the tool, not from a gateway. */
  async #checkSize(): Promise<Check> {
    const { size, maxBody } = this.#questions;
    const bytes = size ?? maxBody;
    const what = size === undefined ? `an announced body of ${bytes} bytes` : `a body of ${bytes} bytes`;
    const answer = await this.#ask({
      method: "POST",
      url: this.#at("/invoke"),
      headers: JSON_TYPE,
      ...(size === undefined ? { announced: bytes, timeoutMs: ANNOUNCED_MS } : { body: Buffer.alloc(bytes, "x") }),
    });
    if ("failure" in answer) {
      if (size === undefined && answer.failure.code === "timeout") {
        const next = `--size ${bytes} sends such a body`;
        if (answer.continued) return good("size", `the server accepts ${what}; ${next}`);
        return skipped("size", `neither the server nor a gateway answered to ${what}`, next);
      }
      const next = "raise the limit of the gateway (nginx: client_max_body_size 12m)";
      return bad("size", `${what}: the connection closed without an answer (${answer.failure.code})`, next);
    }
    const error = errorOf(answer);
    if (error?.code === "payload_too_large") {
      const detail = `${what} exceeds the tool's own limit: ${error.details}`;
      if (bytes > maxBody) return skipped("size", detail);
      return bad("size", detail, `${nextStep("payload_too_large")}; if the limit is intended, inform the leaders`);
    }
    if (error?.code === "auth_failed" || error?.code === "input_deserialization_error") {
      return good("size", `${what} reaches the tool`);
    }
    if (answer.status !== 413) return this.#unexpected("size", answer, `${what}: `);
    const next =
      "raise the limit of the gateway to the tool's (nginx: client_max_body_size 12m) (error code: payload_too_large)";
    return bad("size", `a gateway refuses ${what} (its 413 is not the tool's)`, next);
  }

  /** Reports a check that leaves no result for further checks. */
  #none(check: Check): undefined {
    this.#report(check);
  }

  #failed(name: string, { failure }: NoAnswer): Check {
    const { detail, next } = explainFailure(failure.code, this.#base);
    return bad(name, detail, next);
  }

  /** Finding for an answer that a healthy tool server does not give to this probe. */
  #unexpected(name: string, answer: ExchangeResponse, what = ""): Check {
    const error = errorOf(answer);
    const { status } = answer;
    const retryAfter = headerOf(answer, "retry-after");
    const after = retryAfter === undefined ? "" : `, Retry-After ${printable(retryAfter)}`;
    if (error !== undefined) {
      const details = error.details === "" ? "" : `: ${error.details}`;
      const lacking = status === 503 && after === "" ? "; configure the gateway to pass Retry-After" : "";
      const next = nextStep(error.code) ?? "see docs/protocol.md, section 7";
      return bad(name, `${what}${status} ${error.code}${details}${after}`, `${next}${lacking}`);
    }
    const isGateway = status === 502 || status === 503 || status === 504;
    const next = isGateway
      ? "the gateway cannot reach the server: check that it is running, and in the gateway its address, and http or https"
      : "the answer is not from the tool: check the address and the gateway's rules";
    return bad(name, `${what}${status} without a protocol error`, next);
  }

  #at(path: string): URL {
    return new URL(`${this.#address}${path}`);
  }

  #get(path: string): Promise<ExchangeResponse | NoAnswer> {
    return this.#ask({ method: "GET", url: this.#at(path) });
  }

  #post(body: Uint8Array, headers: Readonly<Record<string, string>>): Promise<ExchangeResponse | NoAnswer> {
    const all = [...JSON_TYPE, ...Object.entries(headers)];
    return this.#ask({ method: "POST", url: this.#at("/invoke"), headers: all, body });
  }

  async #ask(
    probe: Omit<ExchangeRequest, "timeoutMs"> & { readonly timeoutMs?: number },
  ): Promise<ExchangeResponse | NoAnswer> {
    const { ca } = this.#questions;
    const tls = { rejectUnauthorized: this.#rejectUnauthorized, ...(ca !== undefined && { ca }) };
    const done = await exchange({ timeoutMs: TIMEOUT_MS, tls, acceptsPart: true, ...probe });
    return done.response ?? { failure: done.failure as ExchangeFailure, continued: done.continued === true };
  }
}

/** Comparison of a tool of the server with the same version in a `meta.json`; undefined if that has none or is invalid. */
function differenceIn(committed: string, served: string, fqn: string): Difference | undefined {
  try {
    const own = readListing(Buffer.from(committed), "meta.json").find((each) => "fqn" in each && each.fqn === fqn);
    if (own === undefined || !("document" in own)) return undefined;
    const text = printJson(own.document);
    return diffDocuments({ name: "the server", text: served }, { name: "meta.json", text })[0];
  } catch (error) {
    if (error instanceof UnreadableMetadata) return undefined;
    throw error;
  }
}

/** The input ports; undefined if the schemas do not describe ports. */
function inputPorts({ input, output }: JudgedMetadata) {
  try {
    return derivePorts(printJson(input), printJson(output)).inputPorts;
  } catch (error) {
    if (error instanceof PortError) return undefined;
    throw error;
  }
}

/** What to do next after an answer with this code; undefined if the protocol has no such code. */
function nextStep(code: string): string | undefined {
  const answer = ERROR_ANSWERS.get(code);
  return answer && `${answer.operator} (error code: ${code})`;
}
