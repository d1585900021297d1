import { TidemarkError } from "../../rules/model/errors.ts";
import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { type Printed, text, type Word } from "../../stack/report/printed.ts";
import type { Service } from "../../answers/service/service.ts";
import type { StatusView, DeadLetters } from "../../answers/views/status.ts";
import { type CommandIo, type Printer, type Session, type Paint, watch } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { overrideText } from "../../answers/words/bounds-words.ts";
import { frozenText, pausedText } from "../output/describe-sheet.ts";
import { decidedText } from "../../answers/words/decided-words.ts";
import { type SheetRow, sheet } from "../output/text-table.ts";

export interface StatusOptions {
  readonly output: "text" | DocumentFormat;
  readonly watch?: true;
}

/** Moves to the first column of the first line, and clears the screen below. */
const CLEAR = text`\u001B[H\u001B[J`;

/**
 * Prints the status, with `--watch` again every five seconds until Ctrl-C. Throws `cli.unhealthy`,
 * which prints nothing, so that the exit code says it.
 */
export const status = async (
  { service, place }: Session,
  printer: Printer,
  { output, watch: again }: StatusOptions,
  io: Pick<CommandIo, "interruptible" | "screen" | "watchEveryMs">,
): Promise<void> => {
  const before = text`${again && io.screen ? CLEAR : ""}${output === "text" ? text`In ${place}:\n` : ""}`;
  let newest = await printed(service, printer, output, before);
  if (again)
    await watch(io, async (isFirst) => {
      if (!isFirst) newest = await printed(service, printer, output, before);
      return newest.read;
    });
  if (!newest.view.healthy) throw new TidemarkError("cli.unhealthy", "Something is unhealthy", {});
};

interface Shown {
  readonly view: StatusView;
  /** False when the reader has gone. */
  readonly read: boolean;
}

const printed = async (
  service: Service,
  printer: Printer,
  output: StatusOptions["output"],
  before: Printed,
): Promise<Shown> => {
  const view = await service.status();
  return {
    view,
    read: await printer.print(
      text`${before}${output === "text" ? statusSheet(withLocalTimes(view), printer.paint) : documentText(view, output)}`,
    ),
  };
};

/** Problems of one screen. The document has all. */
const PROBLEMS_SHOWN = 15;

/** The status on one screen: the counts, and then what to look at. */
export const statusSheet = (view: StatusView, paint: Paint): Printed =>
  sheet([
    ["Status", view.healthy ? paint("good", "healthy") : paint("bad", "unhealthy")],
    ["At", view.at],
    ...(view.standby ? [["Standby", standbyText(view.standby)] as const] : []),
    ["Fleet", view.frozen ? paint("warn", `frozen ${frozenText(view.frozen)}`) : "not frozen"],
    ["Clusters", clustersText(view)],
    ["Syncs", syncsText(view)],
    ["Decided", decidedText(view.decided)],
    ["Dead letters", deadLettersText(view.deadLetters)],
    ...(view.findings === undefined
      ? []
      : [["Doctor", `${view.findings} findings: tidemark doctor -A`] as const]),
    ...pauseRows(view),
    ...overrideRows(view),
    ...problemRows("Problems", view.problems, (words) => paint("bad", words)),
    ...problemRows("Worth a look", view.notices ?? [], (words) => paint("warn", words)),
    ...errorRows(view),
  ]);

const standbyText = ({ region, since }: NonNullable<StatusView["standby"]>): string =>
  `the fleet is in ${region ?? "another region"}${since === undefined ? "" : ` since ${since}`}`;

const clustersText = ({ clusters, states }: StatusView): string => {
  const counts = Object.entries(states).map(([state, count]) => `${count} ${state}`);
  return clusters === 0 ? "0" : `${clusters} (${counts.join(", ")})`;
};

const syncsText = ({ syncs: { planned, done, late } }: StatusView): string =>
  `${planned} due in the last minute, ${done} done, ${late} late`;

const deadLettersText = (counts: DeadLetters | undefined): string => {
  if (!counts) return "not known";
  const { syncs, plans } = counts;
  return plans === undefined ? `${syncs} of syncs` : `${syncs} of syncs, ${plans} of plans`;
};

const pauseRows = ({
  paused: { clusters, autoscalers, more },
}: StatusView): readonly SheetRow[] => {
  const lines = [
    ...clusters.map(({ name, ...pause }) => `cluster ${name} ${pausedText(pause)}`),
    ...autoscalers.map(
      ({ cluster, namespace, name, ...pause }) =>
        `${cluster}/${namespace}/${name} ${pausedText(pause)}`,
    ),
    ...(more > 0 ? [`and ${more} more autoscalers`] : []),
  ];
  return lines.length === 0 ? [["Paused", "nothing"]] : [{ heading: "Paused", lines }];
};

const overrideRows = ({ at, overrides }: StatusView): readonly SheetRow[] => {
  if (!overrides) return [];
  const lines = overrides.active.map((override) => overrideText(override, Date.parse(at)));
  return [
    {
      heading: "Overrides",
      lines: [
        ...lines,
        ...(overrides.more > 0 ? [`and ${overrides.more} more: tidemark override list`] : []),
      ],
    },
  ];
};

const problemRows = (
  heading: string,
  problems: StatusView["problems"],
  painted: (words: string) => Word,
): readonly SheetRow[] => {
  if (problems.length === 0) return [];
  const more = problems.length - PROBLEMS_SHOWN;
  const lines = problems
    .slice(0, PROBLEMS_SHOWN)
    .flatMap(({ message, next }) => [painted(message), `  next: ${next}`]);
  return [
    {
      heading,
      lines: [...lines, ...(more > 0 ? [`and ${more} more: tidemark status -o json`] : [])],
    },
  ];
};

/** Without the errors that a problem above them has reported. */
const errorRows = ({ errors: all, problems }: StatusView): readonly SheetRow[] => {
  const errors = all.filter(
    ({ error }) => !problems.some(({ message }) => message.endsWith(error)),
  );
  if (errors.length === 0) return [];
  return [
    {
      heading: "Last errors",
      lines: errors.map(
        ({ cluster, since, error }) =>
          `${cluster}${since === undefined ? "" : ` since ${since}`}: ${error}`,
      ),
    },
  ];
};
