import { uidOfIntent } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import type { PurePart, SpecReading } from "../../lib/stack/sync/pure-part.ts";
import { PURE_PART } from "../../lib/stack/sync/pure-part.ts";
import { type Build, THIS_BUILD } from "./beside/build.ts";
import type { Invocation } from "./invocation.ts";
import { noteBreach } from "./watch/breaches.ts";
import { markForgettable } from "./watch/effects.ts";
import { watchForecast } from "./watch/forecasts.ts";
import type { Ledger } from "./watch/ledger.ts";
import { watchMeasured } from "./watch/measured.ts";
import { noteSeen, quietIntents } from "./watch/outside.ts";
import { watchRecommendations } from "./watch/recommendations.ts";

const SPECS_MAX = 10_000;
/**
 * Manifests convert to the same spec every time: one conversion serves all workers of all seeds.
 */
const sharing = (rules: PurePart): PurePart => {
  const specs = new Map<string, SpecReading>();
  const specOf = (manifest: string): SpecReading => {
    const known = specs.get(manifest) ?? rules.specOf(manifest);
    if (specs.size > SPECS_MAX) specs.clear();
    specs.set(manifest, known);
    return known;
  };
  return { ...rules, specOf };
};

export const SHARED_RULES: PurePart = sharing(PURE_PART);

const byBuild = new WeakMap<Build, PurePart>();

/** The rules of a build: another one may convert a manifest otherwise. */
export const sharedRules = (build: Build): PurePart => {
  if (build === THIS_BUILD) return SHARED_RULES;
  const known = byBuild.get(build) ?? sharing(build.rules);
  byBuild.set(build, known);
  return known;
};

/** The rules of one invocation, with everything that they decide noted. */
export const watchedRules = (
  rules: PurePart,
  by: Invocation,
  ledger: Ledger,
  nowMs: () => number,
): PurePart => ({
  ...rules,
  decide: (input) => {
    const decision = rules.decide(input);
    const uid = by.uids.get(`${input.namespace}/${input.name}`);
    if (uid === undefined) throw new TypeError("decided on what was not observed");
    const decided = {
      by,
      uid,
      input,
      decision,
      atMs: nowMs(),
      intents: quietIntents(ledger, by, { input }),
    };
    by.decided.set(uid, decided);
    watchRecommendations(ledger, decided);
    noteBreach(ledger, decided);
    watchMeasured(ledger, decided);
    watchForecast(ledger, rules, decided);
    return decision;
  },
  withOutsideChange: (windows, spec, change) => {
    const uid = uidOfIntent(change.eventId ?? "");
    noteSeen(ledger, uid, change.atMs);
    const after = rules.withOutsideChange(windows, spec, change);
    // The settings change no period for which scales are kept.
    if (after.memory !== windows.memory)
      markForgettable(ledger, { uid, ...change }, { spec, settings: DEFAULT_SETTINGS });
    return after;
  },
});
