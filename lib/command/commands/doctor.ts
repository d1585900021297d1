import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { withLocalTimes } from "../../stack/report/instant-text.ts";
import { lines, text, type Printed, type Word } from "../../stack/report/printed.ts";
import type { ExaminationView, FindingView } from "../../answers/views/doctor.ts";
import type { Paint, Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";
import { type NamedAutoscalerOfKind, queryFor } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";
import type { Filter } from "../../answers/service/service.ts";

export interface DoctorOptions {
  readonly output: "text" | "table" | DocumentFormat;
  /** Asks the cluster of one autoscaler for what else acts on its pods. */
  readonly askCluster?: true;
}

/**
 * Prints what the doctor finds. Throws `cli.unhealthy`, which prints nothing, where a finding is a
 * problem, so that the exit code says it; advice leaves it at 0.
 */
export const doctor = async (
  { service }: Session,
  printer: Printer,
  what: NamedAutoscalerOfKind | Filter,
  { output, askCluster }: DoctorOptions,
): Promise<void> => {
  if (askCluster && !("name" in what))
    throw usage("Cannot ask clusters about many autoscalers: give one name with --ask-cluster");
  const query = "name" in what ? await queryFor(service, what) : what;
  const known = await Array.fromAsync(service.doctor(query));
  const all = askCluster ? await Promise.all(known.map((one) => withBeside(service, one))) : known;
  await printer.print(printed(all, output, printer.paint));
  if (all.some(({ findings }) => findings.some(isProblem)))
    throw new TidemarkError("cli.unhealthy", "A problem was found", {});
};

/**
 * With what the rules find beside its workload. A caller who may not have the cluster asked still
 * gets the rest.
 */
const withBeside = async (
  service: Session["service"],
  one: ExaminationView,
): Promise<ExaminationView> => {
  const { cluster, namespace, name } = one;
  try {
    const { checks, findings = [] } = await service.checkCluster({
      name: cluster,
      autoscaler: { namespace, name },
    });
    const notLookedAt = checks
      .filter(({ result }) => result === "warning" || result === "failed" || result === "skipped")
      .map(
        ({ check, message, fix }) => `${check}: ${message}${fix === undefined ? "" : ` (${fix})`}`,
      );
    return {
      ...one,
      findings: [...one.findings, ...findings].toSorted(bySeverity),
      ...(notLookedAt.length > 0 && { notLookedAt }),
    };
  } catch (error) {
    if (!isTidemarkError(error)) throw error;
    return { ...one, notLookedAt: [`the cluster: ${error.message}`] };
  }
};

const bySeverity = (one: FindingView, other: FindingView): number =>
  Number(isProblem(other)) - Number(isProblem(one));

const isProblem = ({ severity }: FindingView): boolean => severity === "problem";

const printed = (
  all: readonly ExaminationView[],
  output: DoctorOptions["output"],
  paint: Paint,
): Printed => {
  const shown = withLocalTimes(all);
  if (output === "text")
    return lines([...shown.flatMap((one) => blockOf(one, paint)), sumOf(shown)]);
  if (output === "table") return lines(tableOf(shown, paint));
  return documentText(all, output);
};

const pathOf = ({ cluster, namespace, name }: ExaminationView): string =>
  `${cluster}/${namespace}/${name}`;

const painted = (paint: Paint, { severity, rule }: FindingView): Word =>
  paint(severity === "problem" ? "bad" : "warn", rule);

/** What was seen, what it costs and what to change, a line each. */
const blockOf = (one: ExaminationView, paint: Paint): readonly Word[] => {
  const { notLookedAt = [] } = one;
  return one.findings.length + notLookedAt.length === 0
    ? []
    : [
        paint("strong", pathOf(one)),
        ...one.findings.flatMap((finding) => [
          text`  ${painted(paint, finding)}: ${finding.evidence}`,
          `    costs:  ${finding.cost}`,
          `    change: ${changeText(finding.change)}`,
        ]),
        ...notLookedAt.map((point) => `  not looked at: ${point}`),
      ];
};

const changeText = ({ field, value, advice }: FindingView["change"]): string =>
  `${field}${value === undefined ? "" : `: ${value}`} (${advice})`;

const tableOf = (all: readonly ExaminationView[], paint: Paint): readonly Word[] =>
  new Table(["CLUSTER", "NAMESPACE", "NAME", "FINDING", "EVIDENCE"]).lines(
    all.flatMap((one) =>
      one.findings.map((finding) => [
        one.cluster,
        one.namespace,
        one.name,
        painted(paint, finding),
        finding.evidence,
      ]),
    ),
  );

const sumOf = (all: readonly ExaminationView[]): string => {
  const found = all.flatMap(({ findings }) => findings);
  const problems = found.filter(isProblem).length;
  const examined = `${all.length} autoscaler${all.length === 1 ? "" : "s"} examined`;
  return found.length === 0
    ? `${examined}: nothing found`
    : `${examined}: ${problems} problem${problems === 1 ? "" : "s"}, ${found.length - problems} advice`;
};
