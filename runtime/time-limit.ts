/**
 * Waits for work, at most some milliseconds. Work that takes longer goes on.
 *
 * @returns whether it ended in time; rejects when the work does in time
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
