import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type CliHost, EXIT, run } from "./cli.js";

/** Runs the command line of this process and sets its exit code. */
export async function runProcess(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") return closeOutput();
      if (stream === process.stdout) process.stderr.write(`svc-gen: cannot write to standard output: ${error.code}\n`);
      process.exit(EXIT.failure);
    });
  }
  process.exitCode = await run(process.argv.slice(2), PROCESS_HOST);
}

let closeOutput: () => void;
/** Resolves when a reader such as `head` has closed the pipe of an output. */
const outputClosed = new Promise<void>((done) => {
  closeOutput = done;
});

const PROCESS_HOST: CliHost = {
  cwd: process.cwd(),
  env: process.env,
  // Coloured only if both streams are terminals, because both may contain coloured text.
  colour: process.stdout.isTTY === true && process.stderr.isTTY === true && !process.env.NO_COLOR,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  readInput: () => buffer(process.stdin),
  ask: process.stdin.isTTY === true && process.stderr.isTTY === true ? ask : undefined,
  interrupted: () =>
    new Promise<void>((done) => {
      void outputClosed.then(done);
      let first: number | undefined;
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
        process.on(signal, () => {
          first ??= performance.now();
          done();
          if (performance.now() - first > ECHO_MS) process.exit(CANCELLED);
        });
      }
    }),
};

/**
 * Time, in milliseconds, within which a repeated signal is ignored: npm forwards a signal that the terminal has already
 * sent to every process of the group. A later signal ends the process at once.
 */
const ECHO_MS = 500;

/** Exit code that shells use for a program ended by Ctrl-C. */
const CANCELLED = 130;

async function ask(question: string, hidden = false): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal`, readline echoes the typed characters itself, and `silent` drops them.
  const output = hidden ? { output: silent, terminal: true, historySize: 0 } : { output: process.stderr };
  const terminal = createInterface({ input: process.stdin, ...output });
  // Printed only after readline has turned off the terminal's own echo, which would show what the user types.
  if (hidden) process.stderr.write(question);
  // Ctrl-C and Ctrl-D end the question without an answer.
  const cancel = () => {
    if (hidden) process.stderr.write("\n");
    process.exit(CANCELLED);
  };
  terminal.once("close", cancel);
  try {
    return await terminal.question(question);
  } finally {
    terminal.off("close", cancel);
    terminal.close();
    if (hidden) process.stderr.write("\n");
  }
}
