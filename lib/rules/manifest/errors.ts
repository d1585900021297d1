import { clauseOf, type Problem } from "../fields/problem.ts";
import { TidemarkError } from "../model/errors.ts";
import { present } from "../model/json.ts";

export interface SourcePosition {
  /** The file, or another name of the source. */
  readonly where: string;
  readonly line?: number;
  readonly column?: number;
  /** Number of the document in its file, from 1; absent when there is only one. */
  readonly document?: number;
}

export interface ManifestRefusal {
  readonly where: string;
  /** Name of the autoscaler, if the manifest has one. */
  readonly name?: string;
  /** Each with the line of its field, or of the object that should have it. */
  readonly problems: readonly (Problem & { readonly line?: number })[];
}

/** A text that is not YAML or JSON, or exceeds a limit. */
export const manifestUnreadable = (
  at: SourcePosition,
  why: string,
  cause?: unknown,
): TidemarkError =>
  new TidemarkError(
    "manifest.unreadable",
    `Cannot read ${placeOf(at)}: ${why}`,
    { ...at, why },
    { cause },
  );

/** A manifest that breaks rules. The message has the first problem, the details have all. */
export const manifestInvalid = (refusal: ManifestRefusal): TidemarkError => {
  const [first] = refusal.problems;
  const more = refusal.problems.length - 1;
  const rest = more > 0 ? ` (and ${more} further problem${more === 1 ? "" : "s"})` : "";
  const clause = first ? `${clauseOf(first)}; ${first.fix}` : "it breaks a rule";
  return new TidemarkError(
    "manifest.invalid",
    `Cannot accept ${subjectOf(refusal)}: ${clause}${rest}`,
    refusal,
  );
};

/** A kind of object that is not accepted. */
export const manifestUnsupported = (
  refusal: ManifestRefusal,
  apiVersion: string,
  kind: string,
): TidemarkError => {
  const message = `Cannot accept ${subjectOf(refusal)}: kind "${kind}" of "${apiVersion}" is not accepted; ${refusal.problems[0]?.fix ?? ""}`;
  return new TidemarkError("manifest.unsupported", message, { ...refusal, apiVersion, kind });
};

const subjectOf = ({ where, name, problems }: ManifestRefusal): string => {
  const position = placeOf(present({ where, line: problems[0]?.line }));
  return name === undefined ? position : `"${name}" of ${position}`;
};

const placeOf = ({ where, line, column, document }: SourcePosition): string =>
  [
    `"${where}"`,
    ...(document === undefined ? [] : [`document ${document}`]),
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
  ].join(", ");

/** A field in its file, for messages: `"hpa.yaml", line 12`. */
export const placeOfField = (
  {
    where,
    lineOf,
  }: { readonly where: string; readonly lineOf: (field: string) => number | undefined },
  field: string,
): string => placeOf(present({ where, line: lineOf(field) }));

/** How many objects of one kind were passed over. */
export interface KindCount {
  readonly kind: string;
  readonly count: number;
}

/**
 * For example "passed over 12 objects of other kinds: 5 Deployment, 7 Service". A kind that another
 * command takes names that command.
 */
export const passedOverText = (counts: readonly KindCount[]): string => {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const listed = counts.map(({ kind, count }) => `${count} ${kind}`).join(", ");
  const hint = counts.some(({ kind }) => kind === "ScaledObject")
    ? "; tidemark convert -f FILE makes PodAutoscalers of ScaledObjects, and tidemark import carries the ScaledObjects of a cluster over"
    : counts.some(({ kind }) => kind === "DatadogPodAutoscaler")
      ? "; tidemark convert -f FILE makes PodAutoscalers of DatadogPodAutoscalers"
      : "";
  return `passed over ${all} object${all === 1 ? "" : "s"} of ${all === 1 ? "another kind" : "other kinds"}: ${listed}${hint}`;
};
