import { packageVersion } from "../../dashboard/serve/version.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { block, lines as printedLines, text } from "../../stack/report/printed.ts";
import {
  type Audited,
  deciding,
  missingIn,
  topRecord,
  wholeAudit,
} from "../../answers/audit/audited.ts";
import { LATE_MS } from "../../answers/audit/daily.ts";
import { chained, type Chain, verified } from "../../answers/audit/chain.ts";
import { readRecords, type ReadRecord } from "../../answers/audit/read-records.ts";
import type { AuditRecord } from "../../answers/audit/record.ts";
import { AUDIT_FORMATS, type AuditFormatName } from "../audit/format.ts";
import { linesOfFile, withSpool } from "../audit/spool.ts";
import type { Printer, Session } from "../io.ts";
import { rangeMs } from "../options/time-options.ts";
import { filterOf, type ScopeOptions } from "../options/scope-options.ts";
import { batches } from "../output/documents.ts";
import { usage } from "../usage-error.ts";

export interface AuditOptions extends ScopeOptions {
  readonly since?: string;
  readonly until?: string;
  readonly verify?: readonly string[];
  readonly head?: string;
  readonly output: AuditFormatName;
}

const DEFAULT_DAYS = 30;

/** Refuses options that contradict each other, before anything is opened. */
export const checkOptions = ({ verify, head, since, until }: AuditOptions): void => {
  if (verify === undefined && head !== undefined)
    throw usage(
      "Cannot use --head without --verify: an audit that is printed has a head of its own",
    );
  const given = since === undefined ? until : since;
  if (verify !== undefined && given !== undefined)
    throw usage(
      `Cannot use --verify together with --${since === undefined ? "until" : "since"} "${given}": the file has its period`,
    );
};

/** Prints who changed what, and every scale with its reason and the edit whose spec decided it. */
export const audit = async (
  session: Session,
  printer: Printer,
  options: AuditOptions,
): Promise<void> => {
  const { service, place, nowMs } = session;
  const filter = filterOf(options);
  const { sinceMs = nowMs - DEFAULT_DAYS * DAY_MS, untilMs = nowMs } = rangeMs(
    options,
    nowMs,
    printer.note,
  );
  const period = { sinceMs: Math.max(0, sinceMs), untilMs };
  const decided = deciding();
  let read = 0;
  const noted = async function* (): AsyncGenerator<ReadRecord> {
    for await (const one of readRecords(service, filter, period)) {
      decided.note(one);
      if (++read % PROGRESS_EVERY === 0) printer.progress(text`Read ${read} scales and edits`);
      yield one;
    }
  };
  await withSpool(noted(), async (kept) => {
    printer.progress("Reading which edits decided, and when no sync was made");
    const message = `${place}, read at ${new Date(nowMs).toISOString()} by tidemark ${packageVersion()}`;
    const whole: Audited = {
      top: topRecord(filter, period, { message }),
      kept,
      deciders: await decided.deciders(service),
      missing: await missingIn(service, { filter, period, nowMs }),
    };
    printer.progress();
    const chain = await print(printer, options.output, wholeAudit(whole));
    printer.report(text`Head of the chain of ${chain.lines} lines: ${chain.head}`);
    if (nowMs - untilMs < LATE_MS)
      printer.note(
        "scales of the last ten minutes may still come: an audit of a period that ended before then is whole",
      );
  });
};

const PROGRESS_EVERY = 1_000;

/** Prints records as a chain, batch by batch, and gives the chain with its last line. */
const print = async (
  printer: Printer,
  output: AuditFormatName,
  records: AsyncIterable<AuditRecord>,
): Promise<Chain> => {
  const writer = chained(AUDIT_FORMATS[output]);
  const put = (all: readonly string[]): Promise<boolean> =>
    printer.print(block(all.map((each) => `${each}\n`).join("")));
  for await (const batch of batches(records))
    if (!(await put(batch.flatMap(writer.linesOf)))) return writer.chain();
  const end: AuditRecord = { kind: "end", count: writer.chain().lines };
  await put([...writer.linesOf(end), ...writer.end()]);
  return writer.chain();
};

/**
 * Looks whether files are audits from which nothing was taken out, and whether each follows the one
 * before it. Throws `audit.chain`, also where the head of the last one is another one than the head
 * that was noted.
 */
export const verify = async (
  printer: Printer,
  files: readonly string[],
  head: string | undefined,
): Promise<void> => {
  let before: string | undefined;
  for (const [at, file] of files.entries()) {
    const chain = await verified(file, linesOfFile(file), Object.values(AUDIT_FORMATS));
    const follows = FOLLOWS.exec(chain.top)?.[1];
    if (before !== undefined && follows !== before)
      throw broken(
        file,
        `it follows ${follows ?? "no other audit"}, and the head of "${files[at - 1]}" is ${before}; a file between them is missing, or one was made anew`,
      );
    if (at === files.length - 1 && head !== undefined && head !== chain.head)
      throw broken(
        file,
        `the head of its chain is ${chain.head}, and --head says ${head}; it is another audit, or was made anew`,
      );
    before = chain.head;
    await printer.print(
      printedLines([text`The chain of ${file} is whole: ${chain.lines} lines, head ${chain.head}`]),
    );
  }
};

/** The id of a first line in JSON: the head of the daily audit before it. */
const FOLLOWS = /"id":"([0-9a-f]{64})"\}$/;

const broken = (file: string, why: string): TidemarkError =>
  new TidemarkError("audit.chain", `Cannot verify "${file}": ${why}`, { file });
