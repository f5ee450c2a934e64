/** Counters of this process for a shared store, for metrics. */

import type { SharedReplayStats } from "svc-runtime/internal/redis";

export type ClaimOutcome = "run" | "completed" | "in_flight" | "lost" | "full" | "unavailable";

export class Figures {
  readonly claims = new Map<string, Record<ClaimOutcome, number>>();
  readonly errors = new Map<string, number>();
  renewals = 0;
  droppedWrites = 0;
  takeBacks = 0;
  losses = 0;
  reclaimed = 0;
  restored = 0;
  conflicts = 0;

  /** Initialises the counters of a tool, so that metrics contain them from the start. */
  countTool(tool: string): void {
    if (this.claims.has(tool)) return;
    this.claims.set(tool, { run: 0, completed: 0, in_flight: 0, lost: 0, full: 0, unavailable: 0 });
  }

  claimed(tool: string, outcome: ClaimOutcome): void {
    const counts = this.claims.get(tool);
    if (counts !== undefined) counts[outcome]++;
  }

  failed(reason: string): void {
    this.errors.set(reason, (this.errors.get(reason) ?? 0) + 1);
  }

  read(now: Pick<SharedReplayStats, "up" | "running" | "pendingWrites">): SharedReplayStats {
    return { ...now, ...this };
  }
}
