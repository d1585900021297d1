import { OF_EDITS } from "./edits.ts";
import { OF_LIMITS } from "./limits.ts";
import { OF_NUMBERS } from "./numbers.ts";
import { OF_PODS } from "./pods.ts";
import type { ReportGroup } from "./report.ts";
import { OF_REST } from "./rest.ts";
import { OF_ROLLOUTS } from "./rollouts.ts";
import { OF_SCHEDULES } from "./schedules.ts";

/** Every group of public reports that docs/compared.md has, in its order. */
export const REPORTS: readonly ReportGroup[] = [
  ...OF_PODS,
  ...OF_LIMITS,
  ...OF_REST,
  ...OF_ROLLOUTS,
  ...OF_SCHEDULES,
  ...OF_NUMBERS,
  ...OF_EDITS,
];
