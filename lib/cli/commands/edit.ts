import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import { TidemarkError } from "../../model/errors.ts";
import type { Asked, Edited, Source } from "../../service/service.ts";
import type { Io, Printer, Session } from "../io.ts";
import { futureMs } from "../since.ts";
import { usage } from "../usage.ts";

const STDIN = "-";

/** Reads the files of `-f`, standard input for "-", in the order given. */
export const readSources = async (files: readonly string[], stdin: Io["stdin"]): Promise<readonly Source[]> => {
  if (files.filter((file) => file === STDIN).length > 1) throw usage("Cannot apply: standard input (-f -) can be read once only");
  return Promise.all(
    files.map(async (file) => (file === STDIN ? { file: "standard input", text: await textOf(stdin) } : { file, text: await readText(file) })),
  );
};

const WORDS: Readonly<Record<string, string>> = { ENOENT: "there is no such file", EISDIR: "it is a folder", EACCES: "it may not be read" };

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new TidemarkError("cli.file", `Cannot read "${file}": ${WORDS[code] ?? String(cause)}`, { file }, { cause });
  }
};

export interface ApplyCommandOptions {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly cluster?: string;
  readonly dryRun?: true;
}

/** Applies all documents of all files, or none. */
export const apply = async (session: Session, printer: Printer, options: ApplyCommandOptions, io: Io): Promise<void> => {
  const sources = await readSources(options.filename, io.stdin);
  const dryRun = options.dryRun === true;
  const applied = await session.service.apply(sources, {
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    dryRun,
  });
  for (const { warnings, ...what } of applied) {
    for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
    await printer.print(
      `${what.kind} "${what.name}" in namespace "${what.namespace}" of cluster "${what.cluster}" ${what.outcome}${dryRun ? " (dry run)" : ""}\n`,
    );
  }
};

const said = ({ cluster, namespace, name }: Edited, words: string): string =>
  `"${name}" in namespace "${namespace}" of cluster "${cluster}" ${words}\n`;

export const remove = async ({ service }: Session, printer: Printer, asked: Asked): Promise<void> => {
  await printer.print(said(await service.delete(asked), "deleted"));
};

export const pause = async ({ service, nowMs }: Session, printer: Printer, asked: Asked, until: string | undefined): Promise<void> => {
  const untilMs = until === undefined ? undefined : futureMs("--until", until, nowMs);
  const edited = await service.pause(asked, untilMs);
  const end = untilMs === undefined ? "" : ` until ${new Date(untilMs).toISOString()}`;
  await printer.print(said(edited, edited.changed ? `paused${end}` : `was paused${end} already`));
};

export const resume = async ({ service }: Session, printer: Printer, asked: Asked): Promise<void> => {
  const edited = await service.resume(asked);
  await printer.print(said(edited, edited.changed ? "resumed" : "was not paused"));
};
