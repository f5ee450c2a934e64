/** `svc-gen keys new [FILE]`: creates a key pair, and tells where each key belongs. */

import { defineCommand, EXIT, JSON_OPTION, UsageError } from "../../cli/command.js";
import { shellWord } from "../../compile/diagnostics/quote.js";
import { ENTRY_OPTIONS, jsonText, leaderOf, REVEAL, toolOf, withKeys } from "./key-options.js";

const DEFAULT_FILE = "signing.key";

export const keysNewCommand = defineCommand({
  name: "keys new",
  arguments: "[FILE]",
  summary: `write a new private key to FILE (default: ${DEFAULT_FILE}) and print the entries for configurations`,
  details: `Only you can read FILE, and no file is replaced. The private key is printed only with --reveal.
A leader signs its calls and a tool its results: create a separate key for each.`,
  options: { ...ENTRY_OPTIONS, reveal: REVEAL, json: JSON_OPTION },
  examples: [
    ["svc-gen keys new leader.key --leader-id alice", "alice signs calls with this key"],
    ["svc-gen keys new tool.key --tool xyz.demo.sum@1", "the tool signs results with this key"],
  ],
  run: (call) =>
    withKeys((keys) => {
      const { args, cwd, json, print, values } = call;
      const [file = DEFAULT_FILE, ...more] = args;
      if (more.length > 0) throw new UsageError(`keys new expects one FILE at most; got ${args.length}`);
      const [leader, tool] = [leaderOf(values), toolOf(call)];
      const { text, publicKey } = keys.newKey();
      keys.writeKeyFile(cwd, file, text);
      const forLeaders = keys.leaderEntry(leader, publicKey);
      const forTool = keys.toolEntry(tool, values.reveal ? text : keys.placeholderFor(file));
      if (json) {
        call.print(
          jsonText(
            ["file", file],
            ["public_key", publicKey],
            values.reveal === true && ["private_key", text],
            ["allowed_leaders", forLeaders],
            ["tools", forTool],
          ),
        );
        return EXIT.done;
      }
      print(`wrote ${shellWord(file)}, which only you can read: the private key
${values.reveal ? `private key: ${text}\n` : ""}public key: ${publicKey}

The key of a leader: the leader keeps the file. Every server that it calls gets this entry, in "leaders" of its
allow-list:
  ${keys.oneLine(forLeaders)}

Or the key of a tool: leaders get the public key as their "toolKey". The tool's server gets this member, in
"signed_http"."tools" of its configuration${values.reveal ? "" : `, with the content of the file in place of "${keys.placeholderFor(file)}"`}:
  ${keys.memberText(forTool)}
`);
      return EXIT.done;
    }),
});
