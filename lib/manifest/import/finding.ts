/** What becomes of an object, a field or a trigger that is not carried over as it is. */
export interface Finding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The field or the trigger: "spec.idleReplicaCount", "triggers[1] (prometheus)". Absent where it is the whole object. */
  readonly of?: string;
  /** "lost": it has an effect, and the manifest does not have it. "changed": its effect is had in another way. "without effect": nothing depends on it. */
  readonly severity: "lost" | "changed" | "without effect";
  readonly message: string;
}

/** A finding inside one object. */
export type Detail = Pick<Finding, "of" | "severity" | "message">;
