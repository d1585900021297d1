import type { AutoscalerUid } from "../../rules/model/ids.ts";

/**
 * What rules threw in this sync, by autoscaler. Rules throw nothing but mistakes of Tidemark, and a
 * mistake about one autoscaler must not stop the others of its partition. On doubt, hold: the
 * autoscaler of a mistake scales nothing, and the report of the sync has each error.
 */
export interface RuleFailures {
  readonly of: (uid: AutoscalerUid) => Error | undefined;
  readonly all: () => ReadonlyMap<AutoscalerUid, Error>;
  /** The result of a rule, or `instead` where the rule throws. */
  readonly guarded: <Result>(
    uid: AutoscalerUid,
    rule: () => Result,
    instead: (error: Error) => Result,
  ) => Result;
}

export const ruleFailures = (): RuleFailures => {
  const failures = new Map<AutoscalerUid, Error>();
  return {
    of: (uid) => failures.get(uid),
    all: () => failures,
    guarded: (uid, rule, instead) => {
      try {
        return rule();
      } catch (thrown) {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        // The first error says where it began.
        if (!failures.has(uid)) failures.set(uid, error);
        return instead(error);
      }
    },
  };
};
