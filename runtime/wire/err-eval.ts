/** A result of the reserved failure variant `_err_eval`, with its single port `reason`. */
export class ErrEval {
  constructor(readonly reason: string) {}
}
