/** A call: what it gave, what had to happen, and the wire as it was. */

import { useEffect, useRef } from "preact/hooks";
import type {
  BytesView,
  CallReport,
  ErrorView,
  ExchangeView,
  HashView,
  SignatureView,
} from "../page-server/page-api.js";
import { controlId } from "./form.js";
import { Scrollable, Text } from "./scrollable.js";
import { logLines, shown, tool } from "./store.js";

export function Report() {
  const report = shown.value;
  if (report === undefined || report.fqn !== tool.value?.fqn) return null;
  return (
    <section class="report" aria-labelledby="report-title" aria-live="polite">
      <h3 id="report-title">Result</h3>
      <Judgement report={report} />
      <Exchange key={report.id} exchange={report.exchange} />
    </section>
  );
}

function Judgement({ report: { id, must, did, holds, kind } }: { readonly report: CallReport }) {
  const place = useRef<HTMLDListElement>(null);
  // The answer of a call from a long form would be out of sight.
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, [id]);
  const verdict =
    holds === null ? "not decided by this call" : holds ? "as the protocol says" : "NOT as the protocol says";
  const mark = holds === null ? "–" : holds ? "✓" : "✗";
  return (
    <dl ref={place} class={`judgement ${holds === null ? "" : holds ? "good" : "bad"}`} data-kind={kind}>
      <dt>must</dt>
      <dd>{must}</dd>
      <dt>did</dt>
      <dd>{did}</dd>
      <dt>so</dt>
      <dd>
        <strong>
          {mark} {verdict}
        </strong>
      </dd>
    </dl>
  );
}

function Exchange({ exchange }: { readonly exchange: ExchangeView }) {
  const { response, failure, phases, result, error, requestId, inputHash, nonce, signatures, request } = exchange;
  const lines = logLines.value.filter((line) => line.request === requestId);
  const whole = lines.find(({ replayed }) => replayed !== null);
  const total = phases.reduce((sum, { ms }) => sum + ms, 0);
  return (
    <article class="exchange" aria-label="Answer">
      <h4>
        <span class={statusClass(exchange)}>{response === null ? "no answer" : response.status}</span>{" "}
        {result !== null && <strong>{result.variant}</strong>} {error !== null && <strong>{error.code}</strong>}{" "}
        {whole?.replayed === true && <span class="badge">from the replay memory</span>}
      </h4>
      {failure !== null && <p class="problem">{failure}</p>}
      {error !== null && <Problem error={error} />}
      {result !== null && <Text label="Result" text={result.json} />}
      <p class="phases">
        {round(total)} ms: {phases.map(({ name, ms }) => `${name} ${round(ms)}`).join(" · ")}
        {whole?.steps != null &&
          ` | in the server: ${Object.entries(whole.steps)
            .map(([name, ms]) => `${name} ${round(ms)}`)
            .join(" · ")}`}
      </p>
      {signatures.length > 0 && (
        <p class="checks">
          {signatures.map(({ by, verdict }) => (
            <span key={by} class={verdict === "verified" ? "good" : verdict === "not verified" ? "bad" : ""}>
              {verdict === "verified" ? "✓" : verdict === "not verified" ? "✗" : "–"} signature of the {by}: {verdict}
            </span>
          ))}
        </p>
      )}
      <details open>
        <summary>The wire</summary>
        <h5>Request</h5>
        <Headers line={request.line} headers={request.headers} />
        <Bytes label="Request body" bytes={request.body} />
        {response !== null && (
          <>
            <h5>Response</h5>
            <Headers line={`HTTP/1.1 ${response.status}`} headers={response.headers} />
            <Bytes label="Response body" bytes={response.body} />
          </>
        )}
        {inputHash !== null && <InputHash hash={inputHash} />}
        {nonce !== null && (
          <>
            <h5>Nonce</h5>
            <p class="hex">{nonce}</p>
            <p class="hint">Not covered by the leader's signature; covered by the tool's.</p>
          </>
        )}
        {signatures.length > 0 && (
          <>
            <h5>Signatures</h5>
            {signatures.map((each) => (
              <Signature key={each.by} signature={each} />
            ))}
          </>
        )}
      </details>
      <Log requestId={requestId} lines={lines.map(({ text }) => text)} />
    </article>
  );
}

function statusClass({ response, error }: ExchangeView): string {
  return response === null || error !== null ? "bad" : "good";
}

function round(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toFixed(1);
}

function Problem({ error: { path, details, advice } }: { readonly error: ErrorView }) {
  return (
    <div class="problem">
      {details !== null && <p>{details}</p>}
      <p class="advice">{advice}</p>
      {path !== null && (
        <button type="button" class="small" onClick={() => focusField(path)}>
          Go to {path}
        </button>
      )}
    </div>
  );
}

/** The control at the path, or at the nearest one around it. */
function focusField(path: string): void {
  for (let at = path; at !== ""; at = at.replace(/(?:\.?[^.[\]]+|\[[^\]]*\])$/, "")) {
    const control = document.getElementById(controlId(at));
    if (control === null) continue;
    control.scrollIntoView({ block: "center" });
    control.focus();
    return;
  }
}

function Headers({
  line,
  headers,
}: {
  readonly line: string;
  readonly headers: readonly (readonly [string, string])[];
}) {
  return (
    <Scrollable label={`Headers of ${line}`}>
      <p class="hex">{line}</p>
      <table>
        <tbody>
          {headers.map(([name, value], i) => (
            <tr key={i}>
              <th scope="row">{name}</th>
              <td class="hex">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}

function Bytes({ label, bytes: { length, hex, text } }: { readonly label: string; readonly bytes: BytesView }) {
  const hides = hex === "" && length > 0;
  const cut = !hides && hex.length < 2 * length;
  return (
    <details class="bytes">
      <summary>
        {label}: {length} bytes{cut && `, the first ${hex.length / 2} shown`}
        {hides && ", secrets hidden"}
      </summary>
      {text !== null && <Text label={`${label} as text`} text={text} />}
      {!hides && <Text label={`${label} as hex`} text={hex.replace(/../g, "$& ")} hex />}
    </details>
  );
}

function InputHash({ hash: { hash, bodyHash, ports } }: { readonly hash: HashView }) {
  return (
    <>
      <h5>Input hash</h5>
      <p class="hex">{hash}</p>
      {bodyHash !== hash && <p class="problem">The values in the body have another hash: {bodyHash}</p>}
      <p class="hint">SHA-256 over a domain and, for each port in order, the SHA-256 of each value's text:</p>
      <Scrollable label="Hashed values">
        <table>
          <thead>
            <tr>
              <th scope="col">port</th>
              <th scope="col">value as it was hashed</th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {ports.flatMap(({ name, many, values }) =>
              values.map(({ text, commitment }, i) => (
                <tr key={`${name} ${i}`}>
                  <th scope="row">{many ? `${name}[${i}]` : name}</th>
                  <td class="hex">{text}</td>
                  <td class="hex">{commitment}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </Scrollable>
    </>
  );
}

function Signature({ signature: { by, header, covers, verdict, key } }: { readonly signature: SignatureView }) {
  return (
    <dl class="signature">
      <dt>{header}</dt>
      <dd>
        by the {by}: <strong>{verdict}</strong>
      </dd>
      <dt>covers</dt>
      {covers.map(({ name, hex }) => (
        <dd key={name} class="hex">
          {name}: {hex}
        </dd>
      ))}
      {key !== null && (
        <>
          <dt>public key</dt>
          <dd class="hex">{key}</dd>
        </>
      )}
    </dl>
  );
}

function Log({ requestId, lines }: { readonly requestId: string; readonly lines: readonly string[] }) {
  return (
    <details class="log">
      <summary>
        Log of this call: {lines.length} {lines.length === 1 ? "line" : "lines"}
      </summary>
      <p class="hint">Lines with the request id {requestId}; a server elsewhere keeps its own log.</p>
      <Text label="Log of this call" text={lines.join("\n")} />
    </details>
  );
}
