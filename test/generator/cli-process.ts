/** svc-gen in a process of its own, for commands that run until they are interrupted. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { atEnd } from "../teardown.js";
import { REPOSITORY } from "./project.js";

/** A running svc-gen, whose output is awaited. */
export class CliProcess {
  private readonly process: ChildProcess;
  private readonly lines: string[] = [];
  private readonly ended: Promise<number | null>;
  private isOpen = true;
  private next: () => void = () => {};
  complaints = "";

  /** @param bin the script of svc-gen: by default this repository's */
  constructor(root: string, args: readonly string[], bin = join(REPOSITORY, "generator/bin.js")) {
    this.process = spawn(process.execPath, [bin, ...args], { cwd: root });
    atEnd(() => this.process.kill("SIGKILL"));
    let rest = "";
    this.process.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const [...lines] = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      this.lines.push(...lines);
      this.next();
    });
    this.process.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.complaints += chunk;
      this.next();
    });
    this.ended = new Promise((resolve) => {
      this.process.once("close", (code) => {
        this.isOpen = false;
        this.next();
        resolve(code);
      });
    });
  }

  private async output(): Promise<void> {
    if (!this.isOpen) throw new Error(`the process has ended: ${this.complaints}`);
    await new Promise<void>((resolve) => {
      this.next = resolve;
    });
  }

  /** The next line that matches; those before it are passed over. */
  async line(wanted: RegExp): Promise<string> {
    for (;;) {
      const line = this.lines.shift();
      if (line === undefined) await this.output();
      else if (wanted.test(line)) return line;
    }
  }

  /** The next event of this name that fits; those before it are passed over. */
  async event<T extends object>(name: string, fits: (event: T) => boolean = () => true): Promise<T> {
    for (;;) {
      const event = JSON.parse(await this.line(/^\{"event":/)) as T & { readonly event: string };
      if (event.event === name && fits(event)) return event;
    }
  }

  /** Waits for a complaint, which comes by another pipe than the lines. */
  async complaint(wanted: RegExp): Promise<void> {
    while (!wanted.test(this.complaints)) await this.output();
  }

  /** The exit code. */
  exit(): Promise<number | null> {
    return this.ended;
  }

  /** Ctrl-C, or another signal; the exit code. */
  interrupt(signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
    this.process.kill(signal);
    return this.ended;
  }
}
