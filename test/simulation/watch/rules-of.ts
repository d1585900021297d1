import type { DialectName } from "../../../lib/rules/model/spec.ts";
import type { DecideInput } from "../../../lib/rules/policy/decide.ts";

/** What limits a movement in one direction, whatever dialect says it. */
export interface DirectionRules {
  readonly selectPolicy: "Max" | "Min" | "Disabled";
  readonly policies: readonly Policy[];
  readonly stabilizationMs: number;
  /** After a scale of either direction. */
  readonly forbiddenMs: number;
  /** How long a breach must last. */
  readonly sustainMs: number;
  /** Scales of this direction are kept for so long. */
  readonly keptMs: number;
}

export interface Policy {
  readonly type: "Pods" | "Percent" | "Factor";
  readonly value: number;
  readonly periodMs: number;
}

const SECOND_MS = 1_000;
const NO_LIMITS = {
  selectPolicy: "Max",
  policies: [],
  stabilizationMs: 0,
  forbiddenMs: 0,
  sustainMs: 0,
  keptMs: 0,
} as const;

/** The rules that a count is moved by, up or down; worked out anew from the spec. */
export const rulesOf = (
  { spec, settings }: Pick<DecideInput, "spec" | "settings">,
  up: boolean,
): DirectionRules => {
  switch (spec.dialect) {
    case "watermark":
      return watermarkRules(spec, up);
    case "hpa":
    case "original":
    case "multi-threshold":
      return hpaRules(spec, up, settings.downscaleStabilizationMs);
    case "native": {
      const [own, other] = [
        nativeRules(up ? spec.scaleUp : spec.scaleDown),
        nativeRules(up ? spec.scaleDown : spec.scaleUp),
      ];
      return {
        ...own,
        keptMs: Math.max(
          own.keptMs,
          other.keptMs,
          (spec.flapBudget?.periodSeconds ?? 0) * SECOND_MS,
        ),
      };
    }
  }
};

type Spec<Dialect> = Exclude<
  DecideInput["spec"],
  { readonly dialect: Exclude<DialectName, Dialect> }
>;

const watermarkRules = (spec: Spec<"watermark">, up: boolean): DirectionRules => ({
  ...NO_LIMITS,
  forbiddenMs:
    (up ? spec.upscaleForbiddenWindowSeconds : spec.downscaleForbiddenWindowSeconds) * SECOND_MS,
  sustainMs:
    (up ? spec.upscaleDelayAboveWatermarkSeconds : spec.downscaleDelayBelowWatermarkSeconds) *
    SECOND_MS,
});

const hpaRules = (
  { behavior }: Spec<"hpa" | "original" | "multi-threshold">,
  up: boolean,
  downscaleStabilizationMs: number,
): DirectionRules => {
  const otherwiseMs = up ? 0 : downscaleStabilizationMs;
  if (!behavior) return { ...NO_LIMITS, stabilizationMs: otherwiseMs };
  const {
    selectPolicy,
    policies,
    stabilizationWindowSeconds: seconds,
  } = up ? behavior.scaleUp : behavior.scaleDown;
  const limits = policies.map(({ type, value, periodSeconds }) => ({
    type,
    value,
    periodMs: periodSeconds * SECOND_MS,
  }));
  const stabilizationMs = seconds === undefined ? otherwiseMs : seconds * SECOND_MS;
  return { ...NO_LIMITS, selectPolicy, policies: limits, stabilizationMs, keptMs: longest(limits) };
};

const nativeRules = (rules: Spec<"native">["scaleUp"]): DirectionRules => {
  const policies = rules.policies.map(({ type, valueMilli, periodSeconds }) => ({
    type,
    value: valueMilli / 1_000,
    periodMs: periodSeconds * SECOND_MS,
  }));
  return {
    selectPolicy: rules.selectPolicy,
    policies,
    stabilizationMs: rules.stabilizationWindowSeconds * SECOND_MS,
    forbiddenMs: rules.forbiddenAfterEventSeconds * SECOND_MS,
    sustainMs: rules.sustainSeconds * SECOND_MS,
    keptMs: longest(policies),
  };
};

const longest = (policies: readonly Policy[]): number =>
  Math.max(0, ...policies.map(({ periodMs }) => periodMs));
