import { CLOCK_ALLOWANCE_MS, WHOLE_SECOND_MS } from "./clocks.ts";
import type { KnownEffect, Ledger } from "./ledger.ts";
import { rulesOf } from "./rules-of.ts";

/**
 * After any scale of this autoscaler, up or down, the window of the direction has to pass: measured
 * between effects, as the cluster saw them.
 */
export const watchForbidden = (ledger: Ledger, effect: KnownEffect): void => {
  const { input } = effect.decided;
  const { forbiddenMs } = rulesOf(input, effect.to > effect.from);
  const last = ledger.effects.get(effect.uid)?.at(-1);
  const cutMs = CLOCK_ALLOWANCE_MS + (input.spec.dialect === "watermark" ? WHOLE_SECOND_MS : 0);
  if (!last || effect.atMs - last.atMs >= forbiddenMs - cutMs) return;
  ledger.violate(
    "forbidden windows are never cut short",
    `"${effect.id}" came ${effect.atMs - last.atMs} ms after "${last.id}", and ${forbiddenMs / 1_000} s have to pass`,
  );
};
