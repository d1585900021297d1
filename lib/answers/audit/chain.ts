import { hash } from "node:crypto";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { AuditFormat, AuditKind, AuditRecord, ReadLine } from "./record.ts";

/** What stands before the first line of a chain. */
export const START = "0".repeat(64);

/** SHA-256 of the hash of the line before, a line end, and the line without its own hash. */
const linkOf = (before: string, text: string): string => hash("sha256", [before, text].join("\n"));

/** What a chain comes to: how many lines it has, and the hash of the last one. */
export interface Chain {
  readonly lines: number;
  readonly head: string;
}

/** With its first line, which says what it is of. */
export interface VerifiedChain extends Chain {
  readonly top: string;
}

/** Writes records as lines of a format, each with its hash, and what stands between them. */
export const chained = (format: AuditFormat) => {
  let last: AuditKind | undefined;
  let chain: Chain = { lines: 0, head: START };
  return {
    linesOf: (record: AuditRecord): readonly string[] => {
      const text = format.textOf(record);
      chain = { lines: chain.lines + 1, head: linkOf(chain.head, text) };
      const frame = format.frame(last, record.kind);
      last = record.kind;
      return [...frame, format.withHash(text, chain.head)];
    },
    /** What stands after the last record. */
    end: (): readonly string[] => format.frame(last, undefined),
    chain: (): Chain => chain,
  };
};

/** More than any format has between two records: what is longer is none of them. */
const FRAME_LINES_MAX = 100;

/**
 * Reads an audit line by line. Throws `audit.chain` with the first line that does not follow from
 * the lines before it: it or one before it was changed, or lines were taken out or put in.
 */
export const verified = async (
  name: string,
  lines: AsyncIterable<string>,
  formats: readonly AuditFormat[],
): Promise<VerifiedChain> => {
  const refused = (line: number, why: string): TidemarkError =>
    new TidemarkError("audit.chain", `Cannot verify "${name}": line ${line}: ${why}`, { line });
  let format: AuditFormat | undefined;
  let number = 0;
  let last: AuditKind | undefined;
  let chain: Chain = { lines: 0, head: START };
  let frame: string[] = [];
  let top = "";
  /** Compares what stands between two records with what an audit prints there. */
  const mustBeFrame = (next: AuditKind | undefined, before: number): void => {
    const expected = format?.frame(last, next) ?? [];
    const wrong = frame.findIndex((line, at) => line !== expected[at]);
    if (wrong === -1 && frame.length === expected.length) return;
    const at = before + (wrong === -1 ? frame.length : wrong);
    throw refused(at, "it is no line that an audit prints here");
  };
  for await (const line of lines) {
    number += 1;
    format ??= formats.find((one) => one.frame(undefined, "audit")[0] === line);
    if (!format) throw refused(1, "it begins no audit in csv, json or html");
    const read = format.read(line);
    if (!read) {
      frame.push(line);
      if (frame.length > FRAME_LINES_MAX) throw refused(number, "no line of an audit is here");
      continue;
    }
    mustBeFrame(read.kind, number - frame.length);
    if ((last === undefined) !== (read.kind === "audit"))
      throw refused(number, "an audit begins with the line of its period, and has only one");
    top ||= read.text;
    chain = linkedTo(chain, read, (why) => refused(number, why));
    last = read.kind;
    frame = [];
  }
  if (number === 0) throw refused(number, "the file is empty");
  if (last !== "end")
    throw refused(number, "the audit is cut off here: its last line, of the kind end, is missing");
  mustBeFrame(undefined, number - frame.length + 1);
  return { ...chain, top };
};

/** The chain with a line more. Throws where the hash of the line is another one. */
const linkedTo = (
  { lines, head: before }: Chain,
  { text, hash: stated }: ReadLine,
  refused: (why: string) => TidemarkError,
): Chain => {
  const head = linkOf(before, text);
  if (head === stated) return { lines: lines + 1, head };
  throw refused(
    `its hash is ${head}, and the line says ${stated}; ` +
      "it was changed, or a line before it was changed, taken out or put in",
  );
};
