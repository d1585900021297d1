import type { SpecKindName } from "../../../lib/rules/model/spec.ts";
import type { Invocation } from "../invocation.ts";

/** An autoscaler that is a copy of an object. */
export interface Copy {
  /** Uid of the object. */
  readonly uid: string;
  readonly kind: SpecKindName;
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** A generation of an object, as a record had it from this number of the world on. */
export interface StoredGeneration {
  readonly generation: number;
  readonly manifest: string;
  readonly storedAt: number;
}

/** What the simulation knows of autoscalers that are read from their cluster. */
export interface ObjectLedger {
  /** By uid of the autoscaler, also of those that have ended. */
  readonly copies: Map<string, Copy>;
  /** By uid of the object: the syncs whose answers did not have it. */
  readonly absences: Map<string, Set<Invocation>>;
  /** By uid of the object, in the order of the writes. */
  readonly generations: Map<string, StoredGeneration[]>;
  /**
   * By uid of an object: when its autoscaler ended. A sync that claimed before still acts by what
   * it has read.
   */
  readonly endedAt: Map<string, number>;
  /** Every edit in the history: `<uid>:<generation>`. */
  readonly changes: Set<string>;
}

export const newObjectLedger = (): ObjectLedger => ({
  copies: new Map(),
  absences: new Map(),
  generations: new Map(),
  endedAt: new Map(),
  changes: new Set(),
});
