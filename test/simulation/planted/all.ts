import { ACCIDENT_BUGS } from "./accidents.ts";
import { CLUSTER_BUGS } from "./cluster.ts";
import { DAMAGE_BUGS } from "./damages.ts";
import { HEAD_BUGS } from "./head.ts";
import { LATE_BUGS } from "./late.ts";
import { MINUTE_BUGS } from "./minutes.ts";
import { NUMBER_BUGS } from "./numbers.ts";
import { OBJECT_BUGS } from "./objects.ts";
import { PLACE_BUGS } from "./places.ts";
import type { PlantedBug } from "./planted.ts";
import { SOURCE_BUGS } from "./sources.ts";
import { STOP_BUGS } from "./stops.ts";
import { WINDOWS_BUGS } from "./windows.ts";

/** Every row of the table in docs/proofs-report.md, "Planted mistakes". */
export const PLANTED: readonly PlantedBug[] = [
  ...HEAD_BUGS,
  ...WINDOWS_BUGS,
  ...CLUSTER_BUGS,
  ...STOP_BUGS,
  ...PLACE_BUGS,
  ...DAMAGE_BUGS,
  ...OBJECT_BUGS,
  ...NUMBER_BUGS,
  ...MINUTE_BUGS,
  ...SOURCE_BUGS,
  ...ACCIDENT_BUGS,
  ...LATE_BUGS,
];
