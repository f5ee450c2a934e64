/** The answer: status, result or error, and tabs with the exchange, signatures, log and contract. */

import { useEffect, useRef } from "preact/hooks";
import type { ErrorView, ExchangeReport } from "../page-server/page-api.js";
import { CHECKS } from "./checks-menu.js";
import { ContractPanel } from "./contract-panel.js";
import { ExchangePanel, SignaturesPanel } from "./exchange-panel.js";
import { controlId } from "./form/form.js";
import { classOf, msText } from "./history.js";
import { LogPanel } from "./log-panel.js";
import { answerView, called, inputView, loadContract, logLines, running, shown, verdictText } from "./store.js";
import { Tabs } from "./tabs.js";
import { Text } from "./text-box.js";

const VIEWS = [
  ["exchange", "Exchange"],
  ["signatures", "Signatures"],
  ["log", "Log"],
  ["contract", "Contract"],
] as const;

export function Answer() {
  const report = shown.value;
  const place = useRef<HTMLElement>(null);
  // In the one-column layout the answer to a call is below the form. A page that opens shows the form.
  useEffect(() => {
    if (called.value !== undefined && matchMedia("(width < 56.25rem)").matches) place.current?.scrollIntoView();
  }, [called.value]);
  return (
    <section id="answer" class="answer" aria-labelledby="answer-title" ref={place}>
      <h2 id="answer-title">Answer</h2>
      <Status report={report} />
      {report !== undefined && <Outcome key={report.id} report={report} />}
      <Tabs
        id="view"
        label="Details"
        tabs={VIEWS}
        current={answerView.value}
        onSelect={(name) => {
          answerView.value = name;
          if (name === "contract") void loadContract();
        }}
      >
        {answerView.value === "exchange" && <ExchangePanel report={report} />}
        {answerView.value === "signatures" && <SignaturesPanel report={report} />}
        {answerView.value === "log" && <LogPanel />}
        {answerView.value === "contract" && <ContractPanel />}
      </Tabs>
    </section>
  );
}

/** One-line summary of the answer, the only part that a screen reader announces. */
function Status({ report }: { readonly report: ExchangeReport | undefined }) {
  if (running.value !== undefined || report === undefined) {
    return (
      <p role="status" class="status">
        {running.value === undefined
          ? "No call yet. Fill in the form and press Ctrl-Enter: the result, its signatures and the log appear here."
          : "Calling…"}
      </p>
    );
  }
  const { status, outcome, exchange, kind, verdict, holds } = report;
  const isReplayed = linesOf(report).some(({ replayed }) => replayed === true);
  return (
    <div role="status" class={`status ${classOf(report)}`} data-kind={kind} data-id={report.id}>
      <p>
        <strong>
          {status ?? "No answer"} {exchange.error?.title ?? (status === null ? "" : outcome)}
        </strong>{" "}
        {exchange.error !== null && <code>{outcome}</code>} <span class="hint">{msText(report.ms)}</span>{" "}
        {isReplayed && <span class="badge">from the replay memory</span>}
      </p>
      {verdict !== null && (
        <p class={holds === null ? "hint" : holds ? "good" : "bad"}>
          {verdictText(report, `${kind === "call" ? "Signature" : CHECKS[kind][0]}: `)}
        </p>
      )}
    </div>
  );
}

function linesOf({ exchange: { requestId } }: ExchangeReport) {
  return logLines.value.filter(({ request }) => request === requestId);
}

function Outcome({ report }: { readonly report: ExchangeReport }) {
  const { failure, error, result } = report.exchange;
  // The verdict of a check already explains the error.
  const isExpected = report.kind !== "call" && report.holds === true;
  const exception = linesOf(report).find(({ thrown }) => thrown);
  return (
    <>
      {failure !== null && <p class="problem box">{failure}</p>}
      {exception !== undefined && <Text label="Exception" text={exception.text} caption="Exception" />}
      {error !== null && exception === undefined && !isExpected && <Problem error={error} />}
      {result !== null && <Text label="Result" text={result.json} caption="Result" />}
    </>
  );
}

function Problem({ error: { path, details, advice } }: { readonly error: ErrorView }) {
  return (
    <div class="box">
      {details !== null && <p class="problem">{details}</p>}
      <p>{advice}</p>
      {path !== null && (
        <button type="button" class="small" onClick={() => focusField(path)}>
          Go to {path}
        </button>
      )}
    </div>
  );
}

/** Focuses the control at a path, or the nearest control that encloses it. Shows the JSON if there is none. */
function focusField(path: string): void {
  const focus = () => {
    for (let at = path; at !== ""; at = at.replace(/(?:\.?[^.[\]]+|\[[^\]]*\])$/, "")) {
      const control = document.getElementById(controlId(at));
      if (control === null) continue;
      control.scrollIntoView({ block: "center" });
      control.focus();
      return;
    }
    inputView.value = "json";
  };
  if (inputView.value === "form") focus();
  else {
    inputView.value = "form";
    // The form exists after the next rendering.
    requestAnimationFrame(focus);
  }
}
