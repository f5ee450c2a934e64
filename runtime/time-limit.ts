/**
 * Waits for a promise for at most `ms` milliseconds. Work that takes longer continues in the background.
 *
 * @returns whether the work ended in time; rejects when the work rejects in time
 */
export async function endsWithin(ms: number, work: PromiseLike<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
