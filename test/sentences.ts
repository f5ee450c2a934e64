/** The sentences of a Markdown text: of paragraphs and list items one by one, of tables and code blocks row by row. */

export interface Sentence {
  /** The number of the section it stands in, such as `7`. */
  readonly section: string;
  readonly text: string;
}

export function sentencesOf(markdown: string): Sentence[] {
  const sentences: Sentence[] = [];
  let section = "0";
  let paragraph = "";
  const flush = () => {
    for (const [text] of paragraph.matchAll(SENTENCE)) sentences.push({ section, text: text.trim() });
    paragraph = "";
  };
  for (const line of markdown.split("\n")) {
    const heading = /^#+ (\d+)?/.exec(line);
    const row = line.startsWith("|") || line.startsWith("    ");
    if (heading !== null || line.trim() === "" || row || ITEM.test(line)) flush();
    if (heading !== null) section = heading[1] ?? section;
    else if (row) {
      // The row before a table's rule names its columns.
      if (/^\|[-|\s]+\|$/.test(line)) sentences.pop();
      else sentences.push({ section, text: line.trim() });
    } else paragraph += `${paragraph === "" ? "" : " "}${line.replace(ITEM, "").trim()}`;
  }
  flush();
  return sentences;
}

const ITEM = /^(?:-|\d+\.) /;

/** Up to a full stop or colon before the beginning of another sentence. Code in backticks is never split. */
const SENTENCE = /(?:`[^`]*`|[^`])+?(?:[.:](?=\s+[A-Z★`"])|$)/g;
