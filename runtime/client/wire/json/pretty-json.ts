import { isAsciiSpace } from "../printable.js";

/**
 * Formats JSON text with one member or item per line, indented by two spaces. Names and scalars keep their spelling.
 */
export function prettyJson(text: string): string {
  let pretty = "";
  let line = "\n";
  for (let at = 0, end = 0; at < text.length; at = end) {
    const first = text[at] as string;
    end = at + 1;
    if (first === '"') {
      end = endOfString(text, at);
      pretty += text.slice(at, end);
    } else if (first === "{" || first === "[") {
      while (isAsciiSpace(text.charCodeAt(end))) end++;
      const isEmpty = text[end] === "}" || text[end] === "]";
      if (isEmpty) end++;
      else line += "  ";
      pretty += isEmpty ? `${first}${first === "{" ? "}" : "]"}` : first + line;
    } else if (first === "}" || first === "]") {
      line = line.slice(0, -2);
      pretty += line + first;
    } else if (first === ",") pretty += first + line;
    else if (first === ":") pretty += ": ";
    else if (!isAsciiSpace(first.charCodeAt(0))) pretty += first;
  }
  return pretty;
}

/** Position after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote < 0) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
}

/** Formats an array or object from formatted items or members. */
export function indentedBlock(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  // A JSON text has no line breaks inside its strings.
  return `${`${open}\n${parts.join(",\n")}`.replaceAll("\n", "\n  ")}\n${close}`;
}
