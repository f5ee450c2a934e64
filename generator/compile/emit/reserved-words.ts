/** Words that cannot be the name of a variable in an ES module. */
export const RESERVED_WORDS: readonly string[] = [
  ..."arguments await break case catch class const continue debugger default delete do else enum eval export".split(
    " ",
  ),
  ..."extends false finally for function if implements import in instanceof interface let new null package".split(" "),
  ..."private protected public return static super switch this throw true try typeof undefined var void".split(" "),
  ..."while with yield".split(" "),
];
