import { type FieldDescription, foreignBlock } from "../../fields/field-types.ts";
import { all, any, atMost, is, length, not, type Rule, set } from "../../fields/rule.ts";
import { choice, flag, integer, listOf, object, quantity, REQUIRED, SELECTOR, saying, text, textMap, HTTP_ADDRESS } from "./field-descriptions.ts";

/** The only field of the block that the other form does not have. */
export const COUNTS: FieldDescription = choice(
  "The base of a new count: the ready pods, or the current count as in the multi-threshold form.",
  ["ready", "current"],
  { default: "ready" },
);

const MARKS = {
  highWatermark: quantity("Above it the count grows; by default the low mark."),
  lowWatermark: quantity("Below it the count shrinks; by default the high mark."),
};

/** The block that the type names; other blocks are ignored. */
const blockDemand = (type: string, block: string, name: string): Rule =>
  saying(
    `with type: ${type}, write ${block} with ${name}, metricSelector and at least one watermark`,
    all(set(block), set(`${block}.${name}`), set(`${block}.metricSelector`), any(set(`${block}.highWatermark`), set(`${block}.lowWatermark`))),
    is("type", type),
  );

/** The marks of the block that the type names. */
const inOrder = (type: string, block: string): Rule =>
  saying(
    `${block}.lowWatermark must be less than or equal to ${block}.highWatermark`,
    atMost(`${block}.lowWatermark`, `${block}.highWatermark`),
    is("type", type),
  );

const METRIC = object(
  "One metric: its type, and the block of that type.",
  {
    type: choice("Where the metric comes from.", ["External", "Resource"], REQUIRED),
    external: object("The sum of all series of an external metric.", {
      metricName: text("Name of the metric; required."),
      metricSelector: { ...SELECTOR, meaning: "Labels that the series must have, {} for all; required." },
      ...MARKS,
    }),
    resource: object("The sum of the pods' use of a resource.", {
      name: text("The resource; required."),
      metricSelector: { ...SELECTOR, meaning: "Labels that the pods must have, {} for all; required." },
      ...MARKS,
    }),
  },
  [
    blockDemand("External", "external", "metricName"),
    blockDemand("Resource", "resource", "name"),
    inOrder("External", "external"),
    inOrder("Resource", "resource"),
  ],
);

const RECOMMENDER = object("An external recommender instead of metrics.", {
  url: text("Address to ask, http or https.", { ...REQUIRED, pattern: HTTP_ADDRESS }),
  targetType: text("The subject of the marks, such as cpu."),
  settings: textMap("Passed on to the recommender."),
  highWatermark: quantity("High mark passed on to the recommender."),
  lowWatermark: quantity("Low mark passed on to the recommender."),
  tlsConfig: object("Settings of the connection; only the embedded run reads the files.", {
    caFile: text("File of the authorities."),
    certFile: text("File of the client's certificate."),
    keyFile: text("File of the client's key."),
    serverName: text("Name that the server must have."),
    insecureSkipVerify: flag("Read and not followed, as in the original."),
    minVersion: text("Oldest version of TLS."),
    maxVersion: text("Newest version of TLS."),
  }),
});

const NOT_NEGATIVE = { least: 0 } as const;

/** With `rules: watermark`: the fields of a WatermarkPodAutoscaler beside target and bounds. */
export const WATERMARK_BLOCK = foreignBlock(
  "With rules: watermark, the fields of a WatermarkPodAutoscaler (docs/manifests.md).",
  {
    counts: COUNTS,
    metrics: listOf("External and Resource metrics with their marks.", METRIC),
    recommender: RECOMMENDER,
    algorithm: text("absolute, or average to divide values by the ready pods."),
    tolerance: quantity("Width added to each mark, a share of it; 0 means the default of 100m.", { least: 0, most: 1 }),
    scaleUpLimitFactor: quantity("Percent of the count that one step may add.", NOT_NEGATIVE),
    scaleDownLimitFactor: quantity("Percent of the count that one step may take away; below 100, with counts: current up to it.", {
      least: 0,
      most: 100,
    }),
    upscaleForbiddenWindowSeconds: integer("No scale up for this time after any scale.", NOT_NEGATIVE),
    downscaleForbiddenWindowSeconds: integer("No scale down for this time after any scale.", NOT_NEGATIVE),
    upscaleDelayAboveWatermarkSeconds: integer("How long a breach of the high mark must last.", NOT_NEGATIVE),
    downscaleDelayBelowWatermarkSeconds: integer("How long a breach of the low mark must last.", NOT_NEGATIVE),
    replicaScalingAbsoluteModulo: integer("Counts are multiples of this.", { least: 1 }),
    convergeTowardsWatermark: text("highwatermark or lowwatermark: between the marks the count moves towards it."),
    tolerateZero: flag("A value of 0 counts like any other value."),
    minAvailableReplicaPercentage: integer("Percent of the pods that must be ready.", { most: 100 }),
    readinessDelaySeconds: integer("How long a starting pod is left out.", NOT_NEGATIVE),
    readinessDelay: { type: "anything", meaning: "Of old versions of the form; dropped." },
  },
  [
    saying("recommender may not be set together with metrics", length("metrics", 0, 0), set("recommender")),
    saying(
      "scaleDownLimitFactor must be less than 100, except with counts: current",
      atMost("scaleDownLimitFactor", 99.999),
      not(is("counts", "current")),
    ),
  ],
);
