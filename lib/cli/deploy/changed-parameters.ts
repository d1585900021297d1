import type { Setting } from "./settings.ts";

/** One parameter whose value a deployment changes, or that differs from its default. */
export interface ParameterRow {
  readonly name: string;
  /** Absent where the stack does not say it: there is no stack, or an earlier version did not carry this parameter. */
  readonly deployed?: string;
  readonly wanted: string;
  /**
   * `drops` a value that the stack has and the file does not name; `unknown` where the stack does not say its value, and the file names none.
   */
  readonly effect: "same" | "sets" | "drops" | "unknown";
}

/** Compares the values of a file with those that the stack has, by name, in the order of serverless.yml. */
export const parameterRows = (
  settings: readonly Setting[],
  values: Readonly<Record<string, string>>,
  deployed: Readonly<Record<string, string>> | undefined,
): readonly ParameterRow[] =>
  settings.map(({ name, key, fallback }) => {
    const wanted = values[name] ?? fallback;
    const present = deployed?.[key];
    if (present === undefined) return { name, wanted, effect: deployed === undefined || Object.hasOwn(values, name) ? "sets" : "unknown" };
    if (present === wanted) return { name, deployed: present, wanted, effect: "same" };
    return { name, deployed: present, wanted, effect: Object.hasOwn(values, name) ? "sets" : "drops" };
  });
