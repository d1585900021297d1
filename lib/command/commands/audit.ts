import { packageVersion } from "../../dashboard/serve/version.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { DAY_MS } from "../../rules/model/time-text.ts";
import { EVENT_DAYS_KEPT } from "../../stack/store/history/events.ts";
import { mapWithLimit } from "../../stack/store/table/wait-for-all.ts";
import { block, lines as printedLines, text } from "../../stack/report/printed.ts";
import type { Filter } from "../../answers/service/service.ts";
import { chained, type Chain, verified } from "../audit/chain.ts";
import { AUDIT_FORMATS, type AuditFormatName } from "../audit/format.ts";
import { gaps } from "../audit/gaps.ts";
import {
  type AuditedRef,
  type Decider,
  decidersOf,
  type Period,
  readRecords,
  type ReadRecord,
  auditedRefOf,
  withDecider,
} from "../audit/read-records.ts";
import type { AuditRecord } from "../audit/record.ts";
import { linesOfFile, withSpool } from "../audit/spool.ts";
import { totals } from "../audit/totals.ts";
import type { Printer, Session } from "../io.ts";
import { rangeMs } from "../options/time-options.ts";
import { filterOf, type ScopeOptions } from "../options/scope-options.ts";
import { batches } from "../output/documents.ts";
import { usage } from "../usage-error.ts";

export interface AuditOptions extends ScopeOptions {
  readonly since?: string;
  readonly until?: string;
  readonly verify?: string;
  readonly head?: string;
  readonly output: AuditFormatName;
}

/** The name of the form, in the first line: another form has another number. */
const FORM = "tidemark-audit/1";
const DEFAULT_DAYS = 30;
const SIDE_BY_SIDE = 8;
/** A sync that died before it could say what became of a scale is settled by the next one. */
const LATE_MS = 10 * 60_000;

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
  const { service, nowMs } = session;
  const filter = filterOf(options);
  const { sinceMs = nowMs - DEFAULT_DAYS * DAY_MS, untilMs = nowMs } = rangeMs(
    options,
    nowMs,
    printer.note,
  );
  const period = { sinceMs: Math.max(0, sinceMs), untilMs };
  const refs = new Map<string, AuditedRef>();
  let read = 0;
  const noted = async function* (): AsyncGenerator<ReadRecord> {
    for await (const one of readRecords(service, filter, period)) {
      const ref = auditedRefOf(one.record);
      if (ref && (one.decidedBy !== undefined || one.record.kind === "edit"))
        refs.set(`${ref.cluster}/${ref.namespace}/${ref.name}`, ref);
      if (++read % PROGRESS_EVERY === 0) printer.progress(text`Read ${read} scales and edits`);
      yield one;
    }
  };
  await withSpool(noted(), async (kept) => {
    printer.progress("Reading which edits decided, and when no sync was made");
    const deciders = await allDeciders(service, [...refs.values()]);
    const missing = [...expired(filter, period, nowMs), ...(await gaps(service, filter, period))];
    const records = () => merged(kept(), deciders, missing);
    const counted = totals();
    for await (const record of records()) counted.add(record);
    printer.progress();
    const top = topRecord(session, filter, period);
    const chain = await print(printer, options.output, async function* () {
      yield top;
      yield* counted.records();
      yield* records();
    });
    printer.report(text`Head of the chain of ${chain.lines} lines: ${chain.head}`);
    if (nowMs - untilMs < LATE_MS)
      printer.note(
        "scales of the last ten minutes may still come: an audit of a period that ended before then is whole",
      );
  });
};

const PROGRESS_EVERY = 1_000;

const topRecord = (
  { place, nowMs }: Session,
  { cluster, namespace }: Filter,
  { sinceMs, untilMs }: Period,
): AuditRecord =>
  present({
    kind: "audit",
    at: new Date(sinceMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    cluster,
    namespace,
    what: FORM,
    message: `${place}, read at ${new Date(nowMs).toISOString()} by tidemark ${packageVersion()}`,
  });

/** Of a period that begins before the oldest event that is kept. */
const expired = (
  { cluster, namespace }: Filter,
  { sinceMs, untilMs }: Period,
  nowMs: number,
): readonly AuditRecord[] => {
  const keptMs = nowMs - EVENT_DAYS_KEPT * DAY_MS;
  if (sinceMs >= keptMs) return [];
  return [
    present({
      kind: "gap",
      at: new Date(sinceMs).toISOString(),
      until: new Date(Math.min(keptMs, untilMs)).toISOString(),
      cluster,
      namespace,
      what: "not kept",
      hole: `scales and edits are kept for ${EVENT_DAYS_KEPT} days`,
    }),
  ];
};

type Deciders = ReadonlyMap<string, ReadonlyMap<string, Decider>>;

const allDeciders = async (
  service: Session["service"],
  refs: readonly AuditedRef[],
): Promise<Deciders> =>
  new Map(
    await mapWithLimit(
      refs,
      SIDE_BY_SIDE,
      async (ref) =>
        [`${ref.cluster}/${ref.namespace}/${ref.name}`, await decidersOf(service, ref)] as const,
    ),
  );

/** Scales and edits with what decided them, and the gaps between them, in order of time. */
async function* merged(
  kept: AsyncIterable<ReadRecord>,
  deciders: Deciders,
  missing: readonly AuditRecord[],
): AsyncGenerator<AuditRecord> {
  const left = [...missing];
  for await (const one of kept) {
    const atMs = Date.parse(one.record.at ?? "");
    while (left[0] && Date.parse(left[0].at ?? "") <= atMs) yield left.shift() ?? one.record;
    const { cluster, namespace, name } = one.record;
    yield withDecider(one, deciders.get(`${cluster}/${namespace}/${name}`) ?? new Map());
  }
  yield* left;
}

/** Prints records as a chain, batch by batch, and gives the chain with its last line. */
const print = async (
  printer: Printer,
  output: AuditFormatName,
  records: () => AsyncGenerator<AuditRecord>,
): Promise<Chain> => {
  const writer = chained(AUDIT_FORMATS[output]);
  const put = (all: readonly string[]): Promise<boolean> =>
    printer.print(block(all.map((each) => `${each}\n`).join("")));
  for await (const batch of batches(records()))
    if (!(await put(batch.flatMap(writer.linesOf)))) return writer.chain();
  const end: AuditRecord = { kind: "end", count: writer.chain().lines };
  await put([...writer.linesOf(end), ...writer.end()]);
  return writer.chain();
};

/**
 * Looks whether a file is an audit from which nothing was taken out. Throws `audit.chain`, also
 * where its head is another one than the head that was noted.
 */
export const verify = async (
  printer: Printer,
  file: string,
  head: string | undefined,
): Promise<void> => {
  const chain = await verified(file, linesOfFile(file));
  if (head !== undefined && head !== chain.head)
    throw new TidemarkError(
      "audit.chain",
      `Cannot verify "${file}": the head of its chain is ${chain.head}, and --head says ${head}; it is another audit, or was made anew`,
      { head: chain.head },
    );
  await printer.print(
    printedLines([text`The chain of ${file} is whole: ${chain.lines} lines, head ${chain.head}`]),
  );
};
