import type { Rules, SpecReading } from "../../lib/sync/rules.ts";
import { RULES } from "../../lib/sync/rules.ts";
import type { Invocation } from "./invocation.ts";
import { noteBreach } from "./watch/breaches.ts";
import type { Ledger } from "./watch/ledger.ts";
import { watchRecommendations } from "./watch/recommendations.ts";

const SPECS_MAX = 10_000;
const specs = new Map<string, SpecReading>();

/** Manifests convert to the same spec every time: one conversion serves all workers of all seeds. */
const specOf = (manifest: string): SpecReading => {
  const known = specs.get(manifest) ?? RULES.specOf(manifest);
  if (specs.size > SPECS_MAX) specs.clear();
  specs.set(manifest, known);
  return known;
};

export const SHARED_RULES: Rules = { ...RULES, specOf };

/** The rules of one invocation, with everything that they decide noted. */
export const watchedRules = (rules: Rules, by: Invocation, ledger: Ledger, nowMs: () => number): Rules => ({
  ...rules,
  decide: (input) => {
    const decision = rules.decide(input);
    const uid = by.uids.get(`${input.namespace}/${input.name}`);
    if (uid === undefined) throw new TypeError("decided on what was not observed");
    const decided = { by, uid, input, decision, atMs: nowMs() };
    by.decided.set(uid, decided);
    watchRecommendations(ledger, decided);
    noteBreach(ledger, decided);
    return decision;
  },
});
