import type { Json } from "../json.ts";
import { listed, MUST, object, oneOf, quantity, SELECTOR, text, textsOf, whole, yesOrNo } from "./carried-fields.ts";
import { either, given, says, unless, values, when } from "./demands.ts";
import { type About, carried } from "./field.ts";

/** The one field of the block that is not the other form's own. */
export const COUNTS: About = oneOf(
  "What counts grow from: the ready pods, or the current count as in the multi-threshold form.",
  ["ready", "current"],
  { default: "ready" },
);

const MARKS = {
  highWatermark: quantity("Above it the count grows; without it the low one."),
  lowWatermark: quantity("Below it the count shrinks; without it the high one."),
};

/** The block that the type names; another one beside it is not looked at. */
const blockDemand = (type: string, block: string, name: string): Json =>
  when(says("type", type), {
    ...given(block),
    properties: {
      [block]: {
        type: "object",
        ...either(given("highWatermark"), given("lowWatermark")),
        required: [name, "metricSelector"],
        properties: { [name]: { type: "string", minLength: 1 }, metricSelector: { type: "object" } },
      },
    },
  });

const METRIC = object(
  "One metric: its type, and the block of that type.",
  {
    type: oneOf("Where the metric comes from.", ["External", "Resource"], MUST),
    external: object("The sum of all series of an external metric.", {
      metricName: text("Name of the metric; required."),
      metricSelector: { ...SELECTOR, meaning: "Labels that the series must carry, {} for all; required." },
      ...MARKS,
    }),
    resource: object("The sum of the pods' use of a resource.", {
      name: text("The resource; required."),
      metricSelector: { ...SELECTOR, meaning: "Labels that the pods must carry, {} for all; required." },
      ...MARKS,
    }),
  },
  [blockDemand("External", "external", "metricName"), blockDemand("Resource", "resource", "name")],
);

const RECOMMENDER = object("An external recommender in the place of metrics.", {
  url: text("Address to ask, http or https.", MUST),
  targetType: text("What the marks are about, such as cpu."),
  settings: textsOf("Passed on to the recommender."),
  highWatermark: quantity("High mark passed on to the recommender."),
  lowWatermark: quantity("Low mark passed on to the recommender."),
  tlsConfig: object("How the connection is made; files are read by the embedded run alone.", {
    caFile: text("File of the authorities."),
    certFile: text("File of the client's certificate."),
    keyFile: text("File of the client's key."),
    serverName: text("Name that the server must have."),
    insecureSkipVerify: yesOrNo("Read and not followed, as in the original."),
    minVersion: text("Oldest version of TLS."),
    maxVersion: text("Newest version of TLS."),
  }),
});

const NOT_NEGATIVE = { least: 0 } as const;

/** With `rules: watermark`: what a WatermarkPodAutoscaler says beside target and bounds. */
export const WATERMARK_BLOCK = carried(
  "With rules: watermark, the fields of a WatermarkPodAutoscaler (docs/manifests.md).",
  {
    counts: COUNTS,
    metrics: listed("External and Resource metrics with their marks.", METRIC),
    recommender: RECOMMENDER,
    algorithm: text("absolute, or average to divide values by the ready pods."),
    tolerance: quantity("Width added to each mark, a share of it; 0 means the default of 100m.", { least: 0, most: 1 }),
    scaleUpLimitFactor: quantity("Percent of the count that one step may add.", NOT_NEGATIVE),
    scaleDownLimitFactor: quantity("Percent of the count that one step may take away; below 100, with counts: current up to it.", {
      least: 0,
      most: 100,
    }),
    upscaleForbiddenWindowSeconds: whole("No scale up so long after any scale.", NOT_NEGATIVE),
    downscaleForbiddenWindowSeconds: whole("No scale down so long after any scale.", NOT_NEGATIVE),
    upscaleDelayAboveWatermarkSeconds: whole("A breach of the high mark must last so long.", NOT_NEGATIVE),
    downscaleDelayBelowWatermarkSeconds: whole("A breach of the low mark must last so long.", NOT_NEGATIVE),
    replicaScalingAbsoluteModulo: whole("Counts are multiples of this.", { least: 1 }),
    convergeTowardsWatermark: text("highwatermark or lowwatermark: between the marks the count moves towards it."),
    tolerateZero: yesOrNo("A value of 0 is taken as it is."),
    minAvailableReplicaPercentage: whole("Percent of the pods that must be ready.", { most: 100 }),
    readinessDelaySeconds: whole("How long a starting pod is left out.", NOT_NEGATIVE),
    readinessDelay: { type: "anything", meaning: "Of old versions of the form; dropped." },
  },
  [
    when(given("recommender"), values({ metrics: { maxItems: 0 } })),
    unless(says("counts", "current"), values({ scaleDownLimitFactor: { maximum: 99.999 } })),
  ],
);
