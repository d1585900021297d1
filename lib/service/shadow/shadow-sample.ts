import type { Because } from "../../model/decision.ts";
import type { Rival } from "../../model/rival-state.ts";
import type { Evaluation } from "../../model/scale-records.ts";

/** One sync beside another controller. */
export interface ShadowSample {
  readonly atMs: number;
  readonly rivals: readonly Rival[];
  readonly current?: number;
  /** The count that the rules want; absent where they could not decide. */
  readonly own?: number;
  readonly because: Because;
  /** The count that the other controller wants, its last scale and its reason. */
  readonly rival?: number;
  readonly rivalScaledMs?: number;
  readonly rivalBecause?: Because;
}

/** The sample of an evaluation; undefined where no other controller was there. */
export const sampleOf = (atMs: number, { rivals, failed, from, to, withoutHold, because }: Evaluation): ShadowSample | undefined => {
  if (rivals === undefined) return undefined;
  const deciding = rivals.find(({ desiredReplicas }) => desiredReplicas !== undefined);
  const own = failed ? undefined : (withoutHold?.to ?? to ?? from);
  return {
    atMs,
    rivals,
    because: withoutHold?.because ?? because,
    ...(from !== undefined && { current: from }),
    ...(own !== undefined && { own }),
    ...(deciding?.desiredReplicas !== undefined && { rival: deciding.desiredReplicas }),
    ...(deciding?.lastScaleMs !== undefined && { rivalScaledMs: deciding.lastScaleMs }),
    ...(deciding?.because && { rivalBecause: deciding.because }),
  };
};
