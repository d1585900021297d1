import { type FieldDescription, foreignBlock, type Words } from "../../fields/field-types.ts";
import {
  all,
  any,
  atLeast,
  atMost,
  type RuleCondition,
  is,
  length,
  not,
  type Rule,
  isSet,
} from "../../fields/rule.ts";
import {
  choice,
  flag,
  integer,
  listOf,
  object,
  quantity,
  REQUIRED,
  SELECTOR,
  saying,
  text,
  textMap,
  HTTP_ADDRESS,
} from "../native/field-descriptions.ts";

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

/**
 * A rule of the controller, in the words that conformance compares (watermark.md 1.3). `{metric}`
 * is the name of a metric and its labels.
 */
const breach = (
  needs: RuleCondition,
  at: string,
  [detail, fix]: Words,
  when?: RuleCondition,
): Rule => ({
  needs,
  at,
  type: "FieldValueInvalid",
  detail,
  fix,
  ...(when && { when }),
});

type Type = "External" | "Resource";

/** The block that the type names, with its marks in order; other blocks are ignored. */
const rulesOfType = (type: Type, block: string, name: string): readonly Rule[] => {
  const ofType = is("type", type);
  const [high, low, selector] = [
    `${block}.highWatermark`,
    `${block}.lowWatermark`,
    `${block}.metricSelector`,
  ];
  const marked = any(isSet(high), isSet(low));
  const ordered = atMost(low, high);
  const write = `write the block ${block} with ${name}, metricSelector and at least one watermark`;
  const demand = `with type: ${type}, write ${block} with ${name}, metricSelector and at least one watermark`;
  return [
    {
      ...saying(
        demand,
        all(isSet(block), isSet(`${block}.${name}`), isSet(selector), marked),
        ofType,
      ),
      parts: [
        breach(
          isSet(block),
          block,
          [`metric.${type} is nil while metric.Type is '${type}'`, write],
          ofType,
        ),
        breach(marked, block, ["at least one watermark (low/high) should be set", write], ofType),
        breach(
          isSet(selector),
          selector,
          [
            `missing Labels for the ${type} metric {name}`,
            "write metricSelector, {} to select everything",
          ],
          ofType,
        ),
      ],
    },
    {
      ...saying(`${low} must be less than or equal to ${high}`, ordered, ofType),
      parts: [
        breach(
          ordered,
          low,
          [
            `low WaterMark of ${type} metric {metric} has to be strictly inferior to the High Watermark`,
            "write lowWatermark not above highWatermark",
          ],
          ofType,
        ),
      ],
    },
  ];
};

const TYPES: readonly Type[] = ["External", "Resource"];

export const WATERMARK_METRIC_RULES: readonly Rule[] = [
  ...rulesOfType("External", "external", "metricName"),
  ...rulesOfType("Resource", "resource", "name"),
];
/** A block has a name, of which the original has no rule. */
export const NAME_RULES: readonly Rule[] = [
  {
    when: all(not(is("type", "Resource")), isSet("external")),
    needs: isSet("external.metricName"),
    detail: "",
    fix: "name the metric",
  },
  {
    when: all(is("type", "Resource"), isSet("resource")),
    needs: isSet("resource.name"),
    detail: "",
    fix: "name the metric",
  },
];
export const KNOWN_TYPE = breach(is("type", ...TYPES), "type", [
  "incorrect metric.Type: '{type}'",
  "write External or Resource",
]);

const METRIC = object(
  "One metric: its type, and the block of that type.",
  {
    type: choice("Where the metric comes from.", TYPES, REQUIRED),
    external: object("The sum of all series of an external metric.", {
      metricName: text("Name of the metric; required."),
      metricSelector: {
        ...SELECTOR,
        meaning: "Labels that the series must have, {} for all; required.",
      },
      ...MARKS,
    }),
    resource: object("The sum of the pods' use of a resource.", {
      name: text("The resource; required."),
      metricSelector: {
        ...SELECTOR,
        meaning: "Labels that the pods must have, {} for all; required.",
      },
      ...MARKS,
    }),
  },
  WATERMARK_METRIC_RULES,
);

export const RECOMMENDER_URL = text("Address to ask, http or https.", {
  ...REQUIRED,
  pattern: HTTP_ADDRESS,
  faults: (url) =>
    URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
      ? []
      : ["must be an http or https address"],
  faultsFix: "write it with its scheme, such as https://recommender.example/v1",
  api: { required: ["", "write its address, http:// or https://"] },
});

const RECOMMENDER = object("An external recommender instead of metrics.", {
  url: RECOMMENDER_URL,
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

const atLeastWords = (least: number): Words => [
  `must be greater than or equal to ${least}`,
  `write ${least} or more`,
];
const NOT_NEGATIVE = { least: 0, api: { least: atLeastWords(0) } } as const;

/** Settings of the rules, beside metrics and recommender. */
export const SETTINGS = {
  algorithm: text("absolute, or average to divide values by the ready pods."),
  tolerance: quantity("Width added to each mark, a share of it; 0 means the default of 100m.", {
    least: 0,
    most: 1,
  }),
  scaleUpLimitFactor: quantity("Percent of the count that one step may add.", { least: 0 }),
  scaleDownLimitFactor: quantity(
    "Percent of the count that one step may take away; below 100, with counts: current up to it.",
    {
      least: 0,
      most: 100,
    },
  ),
  upscaleForbiddenWindowSeconds: integer(
    "No scale up for this time after any scale.",
    NOT_NEGATIVE,
  ),
  downscaleForbiddenWindowSeconds: integer(
    "No scale down for this time after any scale.",
    NOT_NEGATIVE,
  ),
  upscaleDelayAboveWatermarkSeconds: integer(
    "How long a breach of the high mark must last.",
    NOT_NEGATIVE,
  ),
  downscaleDelayBelowWatermarkSeconds: integer(
    "How long a breach of the low mark must last.",
    NOT_NEGATIVE,
  ),
  replicaScalingAbsoluteModulo: integer("Counts are multiples of this.", {
    least: 1,
    api: { least: atLeastWords(1) },
  }),
  convergeTowardsWatermark: text(
    "highwatermark or lowwatermark: between the marks the count moves towards it.",
  ),
  tolerateZero: flag("A value of 0 counts like any other value."),
  minAvailableReplicaPercentage: integer("Percent of the pods that must be ready.", {
    most: 100,
    api: { most: ["must be less than or equal to 100", "write a percentage up to 100"] },
  }),
  readinessDelaySeconds: integer("How long a starting pod is left out.", NOT_NEGATIVE),
};

const [leastDetail, leastFix] = atLeastWords(1);
/** Bounds of the schema for fields that every form has. */
export const LEAST_MINIMUM: Rule = {
  needs: atLeast("minReplicas", 1),
  detail: leastDetail,
  fix: leastFix,
};
export const LEAST_MAXIMUM: Rule = {
  needs: atLeast("maxReplicas", 1),
  type: "FieldValueRequired",
  detail: leastDetail,
  fix: "write the largest count of the workload",
};

const CURRENT = is("counts", "current");
const BELOW_100 = atMost("scaleDownLimitFactor", 99.999);
const NO_METRICS = length("metrics", 0, 0);
const RECOMMENDED = isSet("recommender");

const within = (name: keyof typeof SETTINGS): RuleCondition => {
  const { least, most } = SETTINGS[name];
  return all(
    ...(least === undefined ? [] : [atLeast(name, least)]),
    ...(most === undefined ? [] : [atMost(name, most)]),
  );
};

/**
 * The rules of the controller in its order, before the rules of a metric. `{toleranceText}` and the
 * like are the values as it prints them.
 */
export const WATERMARK_SPEC_RULES: readonly Rule[] = [
  breach(all(isSet("scaleTargetRef.kind"), isSet("scaleTargetRef.name")), "scaleTargetRef", [
    "the Spec.ScaleTargetRef should be populated, currently Kind:{kind} and/or Name:{name} are not set properly",
    "name kind and name of the workload to scale",
  ]),
  breach(all(isSet("minReplicas"), atLeast("maxReplicas", "minReplicas")), "maxReplicas", [
    "watermark pod autoscaler requires the minimum number of replicas to be configured and inferior to the maximum",
    "write maxReplicas not below minReplicas",
  ]),
  breach(within("tolerance"), "tolerance", [
    "tolerance should be set as a quantity between 0 and 1, currently set to : {toleranceText}, which is {tolerancePercent}%",
    'write a share such as "0.1" or 100m',
  ]),
  breach(all(isSet("scaleUpLimitFactor"), isSet("scaleDownLimitFactor")), "scaleUpLimitFactor", [
    "scaleuplimitfactor and scaledownlimitfactor can't be nil, make sure the WPA spec is defaulted",
    "write a percentage that is not negative",
  ]),
  breach(within("scaleUpLimitFactor"), "scaleUpLimitFactor", [
    "scaleuplimitfactor should be set as a positive quantity, currently set to : {upText}, which could yield a {upPercent}% growth",
    "write a percentage that is not negative",
  ]),
  breach(all(within("scaleDownLimitFactor"), any(CURRENT, BELOW_100)), "scaleDownLimitFactor", [
    "scaledownlimitfactor should be set as a quantity between 0 and 100 (exc.), currently set to : {downText}, which could yield a {downPercent}% decrease",
    "write a percentage from 0 to below 100",
  ]),
  breach(
    NO_METRICS,
    "recommender",
    [
      "recommender and metrics can't be set at the same time, please choose one",
      "keep one of recommender and metrics",
    ],
    RECOMMENDED,
  ),
];

/** With `rules: watermark`: the fields of a WatermarkPodAutoscaler beside target and bounds. */
export const WATERMARK_BLOCK = foreignBlock(
  "With rules: watermark, the fields of a WatermarkPodAutoscaler (docs/manifests.md).",
  {
    counts: COUNTS,
    metrics: listOf("External and Resource metrics with their marks.", METRIC),
    recommender: RECOMMENDER,
    ...SETTINGS,
    readinessDelay: { type: "anything", meaning: "Of old versions of the form; dropped." },
  },
  [
    saying("recommender may not be set together with metrics", NO_METRICS, RECOMMENDED),
    saying(
      "scaleDownLimitFactor must be less than 100, except with counts: current",
      BELOW_100,
      not(CURRENT),
    ),
  ],
);
