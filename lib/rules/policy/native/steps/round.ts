import { integer } from "../../../fields/field-types.ts";
import { atMost, difference, larger, type Rule } from "../../../fields/rule.ts";
import { MOST_REPLICAS } from "../../../model/spec-native.ts";
import { stepped } from "../../shared/steps.ts";
import { moveOf, type NativeStep } from "./sync.ts";

declare module "../../../model/spec-native.ts" {
  interface NativeRules {
    /** A change of fewer pods is not made. */
    readonly stepMinimum: number;
    readonly replicaModulo: number;
  }
}

export const ROUND_FIELDS = {
  stepMinimum: integer("A smaller change is not made.", {
    default: 1,
    least: 1,
    most: MOST_REPLICAS,
  }),
  replicaModulo: integer(
    "Counts are rounded up to multiples of this; minReplicas and maxReplicas take precedence.",
    {
      default: 1,
      least: 1,
      most: MOST_REPLICAS,
    },
  ),
};

/** A rule of the spec: no change is larger than the bounds are apart. A minimum of 1 is none. */
export const roundRule = (direction: "scaleUp" | "scaleDown"): Rule => {
  const room = difference("maxReplicas", "minReplicas");
  return {
    needs: atMost(`${direction}.stepMinimum`, larger(1, room)),
    terms: { room, most: larger(1, room) },
    detail: "must be less than or equal to {=room}: no change is that large",
    fix: "write {most} or less",
  };
};

/**
 * Step minimum and modulo of the direction: a change that is too small is not made, and counts are
 * multiples, rounded up (never fewer pods than wanted, never across the current count).
 */
export const round: NativeStep = (sync) => {
  const { current, count } = sync;
  const move = moveOf(sync);
  if (!move) return stepped(sync, "round", count);
  const { stepMinimum, replicaModulo } = move.rules;
  if (Math.abs(count - current) < stepMinimum) {
    const message = `a change of fewer than ${stepMinimum} pods is not made`;
    return stepped(sync, "round", current, { reason: "StepMinimum", value: stepMinimum, message });
  }
  const multiple = Math.ceil(count / replicaModulo) * replicaModulo;
  const after = move.up ? multiple : Math.min(multiple, current);
  if (after === count) return stepped(sync, "round", count);
  return stepped(sync, "round", after, {
    reason: "ReplicaModulo",
    value: replicaModulo,
    message: `counts are multiples of ${replicaModulo}`,
  });
};
