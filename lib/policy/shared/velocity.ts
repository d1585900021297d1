import type { LimitFactor } from "../../model/spec-watermark.ts";
import { toI32 } from "./arithmetic.ts";

/** Pods of one step at this factor: rounded down, but at least one unless the factor is off. The order of the float operations is the original's (watermark.md 2.8). */
const step = ({ milli }: LimitFactor, current: number): number => Math.max(1, Math.floor(((Number(milli) / 1000) * current) / 100));

/** The count that one step up may reach. */
export const scaleUpLimit = (factor: LimitFactor, current: number): number =>
  factor.whole === 0n ? current : toI32(current + step(factor, current));

/** The count that one step down may reach. */
export const scaleDownLimit = (factor: LimitFactor, current: number): number =>
  factor.whole === 0n ? current : toI32(current - step(factor, current));
