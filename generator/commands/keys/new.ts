/** `svc-gen keys new [FILE]`: creates a key pair, and tells where each key belongs. */

import { defineCommand, EXIT, JSON_OPTION } from "../../cli/command.js";
import { shellWord } from "../../compile/diagnostics/quote.js";
import { leaderEntry, toolEntry } from "../../keys/key-entries.js";
import { writeKeyFile } from "../../keys/key-file.js";
import { newKey } from "../../keys/key-forms.js";
import { printJson } from "../../text/json.js";
import { ENTRY_OPTIONS, jsonText, leaderOf, REVEAL, toolOf } from "./key-options.js";

export const command = defineCommand({
  details: `Only you can read FILE, and no file is replaced. The private key is printed only with --reveal.
A leader signs its calls and a tool its results: create a separate key for each.`,
  options: {
    ...ENTRY_OPTIONS,
    tool: { type: "string", value: "FQN", summary: "tool in the printed entry (default: the tool in ./meta.json)" },
    reveal: REVEAL,
    json: JSON_OPTION,
  },
  examples: [
    ["svc-gen keys new leader.key --leader-id alice", "alice signs calls with this key"],
    ["svc-gen keys new tool.key --tool xyz.demo.sum@1", "the tool signs results with this key"],
  ],
  run: ({ args: [file = "signing.key"], cwd, json, print, values }) => {
    const [leader, tool] = [leaderOf(values), toolOf(values.tool, cwd)];
    const { text, publicKey } = newKey();
    writeKeyFile(cwd, file, text);
    const forLeaders = leaderEntry(leader, publicKey);
    const place = `the text in ${file}`;
    const forTool = toolEntry(tool, values.reveal ? text : place);
    if (json) {
      print(
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
  ${printJson(forLeaders)}

Or the key of a tool: leaders get the public key as their "toolKey". The tool's server gets this member, in
"signed_http"."tools" of its configuration${values.reveal ? "" : `, with the content of the file in place of "${place}"`}:
  ${printJson(forTool).slice(1, -1)}
`);
    return EXIT.done;
  },
});
