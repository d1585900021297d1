import { CLOCK_ALLOWANCE_MS, type KnownEffect, type Ledger } from "./ledger.ts";

/** The dialect keeps the time of the last scale in whole seconds (watermark.md 2.9). */
const WHOLE_SECOND_MS = 1_000;

/** After any scale of this autoscaler, up or down, the window of the direction has to pass: measured between effects, as the cluster saw them. */
export const watchForbidden = (ledger: Ledger, effect: KnownEffect): void => {
  const { spec } = effect.decided.input;
  if (spec.dialect !== "watermark") return;
  const seconds = effect.to > effect.from ? spec.upscaleForbiddenWindowSeconds : spec.downscaleForbiddenWindowSeconds;
  const last = ledger.effects.get(effect.uid)?.at(-1);
  if (!last || effect.atMs - last.atMs >= seconds * 1_000 - CLOCK_ALLOWANCE_MS - WHOLE_SECOND_MS) return;
  ledger.violate(
    "forbidden windows are never cut short",
    `"${effect.id}" came ${effect.atMs - last.atMs} ms after "${last.id}", and ${seconds} s have to pass`,
  );
};
