import { usage } from "../usage-error.ts";
import { parsePath, type Step } from "./json-path.ts";

/** One part of a template: text that is printed as it is, a path, or what is repeated for each result of a path. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "path"; readonly steps: readonly Step[] }
  | { readonly kind: "range"; readonly steps: readonly Step[]; readonly body: readonly Part[] };

const ACTION = /\{((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^}"'])*)\}/y;
const QUOTED = /^(?:"(.*)"|'(.*)')$/s;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

const unescaped = (text: string): string => text.replaceAll(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter);

/**
 * Reads a template of `-o jsonpath=`, in the dialect of kubectl: paths in braces, `{range …}` to `{end}`, quoted text such as `{"\n"}`, and other text between them.
 * Nothing of it is run as code. Throws a usage error with the part that cannot be read.
 */
export const parseTemplate = (template: string): readonly Part[] => {
  const words = actionsOf(template);
  const parts = partsUntilEnd(words, template);
  if (words.length > 0) throw unreadable(template, "{end} ends no {range}");
  return parts;
};

const unreadable = (template: string, problem: string) =>
  usage(`Cannot read -o jsonpath="${template}": ${problem}; write for example -o jsonpath='{.items[*].metadata.name}'`);

type Word = { readonly text: string } | { readonly action: string };

/** Text and actions in their order. */
const actionsOf = (template: string): Word[] => {
  const words: Word[] = [];
  for (let at = 0; at < template.length; ) {
    const brace = template.indexOf("{", at);
    const end = brace < 0 ? template.length : brace;
    if (end > at) words.push({ text: template.slice(at, end) });
    if (brace < 0) break;
    ACTION.lastIndex = brace;
    const action = ACTION.exec(template);
    if (!action) throw unreadable(template, `"${template.slice(brace)}" has no closing brace`);
    words.push({ action: (action[1] ?? "").trim() });
    at = ACTION.lastIndex;
  }
  return words;
};

const RANGE = /^range\s+(.+)$/s;

/** Takes words up to the `{end}` of the range that contains them. As with kubectl, the last ranges may lack theirs. */
const partsUntilEnd = (words: Word[], template: string): readonly Part[] => {
  const parts: Part[] = [];
  for (;;) {
    const word = words[0];
    if (!word || ("action" in word && word.action === "end")) return parts;
    words.shift();
    if ("text" in word) parts.push({ kind: "text", text: word.text });
    else parts.push(partOf(word.action, words, template));
  }
};

const partOf = (action: string, words: Word[], template: string): Part => {
  const quoted = QUOTED.exec(action);
  if (quoted) return { kind: "text", text: unescaped(quoted[1] ?? quoted[2] ?? "") };
  const range = RANGE.exec(action);
  const steps = parsePath(range?.[1] ?? action, (problem) => unreadable(template, problem));
  if (!range) return { kind: "path", steps };
  const body = partsUntilEnd(words, template);
  words.shift();
  return { kind: "range", steps, body };
};
