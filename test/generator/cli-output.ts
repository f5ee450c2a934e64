/** The output of a running command, which a test awaits line by line. */

export class CliOutput {
  readonly #lines: string[] = [];
  #rest = "";
  #isOpen = true;
  #next: () => void = () => {};
  complaints = "";

  protected print(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    this.#lines.push(...lines);
    this.#next();
  }

  protected complain(chunk: string): void {
    this.complaints += chunk;
    this.#next();
  }

  protected close(): void {
    this.#isOpen = false;
    this.#next();
  }

  async #more(): Promise<void> {
    if (!this.#isOpen) throw new Error(`the command has ended: ${this.complaints}`);
    await new Promise<void>((resolve) => {
      this.#next = resolve;
    });
  }

  /** The next line that matches; those before it are passed over. */
  async line(wanted: RegExp): Promise<string> {
    for (;;) {
      const line = this.#lines.shift();
      if (line === undefined) await this.#more();
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

  /** Waits for a complaint, which comes by another stream than the lines. */
  async complaint(wanted: RegExp): Promise<void> {
    while (!wanted.test(this.complaints)) await this.#more();
  }
}
