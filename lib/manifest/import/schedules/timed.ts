import type { Json } from "../../../fields/json.ts";
import { isObject } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import type { Unread, WeeklyWindow } from "./weekly.ts";

/** An entry of a schedule, as a manifest has it. */
export type Entry = Json & { readonly name: string; readonly timeZone: string };

/** The autoscalers that a timed object is for. */
export type TimedFor =
  | { readonly kind: "workload"; readonly namespace: string; readonly workload: string; readonly name: string }
  | { readonly kind: "autoscaler"; readonly namespace: string; readonly name: string }
  | { readonly kind: "namespace"; readonly namespace: string; readonly except: readonly string[] }
  /** Nothing in the object names one. */
  | { readonly kind: "only one" };

/** What becomes of a timed object: entries of a schedule, and what they do not say. */
export interface Timed {
  readonly for: TimedFor;
  readonly entries: readonly Entry[];
  readonly details: readonly Detail[];
}

export const object = (value: unknown): Json => (isObject(value) ? value : {});
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
export const countOf = (value: unknown): number | undefined =>
  Number.isInteger(Number(value)) && value !== null && value !== "" && value !== undefined ? Number(value) : undefined;

export const namespaceOf = (raw: Json): string => textOf(object(raw["metadata"])["namespace"]) ?? "default";
export const nameOf = (raw: Json): string => textOf(object(raw["metadata"])["name"]) ?? "";

export const lost = (of: string, message: string): Detail => ({ of, severity: "lost", message });
export const changed = (of: string, message: string): Detail => ({ of, severity: "changed", message });

/** One entry for each window; the second and later ones have a number. */
export const entriesOf = (windows: readonly WeeklyWindow[], entry: Entry): readonly Entry[] =>
  windows.map((window, index) => ({ ...entry, name: index === 0 ? entry.name : `${entry.name}-${index + 1}`, ...window }));

export const isUnread = (value: object): value is Unread => "unread" in value;
