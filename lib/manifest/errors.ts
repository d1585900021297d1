import { TidemarkError } from "../model/errors.ts";
import { clauseOf, type Problem } from "./problem.ts";

export interface Whereabouts {
  /** File, or what else the manifest is known by. */
  readonly where: string;
  readonly line?: number;
  readonly column?: number;
  /** Counted from 1, where a file holds several. */
  readonly document?: number;
}

export type ManifestUnreadable = TidemarkError<"manifest.unreadable", Whereabouts & { readonly why: string }>;
export type ManifestInvalid = TidemarkError<"manifest.invalid", { readonly where: string; readonly problems: readonly Problem[] }>;
export type ManifestUnsupported = TidemarkError<
  "manifest.unsupported",
  { readonly where: string; readonly apiVersion: string; readonly kind: string; readonly problems: readonly Problem[] }
>;

/** Text that is no YAML or JSON, or is too large or too entangled to be read. */
export const manifestUnreadable = (at: Whereabouts, why: string, cause?: unknown): ManifestUnreadable =>
  new TidemarkError("manifest.unreadable", `Cannot read ${placeOf(at)}: ${why}`, { ...at, why }, { cause });

/** A manifest that breaks rules; the message names the first field, the details hold all. */
export const manifestInvalid = (where: string, problems: readonly Problem[]): ManifestInvalid => {
  const [first] = problems;
  const more = problems.length - 1;
  const rest = more > 0 ? ` (and ${more} further problem${more === 1 ? "" : "s"})` : "";
  const clause = first ? `${clauseOf(first)}; ${first.fix}` : "it breaks a rule";
  return new TidemarkError("manifest.invalid", `Cannot accept "${where}": ${clause}${rest}`, { where, problems });
};

/** A kind of object that is not accepted. */
export const manifestUnsupported = (where: string, document: unknown, problems: readonly Problem[]): ManifestUnsupported => {
  const { apiVersion, kind } = headOf(document);
  const message = `Cannot accept "${where}": kind "${kind}" of "${apiVersion}" is not known; ${problems[0]?.detail ?? ""}`;
  return new TidemarkError("manifest.unsupported", message, { where, apiVersion, kind, problems });
};

const placeOf = ({ where, line, column, document }: Whereabouts): string =>
  [
    `"${where}"`,
    ...(document === undefined ? [] : [`document ${document}`]),
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(column === undefined ? [] : [`column ${column}`]),
  ].join(", ");

const headOf = (document: unknown): { readonly apiVersion: string; readonly kind: string } => {
  const head = (typeof document === "object" && document !== null ? document : {}) as Readonly<Record<string, unknown>>;
  return { apiVersion: String(head["apiVersion"] ?? ""), kind: String(head["kind"] ?? "") };
};
