/**
 * Counts calls of verified leaders in windows of fixed length. A window begins with its first call.
 *
 * @returns a function that counts a call, and returns 0 within the limit, otherwise the milliseconds until the window ends
 */
export function rateWindows(calls: number, windowMs: number): (leaderId: string) => number {
  // Open windows by leader, ordered by end. Ended windows are removed, so the map contains only recent callers.
  const windows = new Map<string, { readonly end: number; calls: number }>();
  return (leaderId) => {
    const now = performance.now();
    for (const [leader, { end }] of windows) {
      if (end > now) break;
      windows.delete(leader);
    }
    const window = windows.get(leaderId);
    if (window === undefined) windows.set(leaderId, { end: now + windowMs, calls: 1 });
    else if (++window.calls > calls) return window.end - now;
    return 0;
  };
}
