/** The HTTP exchange of a call, and its hashes and signatures. */

import type { BytesView, ExchangeReport, HashView, SignatureView } from "../page-server/page-api.js";
import { msText } from "./history.js";
import { logLines } from "./store.js";
import { Box, Copy, Text } from "./text-box.js";

interface PanelProps {
  readonly report: ExchangeReport | undefined;
}

const NO_CALL = <p class="hint">No call yet.</p>;

export function ExchangePanel({ report }: PanelProps) {
  if (report === undefined) return NO_CALL;
  const { request, response, phases, requestId } = report.exchange;
  const steps = logLines.value.find((line) => line.request === requestId && line.steps !== null)?.steps;
  const inServer = Object.entries(steps ?? {}).filter(([name]) => name !== "all");
  const sum = (times: readonly (readonly [string, number])[]) => times.reduce((total, [, ms]) => total + ms, 0);
  const inClient = phases.map(({ name, ms }) => [name, ms] as const);
  // The client measures until the answer, with which the last step of the server ends.
  const answered = sum(inClient.slice(0, inClient.findIndex(([name]) => name === "wait") + 1));
  const times = [inClient, inServer].flatMap((list, isServer) =>
    list.map(([name, ms], i) => ({
      name: isServer ? `server: ${name}` : name,
      ms,
      start: Math.max(0, sum(list.slice(0, i)) + (isServer ? answered - sum(list) : 0)),
    })),
  );
  const share = (ms: number) => `${(100 * ms) / Math.max(report.ms, sum(inClient))}%`;
  return (
    <>
      <table class="times">
        <tbody>
          {times.map(({ name, ms, start }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <div style={{ marginLeft: share(start), width: share(ms) }} />
              </td>
              <td>{msText(ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>Request</h3>
      <Headers line={request.line} headers={request.headers} />
      <Bytes key={`${report.id} request`} label="Request body" bytes={request.body} />
      {response !== null && (
        <>
          <h3>Response</h3>
          <Headers line={`HTTP/1.1 ${response.status}`} headers={response.headers} />
          <Bytes key={`${report.id} response`} label="Response body" bytes={response.body} />
        </>
      )}
    </>
  );
}

export function SignaturesPanel({ report }: PanelProps) {
  if (report === undefined) return NO_CALL;
  const { signatures, inputHash, nonce, receipt } = report.exchange;
  if (signatures.length === 0) return <p class="hint">This call was not signed.</p>;
  return (
    <>
      {receipt !== null && (
        <p>
          <a download={`receipt-${report.id}.json`} href={`data:application/json,${encodeURIComponent(receipt)}`}>
            Save the receipt
          </a>
        </p>
      )}
      {signatures.map((each) => (
        <Signature key={each.by} signature={each} />
      ))}
      {nonce !== null && (
        <>
          <h3>
            Nonce <Copy text={nonce} label="nonce" />
          </h3>
          <p class="hex">{nonce}</p>
          <p class="hint">Covered by the tool's signature, not by the leader's.</p>
        </>
      )}
      {inputHash !== null && <InputHash hash={inputHash} />}
    </>
  );
}

function Headers({
  line,
  headers,
}: {
  readonly line: string;
  readonly headers: readonly (readonly [string, string])[];
}) {
  return (
    <Box
      label={`Headers of ${line}`}
      copied={[line, ...headers.map((each) => each.join(": "))].join("\n")}
      caption={line}
    >
      <Pairs pairs={headers} />
    </Box>
  );
}

/** Table of names and values. */
function Pairs({ pairs }: { readonly pairs: readonly (readonly [name: string, value: string])[] }) {
  return (
    <table>
      <tbody>
        {pairs.map(([name, value], i) => (
          <tr key={i}>
            <th scope="row">{name}</th>
            <td class="hex">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Bytes({ label, bytes: { length, hex, text } }: { readonly label: string; readonly bytes: BytesView }) {
  const hides = hex === "" && length > 0;
  const cut = !hides && hex.length < 2 * length;
  return (
    <details class="bytes">
      <summary>
        {label}: {length} bytes{cut && `, of which the first ${hex.length / 2} are shown`}
        {hides && ", secrets hidden"}
      </summary>
      {text !== null && <Text label={`${label} as text`} text={text} />}
      {!hides && <Text label={`${label} as hex`} text={hex.replace(/../g, "$& ")} as="hex" />}
    </details>
  );
}

function InputHash({ hash: { hash, bodyHash, ports } }: { readonly hash: HashView }) {
  return (
    <>
      <h3>
        Input hash <Copy text={hash} label="input hash" />
      </h3>
      <p class="hex">{hash}</p>
      {bodyHash !== hash && <p class="problem">The hash of the values in the body differs: {bodyHash}</p>}
      <Box
        label="Hashed values"
        copied={JSON.stringify(ports, null, 2)}
        caption="SHA-256 of a domain prefix and, for each port in order, the SHA-256 of the text of each value"
      >
        <table>
          <thead>
            <tr>
              <th scope="col">port</th>
              <th scope="col">hashed text</th>
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
      </Box>
    </>
  );
}

const MARKS = { verified: "✓", "not verified": "✗", "no key to verify it": "–", absent: "–" } as const;

function Signature({ signature: { by, header, covers, verdict, key } }: { readonly signature: SignatureView }) {
  return (
    <>
      <h3 class={verdict === "verified" ? "good" : verdict === "not verified" ? "bad" : ""}>
        {MARKS[verdict]} signature of the {by}: {verdict}
      </h3>
      <Pairs
        pairs={[
          ["header", header],
          ...covers.map(({ name, hex }) => [`covers ${name}`, hex] as const),
          ...(key === null ? [] : [["public key", key] as const]),
        ]}
      />
    </>
  );
}
