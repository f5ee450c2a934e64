/** The calls that each client makes, and the line that it prints; programs in other languages do the same. */

export const { server, name, calls } = JSON.parse(process.env.MCP_TEST);

/** @param call returns the structured result, or an object with `isError` and a text; may throw an error */
export async function report(names, call) {
  const results = {};
  for (const [kind, args] of Object.entries(calls)) {
    results[kind] = await call(name, args).catch((error) => ({ isError: true, text: String(error) }));
  }
  console.log(`\n${JSON.stringify({ names, results })}`);
}
