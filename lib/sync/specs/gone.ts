import type { SpecKindName } from "../../model/spec-kinds.ts";
import { manyGone, objectGone } from "../../report/object-holds.ts";
import type { KnownSpec } from "../load-specs.ts";
import { type ComparedWith, type Finding, waitsUntilMs } from "./finding.ts";

/** More gone objects than this, and more than half of their kind, are more often a wrong address or a restored cluster than a wish. */
const FEW_GONE = 5;
/** How long many autoscalers hold before they end: time to restore the objects, and longer than any window of scales. */
const MANY_WAIT_MS = 60 * 60_000;

/*
 *  LIST without the object ── holds at once, and the record is marked
 *  next LIST without it    ── ends: the history stays, the windows go
 *  LIST with it again      ── goes on with its windows (same uid), or starts anew (another uid)
 *
 * One answer ends nothing: windows that are lost cannot be read again, and an answer can be wrong.
 */
export const goneFindings = (missing: readonly KnownSpec[], all: readonly KnownSpec[], { nowMs }: ComparedWith): readonly Finding[] => {
  const counts = Map.groupBy(all, kindOf);
  return [...Map.groupBy(missing, kindOf)].flatMap(([kind, gone]) => {
    const known = counts.get(kind)?.length ?? 0;
    const many = gone.length > FEW_GONE && gone.length > known / 2;
    return gone.map((spec) => findingOfGone(spec, { nowMs, gone: gone.length, all: known, many }));
  });
};

const kindOf = ({ record }: KnownSpec): SpecKindName | undefined => record.origin?.kind;

const findingOfGone = (
  spec: KnownSpec,
  { nowMs, many, ...counts }: { readonly nowMs: number; readonly gone: number; readonly all: number; readonly many: boolean },
): Finding => {
  const { origin } = spec.record;
  if (!origin) throw new TypeError("an autoscaler without an object cannot lose it");
  const untilMs = (origin.goneMs ?? nowMs) + MANY_WAIT_MS;
  const ends = origin.goneMs !== undefined && (!many || nowMs >= untilMs) && waitsUntilMs(origin, nowMs) === undefined;
  return { kind: "gone", spec, ends, because: many ? manyGone(origin, { ...counts, untilMs }) : objectGone(origin) };
};
