import type { MetricLevel } from "../../rules/policy/shared/levels.ts";
import { usage } from "../usage-error.ts";

/** Throws a usage error for a name without an effect: no metric of the replayed policies has it. */
export const refuseIdleNames = (
  option: "--metric" | "--model",
  given: ReadonlyMap<string, unknown>,
  levels: readonly Pick<MetricLevel, "name">[],
): void => {
  const known = new Set(levels.map(({ name }) => name));
  const [idle] = [...given.keys()].filter((name) => !known.has(name));
  if (idle === undefined) return;
  const only = [...known].map((name) => `"${name}"`).join(", ");
  throw usage(`Cannot use ${option} "${idle}": no manifest has such a metric, only ${only}`);
};
