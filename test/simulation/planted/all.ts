import { CLUSTER_BUGS } from "./cluster.ts";
import { HEAD_BUGS } from "./head.ts";
import type { PlantedBug } from "./planted.ts";
import { WINDOWS_BUGS } from "./windows.ts";

/** Every row of the table that ends the design's account of exactly one effect, and three more. */
export const PLANTED: readonly PlantedBug[] = [...HEAD_BUGS, ...WINDOWS_BUGS, ...CLUSTER_BUGS];
