import type { Validation } from "../../manifest/validation.ts";
import type { Asked, Edited, Source } from "../../service/service.ts";
import type { Io, Printer, Session } from "../io.ts";
import { futureMs } from "../since.ts";

export interface ApplyCommandOptions {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly cluster?: string;
  readonly dryRun?: true;
  readonly validate: Validation;
}

/** Applies all documents of all files, or none. */
export const apply = async (
  session: Session,
  printer: Printer,
  sources: readonly Source[],
  options: ApplyCommandOptions,
  io: Pick<Io, "stderr">,
): Promise<void> => {
  const dryRun = options.dryRun === true;
  const applied = await session.service.apply(sources, {
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
    dryRun,
    validation: options.validate,
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
