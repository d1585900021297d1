import {
  condition,
  eventNote,
  gauge,
  dryRunMode,
  failedProcess,
  gotScale,
  failedSpecCheck,
  processing,
} from "./sentences.ts";
import { noted, type WatermarkStep } from "./sync.ts";

/**
 * A kind that the cluster does not serve is looked for again sooner than a scale that is missing.
 */
const NO_KIND_MATCH = "NoKindMatch";

/** Seconds after which the original looks again (watermark.md 2.2). */
const AFTER_ERROR = 1;
const AFTER_MISSING_SCALE = 10;

/** On doubt, hold: without a scale there is no count to change. */
export const readScale: WatermarkStep = (sync) => {
  const { scale } = sync.input.observation;
  if (scale.kind === "read") return { ...sync, scale };
  const { reason, message: text } = scale.failure;
  const unmapped = reason === NO_KIND_MATCH;
  const message = unmapped ? text : `scale not found: ${text}`;
  return {
    ...noted(sync, eventNote("Warning", "FailedProcessWPA", message), condition(failedProcess)),
    ending: {
      kind: "stopped",
      because: { reason: "FailedProcessWPA", message },
      failed: true,
      dueAgainSeconds: unmapped ? AFTER_ERROR : AFTER_MISSING_SCALE,
    },
  };
};

export const reportScale: WatermarkStep = (sync) => {
  const { dryRun, minReplicas, maxReplicas } = sync.input.spec;
  return noted(
    sync,
    gauge("dry_run", dryRun ? 1 : 0),
    condition(dryRunMode(dryRun)),
    condition(gotScale),
    gauge("min_replicas", minReplicas),
    gauge("max_replicas", maxReplicas),
  );
};

/** An object whose spec breaks a rule of watermark.md 1.3 holds until it is edited. */
export const checkSpec: WatermarkStep = (sync) => {
  const checked = noted(sync, condition(processing));
  const { invalid } = sync.input.spec;
  if (invalid === undefined) return checked;
  const because = { reason: "FailedSpecCheck", message: `Invalid WPA specification: ${invalid}` };
  return {
    ...noted(
      checked,
      eventNote("Warning", "FailedSpecCheck", invalid),
      condition(failedSpecCheck(invalid)),
    ),
    ending: { kind: "stopped", because, failed: true, dueAgainSeconds: null },
  };
};
