/** `svc-gen completion SHELL`: a script that completes commands and options, generated from the table of commands. */

import { unknownName } from "./arguments.js";
import { type Command, defineCommand, EXIT, UsageError } from "./command.js";

const SHELLS = { bash, zsh, fish };

export function completionCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: "completion",
    arguments: "bash|zsh|fish",
    summary: "print a script that completes commands and options in your shell",
    options: {},
    examples: [
      ['eval "$(svc-gen completion bash)"', "in ~/.bashrc"],
      ['eval "$(svc-gen completion zsh)"', "in ~/.zshrc, after compinit"],
      ["svc-gen completion fish | source", "in config.fish"],
    ],
    run: ({ args: [shell, ...more], print }) => {
      if (shell === undefined || more.length > 0)
        throw new UsageError("completion expects one shell: bash, zsh or fish");
      if (!Object.hasOwn(SHELLS, shell)) throw unknownName("shell", shell, Object.keys(SHELLS));
      print(SHELLS[shell as keyof typeof SHELLS](candidates(commands())));
      return EXIT.done;
    },
  });
}

/** Words that may follow `svc-gen`, and words that may follow each of those. */
interface Candidates {
  readonly first: readonly string[];
  readonly after: ReadonlyMap<string, readonly string[]>;
}

function candidates(commands: readonly Command[]): Candidates {
  const options = (command: Command | undefined) => Object.keys(command?.options ?? {}).map((name) => `--${name}`);
  const after = new Map<string, string[]>();
  for (const command of commands) {
    const [first = "", second] = command.name.split(" ");
    const words = [...(second === undefined ? [] : [second]), ...options(command), "--help"];
    after.set(first, [...new Set([...(after.get(first) ?? []), ...words])]);
  }
  return { first: [...after.keys(), ...options(commands[0]), "--help", "--version"], after };
}

function bash({ first, after }: Candidates): string {
  const cases = [...after].map(([word, words]) => `    ${word}) words="${words.join(" ")}" ;;`).join("\n");
  return `_svc_gen() {
  local words="${first.join(" ")}"
  [ "$COMP_CWORD" -gt 1 ] && case "\${COMP_WORDS[1]}" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  return 0
}
complete -F _svc_gen svc-gen
`;
}

function zsh({ first, after }: Candidates): string {
  const cases = [...after].map(([word, words]) => `    ${word}) candidates=(${words.join(" ")}) ;;`).join("\n");
  return `_svc_gen() {
  local word="$words[2]"
  local -a candidates=(${first.join(" ")})
  (( CURRENT > 2 )) && case "$word" in
${cases}
  esac
  compadd -a candidates || _files
}
compdef _svc_gen svc-gen
`;
}

function fish({ first, after }: Candidates): string {
  const rules = [...after].map(
    ([word, words]) => `complete -c svc-gen -n "__fish_seen_subcommand_from ${word}" -a "${words.join(" ")}"`,
  );
  return `complete -c svc-gen -n "__fish_use_subcommand" -a "${first.join(" ")}"\n${rules.join("\n")}\n`;
}
