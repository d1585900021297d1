import { isObject, type Json, nonEmpty, present } from "../../model/json.ts";
import type { Quantity } from "../../model/quantity.ts";
import type {
  DraftSpec,
  Identifier,
  ManifestMetric,
  Rules,
  ManifestSelector,
  ManifestTarget,
} from "./v2-shape.ts";

/** JSON with its quantities as text. */
export const withQuantityText = (json: Json, print: (quantity: Quantity) => string): Json =>
  Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, printedValue(value, print)]),
  );

const printedValue = (value: unknown, print: (quantity: Quantity) => string): unknown => {
  if (Array.isArray(value)) return value.map((entry) => printedValue(entry, print));
  if (!isObject(value)) return value;
  return isQuantity(value) ? print(value) : withQuantityText(value, print);
};

const isQuantity = (value: object): value is Quantity =>
  "mantissa" in value && typeof value.mantissa === "bigint";

/** Text that is equal for equal amounts: "1e3" and "1k" are no change of a spec. */
export const amountText = ({ mantissa, exponent }: Quantity): string => {
  if (mantissa === 0n) return "0";
  const digits = mantissa.toString();
  const stripped = digits.replace(/0+$/, "");
  return `${stripped}e${exponent + digits.length - stripped.length}`;
};

/** A valid spec with defaults as autoscaling/v2 reads back. Quantities are still values. */
export const storedHpaSpec = ({
  scaleTargetRef,
  minReplicas,
  maxReplicas,
  metrics,
  behavior,
}: DraftSpec): Json =>
  present({
    ...{
      scaleTargetRef: storedReference(scaleTargetRef),
      minReplicas,
      maxReplicas,
      metrics: metrics?.map(storedMetric),
    },
    behavior:
      behavior &&
      present({
        scaleUp: behavior.scaleUp && storedRules(behavior.scaleUp),
        scaleDown: behavior.scaleDown && storedRules(behavior.scaleDown),
      }),
  });

const storedReference = ({
  kind = "",
  name = "",
  apiVersion,
}: DraftSpec["scaleTargetRef"] = {}): Json =>
  present({ kind, name, apiVersion: apiVersion || undefined });

const storedMetric = ({
  type,
  object,
  external,
  pods,
  resource,
  containerResource,
}: ManifestMetric): Json =>
  present({
    type,
    object: object && {
      describedObject: storedReference(object.describedObject),
      metric: storedIdentifier(object.metric),
      ...storedLevels(object),
    },
    external: external && { metric: storedIdentifier(external.metric), ...storedLevels(external) },
    pods: pods && { metric: storedIdentifier(pods.metric), ...storedLevels(pods) },
    resource:
      resource &&
      present({
        name: resource.name,
        metricSelector: resource.metricSelector && storedSelector(resource.metricSelector),
        ...storedLevels(resource),
      }),
    containerResource: containerResource && {
      name: containerResource.name,
      container: containerResource.container,
      ...storedLevels(containerResource),
    },
  });

interface Levels {
  readonly target?: ManifestTarget | undefined;
  readonly highWatermark?: Quantity | undefined;
  readonly lowWatermark?: Quantity | undefined;
}

const storedLevels = ({ target, highWatermark, lowWatermark }: Levels): Json =>
  highWatermark === undefined && lowWatermark === undefined
    ? { target: storedTarget(target) }
    : present({ highWatermark, lowWatermark });

const storedIdentifier = ({ name = "", selector }: Identifier = {}): Json =>
  present({ name, selector: selector && storedSelector(selector) });

const storedSelector = ({ matchLabels, matchExpressions }: ManifestSelector): Json =>
  present({
    matchLabels: nonEmpty(matchLabels),
    matchExpressions: nonEmpty(
      matchExpressions?.map(({ key = "", operator = "", values }) =>
        present({ key, operator, values: nonEmpty(values) }),
      ),
    ),
  });

const storedTarget = ({
  type = "",
  value,
  averageValue,
  averageUtilization,
}: ManifestTarget = {}): Json => present({ type, value, averageValue, averageUtilization });

const storedRules = ({
  stabilizationWindowSeconds,
  selectPolicy,
  policies,
  tolerance,
}: Rules): Json => present({ stabilizationWindowSeconds, selectPolicy, policies, tolerance });

/** The fields of the first design with defaults; the v2 form would lose its rules. */
export const storedOriginalSpec = ({
  scaleTargetRef,
  minReplicas,
  maxReplicas,
  metrics,
}: DraftSpec): Json => ({
  scaleRef: storedReference(scaleTargetRef),
  minReplicas,
  maxReplicas,
  cpuUtilization: { targetPercentage: metrics?.[0]?.resource?.target?.averageUtilization },
});
