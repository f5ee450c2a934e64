/** `svc-gen keys show FILE`: describes the content of a key file. */

import { defineCommand, EXIT, JSON_OPTION } from "../../cli/command.js";
import { object } from "../../json.js";
import { ENTRY_OPTIONS, jsonText, leaderOf, oneFile, REVEAL, withKeys } from "./key-options.js";

export const keysShowCommand = defineCommand({
  name: "keys show",
  arguments: "FILE",
  summary: "print the public key of a private key, the format of the file, and who can read it",
  options: {
    "leader-id": ENTRY_OPTIONS["leader-id"],
    "key-id": ENTRY_OPTIONS["key-id"],
    reveal: REVEAL,
    json: JSON_OPTION,
  },
  examples: [
    ["svc-gen keys show leader.key", "prints the public key, for allow-lists"],
    ["svc-gen keys show tool.key --json", "for programs"],
  ],
  run: (call) =>
    withKeys((keys) => {
      const file = oneFile("keys show", call.args);
      const leader = leaderOf(call.values);
      const { key, form, mode, warnings } = keys.readKeyFile(call.cwd, file);
      const publicKey = keys.publicKeyText(key);
      const entry = keys.leaderEntry(leader, publicKey);
      const text = call.values.reveal ? form.print(key) : undefined;
      if (call.json) {
        call.print(
          jsonText(
            ["file", file],
            ["public_key", publicKey],
            text !== undefined && ["private_key", text],
            ["form", form.name],
            mode !== undefined && ["mode", mode],
            ["allowed_leaders", entry],
            ["diagnostics", warnings.map((message) => object(["severity", "warning"], ["message", message]))],
          ),
        );
        return EXIT.done;
      }
      call.print(`public key: ${publicKey}\n`);
      if (text !== undefined) call.print(`private key: ${text}\n`);
      call.print(`format: ${form.name} (${form.summary})\n`);
      if (mode !== undefined) call.print(`mode: ${mode}\n`);
      call.print(`in an allow-list: ${keys.oneLine(entry)}\n`);
      for (const warning of warnings) call.complain(`warning: ${warning}\n`);
      return EXIT.done;
    }),
});
