/** The HTTP exchange of a call, and its hashes and signatures. */

import type { BytesView, ExchangeReport } from "../page-server/page-api.js";
import { msText } from "./history.js";
import { logLines } from "./store.js";
import { Box, Text } from "./text-box.js";

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
      <Pairs title={request.line} pairs={request.headers} />
      <Bytes key={`${report.id} request`} label="Request body" bytes={request.body} />
      {response !== null && (
        <>
          <h3>Response</h3>
          <Pairs title={`HTTP/1.1 ${response.status}`} pairs={response.headers} />
          <Bytes key={`${report.id} response`} label="Response body" bytes={response.body} />
        </>
      )}
    </>
  );
}

export function SignaturesPanel({ report }: PanelProps) {
  if (report === undefined) return NO_CALL;
  const { signature, signed, receipt } = report.exchange;
  if (signed.length === 0) return <p class="hint">This call was not signed.</p>;
  return (
    <>
      {signature !== null && (
        <h3 class={signature === "verified" ? "good" : signature === "not verified" ? "bad" : ""}>
          Signature of the tool: {signature}
        </h3>
      )}
      <p class="hint">
        The leader signs the input hash. The tool signs the leader's signature, the nonce and the output hash.
      </p>
      {receipt !== null && (
        <p>
          <a download={`receipt-${report.id}.json`} href={`data:application/json,${encodeURIComponent(receipt)}`}>
            Save the receipt
          </a>
        </p>
      )}
      <Pairs title="Signed values" pairs={signed} />
    </>
  );
}

/** Table of names and values. */
function Pairs({ title, pairs }: { readonly title: string; readonly pairs: readonly (readonly [string, string])[] }) {
  return (
    <Box label={title} copied={[title, ...pairs.map((each) => each.join(": "))].join("\n")} caption={title}>
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
    </Box>
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
