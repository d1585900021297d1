import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KEPT_BY, type Settings } from "../../replay/tune/settings.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { text } from "../../stack/report/printed.ts";
import type { CommandSurroundings, Printer } from "../io.ts";
import { lengthMs } from "../options/time-options.ts";
import { readCandidates } from "../replay/candidates.ts";
import { type PriceOptions, pricePerHour } from "../replay/price.ts";
import { barText, type ReplayThreads, startReplayThreads } from "../replay/replay-threads.ts";
import { readTunedDays } from "../replay/days.ts";
import { readTraceInput, type TraceOptions } from "../replay/trace-input.ts";
import type { FileOptions } from "../select/read-sources.ts";
import { manifestText, printedTune, type TuneOutput } from "../tune/printed-tune.ts";
import { tuneReport, type TuneReport } from "../tune/report.ts";
import { type SearchSize, SHORT_SEARCH, searched, WHOLE_SEARCH } from "../tune/search.ts";
import { type TuneSubject, tracedSubject } from "../tune/subject.ts";
import { usage } from "../usage-error.ts";

export interface TuneOptions extends PriceOptions {
  readonly keep?: string;
  readonly days?: string;
  readonly seed?: string;
  readonly write?: string;
  readonly quick?: true;
  readonly objective: Objective;
  readonly output: TuneOutput;
}

export type Objective = "cost" | "safety" | "events";

/** What a search is asked, read before anything is opened. */
export interface AskedTune {
  readonly kept: ReadonlySet<keyof Settings>;
  readonly seed: number;
  readonly price: number | undefined;
}

/** More jobs than any machine has cores: a search always has some that wait. */
const MANY_JOBS = 1_000;

/** Searches the numbers of a manifest on a recorded load. It opens no data folder and no stack. */
export const tuneTrace = async (
  surroundings: CommandSurroundings<"columns" | "stdin">,
  options: TuneOptions &
    FileOptions &
    TraceOptions & { readonly period?: string; readonly validate: Validation },
): Promise<void> => {
  const asked = askedTune(options);
  const periodMs = lengthMs("--period", options.period ?? "15s");
  const candidates = await readCandidates(surroundings.printer, options, surroundings.io.stdin);
  const [candidate, more] = candidates;
  if (!candidate || more)
    throw usage(
      `Cannot tune ${candidates.length} manifests together: give the manifest of one autoscaler with -f`,
    );
  const input = await readTraceInput(options);
  const subject = tracedSubject(candidate, input, { periodMs, days: options.days });
  await inThreads((threads) => tuneOne(surroundings, threads, subject, { ...options, ...asked }));
};

export const inThreads = async (work: (threads: ReplayThreads) => Promise<void>): Promise<void> => {
  const threads = startReplayThreads(MANY_JOBS);
  try {
    await work(threads);
  } finally {
    await threads.end();
  }
};

/** Searches, prints, and writes the manifests where a folder is given. */
export const tuneOne = async (
  { printer, io }: CommandSurroundings<"columns">,
  threads: ReplayThreads,
  subject: TuneSubject,
  options: Omit<TuneOptions, "keep" | "seed" | "price"> & AskedTune,
): Promise<void> => {
  const report = await tunedReport(printer, threads, subject, {
    ...options,
    size: options.quick ? SHORT_SEARCH : WHOLE_SEARCH,
  });
  const ordered = byObjective(report, options.objective);
  await printer.print(
    printedTune(ordered, options.output, {
      columns: io.columns,
      periodMs: subject.now.span.periodMs,
    }),
  );
  if (options.write !== undefined) await writeManifests(printer, options.write, ordered);
};

export const tunedReport = async (
  printer: Pick<Printer, "progress">,
  threads: ReplayThreads,
  subject: TuneSubject,
  { kept, seed, price, size }: AskedTune & { readonly size: SearchSize },
): Promise<TuneReport> => {
  const found = await searched(subject, threads, {
    ...{ size, seed, kept },
    onProgress: (done, all) => printer.progress(progressText(subject.of, done, all)),
  });
  printer.progress(`${subject.of}: the named points are replayed`);
  const report = await tuneReport(subject, found, threads, { seed, price });
  printer.progress();
  return report;
};

const progressText = (of: string, done: number, all: number): string =>
  `${of}: ${barText(done / all)} ${done} of ${all} policies are replayed`;

/** The point that an objective asks for. */
const FIRST_POINT = { cost: "cheapest", safety: "safest", events: "fewest" } as const;

/** The point of the objective stands first behind the policy of now. */
const byObjective = (report: TuneReport, objective: Objective): TuneReport => {
  const rank = (name: TuneReport["points"][number]["name"]): number =>
    name === "current" ? 0 : name === FIRST_POINT[objective] ? 1 : 2;
  return {
    ...report,
    points: report.points.toSorted((one, other) => rank(one.name) - rank(other.name)),
  };
};

/** Reads the options of a search. Throws a usage error with the option. */
export const askedTune = ({ keep, seed, days, ...priced }: TuneOptions): AskedTune => {
  if (days !== undefined) readTunedDays(days);
  return { kept: keptBy(keep), seed: seedOf(seed), price: pricePerHour(priced) };
};

const keptBy = (keep: string | undefined): AskedTune["kept"] => {
  const words = keep === undefined ? [] : keep.split(",").map((word) => word.trim());
  const names = words.flatMap((word) => {
    const known = Object.hasOwn(KEPT_BY, word) ? KEPT_BY[word] : undefined;
    if (known) return known;
    throw usage(`Cannot read --keep "${word}": give some of ${Object.keys(KEPT_BY).join(",")}`);
  });
  if (new Set(words).size === Object.keys(KEPT_BY).length)
    throw usage(`Cannot use --keep "${keep}": there is nothing left to tune`);
  return new Set(names);
};

const SEED_MOST = 2 ** 31 - 1;

const seedOf = (seed = "1"): number => {
  const number = /^\d{1,10}$/.test(seed) ? Number(seed) : Number.NaN;
  if (number <= SEED_MOST) return number;
  throw usage(`Cannot read --seed "${seed}": give a whole number from 0 to ${SEED_MOST}`);
};

/** One file a point. A file that is there is not overwritten. */
const writeManifests = async (
  printer: Pick<Printer, "report">,
  folder: string,
  { points }: TuneReport,
): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const { name, manifest, policy } of points) {
    if (!policy) continue;
    const file = join(folder, `${name}.yaml`);
    await writeFile(file, manifestText(manifest), { flag: "wx" }).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw usage(`Cannot write "${file}": it is there already; give another folder`);
    });
    printer.report(text`${file} is written`);
  }
};
