/** The reserved failure variant `_err_eval` with its one port `reason`. */
export class ErrEval {
  constructor(readonly reason: string) {}
}
