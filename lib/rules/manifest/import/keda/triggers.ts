import type { Json } from "../../../model/json.ts";
import type { Detail } from "../finding.ts";
import { changed, lost, textOf } from "../schedules/timed.ts";
import { isAddressed, REDIS_TYPES, type SourcePlace } from "./places.ts";
import { BY_EXPORTER, redisBlock } from "./redis.ts";
import { BLOCKS, blockByRecipe } from "./recipes/recipe.ts";
import { RECIPES } from "./recipes/recipes.ts";
import { ANY_WAY_OUT, WAYS_OUT } from "./ways-out.ts";

/** One trigger of a ScaledObject. */
export interface Trigger {
  readonly type: string;
  readonly name: string;
  /** "spec.triggers[1] (prometheus)". */
  readonly of: string;
  readonly metadata: Json;
  readonly raw: Json;
  /** Where it asks; undefined for a type that needs no registered source. */
  readonly place: SourcePlace | undefined;
  /** The registered source that stands for its address and its credentials. */
  readonly source: string | undefined;
}

/** A trigger as the block of a metric, without its target. */
export interface TriggerBlock {
  /** `{ prometheus: {…} }`. */
  readonly block: Json;
  readonly target: string | undefined;
  readonly activation: string | undefined;
  readonly details: readonly Detail[];
}

type Reader = (trigger: Trigger, source: string) => TriggerBlock;

/** KEDA reads flags in metadata as Go reads a bool. */
const flagOf = (value: unknown, whenAbsent: boolean): boolean =>
  textOf(value) === undefined ? whenAbsent : /^(?:1|t|T|true|True|TRUE)$/.test(String(value));

const given = (
  of: string,
  metadata: Json,
  names: readonly string[],
  message: string,
): readonly Detail[] =>
  names
    .filter((name) => textOf(metadata[name]) !== undefined)
    .map((name) => changed(`${of}: ${name}`, message));

const refusedFields = (
  of: string,
  metadata: Json,
  fields: Readonly<Record<string, string>>,
): readonly Detail[] =>
  Object.entries(fields).flatMap(([name, why]) =>
    textOf(metadata[name]) === undefined ? [] : [lost(`${of}: ${name}`, why)],
  );

const FROM_ENV =
  "it is read from the environment of the pods, which Tidemark does not read; write the value itself";
const OF_SOURCE = "it belongs to the registered source, and is not in the manifest";

/** Fields of an HTTP trigger that say how it authenticates. */
const AUTHENTICATION = ["authMode", "authModes", "apiKey", "method", "keyParamName"];

/**
 * KEDA reads an empty answer as this value unless ignoreNullValues is false. Without the field it
 * would be missing here.
 */
const whenEmpty = (
  { of, metadata }: Trigger,
  value: string,
): { readonly fields: Json; readonly details: readonly Detail[] } =>
  flagOf(metadata["ignoreNullValues"], true)
    ? {
        fields: { whenEmpty: value },
        details: [
          changed(
            `${of}: ignoreNullValues`,
            `an empty answer is ${value}, as in KEDA; remove whenEmpty where it means that the data is missing`,
          ),
        ],
      }
    : { fields: {}, details: [] };

const prometheus: Reader = (trigger, source) => {
  const { of, metadata } = trigger;
  const empty = whenEmpty(trigger, "0");
  return {
    block: { prometheus: { source, query: metadata["query"], ...empty.fields } },
    target: textOf(metadata["threshold"]),
    activation: textOf(metadata["activationThreshold"]),
    details: [
      ...empty.details,
      changed(
        `${of}: serverAddress`,
        `the source "${source}" must stand for ${textOf(metadata["serverAddress"]) ?? "its server"}`,
      ),
      ...given(
        of,
        metadata,
        [
          "customHeaders",
          "queryParameters",
          "namespace",
          "unsafeSsl",
          "timeout",
          ...AUTHENTICATION,
          "awsRegion",
          "identityOwner",
        ],
        OF_SOURCE,
      ),
    ],
  };
};

const QUEUE_URL = /^https:\/\/[^/]+\/([\w<>${}-]+)\/([\w-]+(?:\.fifo)?)$/;
const QUEUE_NAME = /^[\w-]+(?:\.fifo)?$/;
const ACCOUNT = /^\d{12}$/;

const queueDetails = (of: string, asked: string | undefined): readonly Detail[] => {
  if (asked === undefined) return [lost(`${of}: queueURL`, "it names no queue")];
  const [, account, queue] = QUEUE_URL.exec(asked) ?? [];
  if (account === undefined)
    return QUEUE_NAME.test(asked)
      ? []
      : [
          lost(
            `${of}: queueURL`,
            `"${asked}" is neither the URL nor the name of a queue: write the values into the template first`,
          ),
        ];
  if (ACCOUNT.test(account)) return [];
  return [
    changed(
      `${of}: queueURL`,
      `"${account}" is no account of 12 digits: the queue "${queue}" is counted in the account of the role of the source`,
    ),
  ];
};

const sqs: Reader = ({ of, metadata }, source) => {
  const asked = textOf(metadata["queueURL"]);
  const [, account, name] = QUEUE_URL.exec(asked ?? "") ?? [];
  const accountId = account !== undefined && ACCOUNT.test(account) ? account : undefined;
  const queue = name ?? asked;
  const count = [
    "Visible",
    ...(flagOf(metadata["scaleOnInFlight"], true) ? ["InFlight"] : []),
    ...(flagOf(metadata["scaleOnDelayed"], false) ? ["Delayed"] : []),
  ];
  return {
    block: { sqs: { source, queue, ...(accountId !== undefined && { accountId }), count } },
    target: textOf(metadata["queueLength"]) ?? "5",
    activation: textOf(metadata["activationQueueLength"]),
    details: [
      ...queueDetails(of, asked),
      ...refusedFields(of, metadata, {
        queueURLFromEnv: FROM_ENV,
        awsEndpoint:
          "a signed request goes to the host of its Region only; ask another server by a trigger of another type",
      }),
      ...given(of, metadata, ["awsRegion", "identityOwner"], OF_SOURCE),
    ],
  };
};

const SECONDS_OF_CLOUDWATCH = "300";

const cloudwatch: Reader = (trigger, source) => {
  const { of, metadata } = trigger;
  const expression = textOf(metadata["expression"]);
  const [names, values] = ["dimensionName", "dimensionValue"].map(
    (name) => textOf(metadata[name])?.split(";") ?? [],
  );
  const dimensions = Object.fromEntries(
    (names ?? []).map((name, at) => [name, values?.[at] ?? ""]),
  );
  const uneven =
    names?.length === values?.length
      ? []
      : [lost(`${of}: dimensionValue`, "dimensionName and dimensionValue have different lengths")];
  const empty = whenEmpty(trigger, textOf(metadata["minMetricValue"]) ?? "0");
  const of1 = {
    namespace: metadata["namespace"],
    metric: metadata["metricName"],
    ...(names?.length && { dimensions }),
    ...(textOf(metadata["metricStat"]) !== undefined && { stat: metadata["metricStat"] }),
    ...(textOf(metadata["awsAccountId"]) !== undefined && { accountId: metadata["awsAccountId"] }),
  };
  const seconds = (name: string, otherwise: string): number =>
    Number(textOf(metadata[name]) ?? otherwise);
  return {
    block: {
      cloudwatch: {
        source,
        ...(expression === undefined ? of1 : { expression }),
        periodSeconds: seconds("metricStatPeriod", SECONDS_OF_CLOUDWATCH),
        lookbackSeconds: seconds("metricCollectionTime", SECONDS_OF_CLOUDWATCH),
        offsetSeconds: seconds("metricEndTimeOffset", "0"),
        ...empty.fields,
      },
    },
    target: textOf(metadata["targetMetricValue"]),
    activation: textOf(metadata["activationTargetMetricValue"]),
    details: [
      ...empty.details,
      ...uneven,
      ...(expression === undefined
        ? []
        : [
            changed(
              `${of}: expression`,
              "the source must allow SEARCH and SELECT (--search), and each series that it finds is paid for",
            ),
          ]),
      ...refusedFields(of, metadata, {
        ...(expression === undefined && {
          metricUnit:
            "a metric is asked for without a unit; remove it where all values of the metric have one unit",
        }),
        awsEndpoint: "a signed request goes to the host of its Region only",
      }),
      ...(expression === undefined
        ? []
        : given(of, metadata, ["metricUnit"], "KEDA does not send it with an expression")),
      ...given(of, metadata, ["awsRegion", "identityOwner"], OF_SOURCE),
    ],
  };
};

/** A path of gjson with names and numbers only. A dot in a name is written `\.`. */
const PLAIN =
  /^(?:[^\s.#@|*?{}[\]()!=<>%~\\^$]|\\\.)+(?:\.(?:[^\s.#@|*?{}[\]()!=<>%~\\^$]|\\\.)+)*$/;

/** `.#` at the end of a path of gjson is how many items a list has. */
const LENGTH = /\.#$/;

const pointerOf = (path: string): string | undefined =>
  PLAIN.test(path)
    ? path
        .split(/(?<!\\)\./)
        .map(
          (name) => `/${name.replaceAll("\\.", ".").replaceAll("~", "~0").replaceAll("/", "~1")}`,
        )
        .join("")
    : undefined;

/** The parameters of a question belong to the source, which sends each name once. */
const parametersDetail = (of: string, asked: URLSearchParams): Detail => {
  const names = [...asked.keys()];
  return new Set(names).size === names.length
    ? changed(`${of}: url`, `its parameters belong to the source: --parameter ${names.join(", ")}`)
    : lost(`${of}: url`, "it has a parameter twice; let the server take it once");
};

const metricsApi: Reader = ({ of, metadata }, source) => {
  const url = URL.canParse(String(metadata["url"])) ? new URL(String(metadata["url"])) : undefined;
  const location = textOf(metadata["valueLocation"]) ?? "";
  const pointer = pointerOf(location.replace(LENGTH, ""));
  const format = textOf(metadata["format"]) ?? "json";
  const way =
    url && /\.svc(?:\.|$)/.test(url.hostname)
      ? "--service, through the API server of the cluster"
      : `--url ${url?.origin}`;
  return {
    block: {
      http: {
        source,
        path: url?.pathname,
        pointer,
        ...(LENGTH.test(location) && { list: "Count" }),
      },
    },
    target: textOf(metadata["targetValue"]),
    activation: textOf(metadata["activationTargetValue"]),
    details: [
      ...(url
        ? [
            changed(
              `${of}: url`,
              `its host belongs to the source "${source}" (${way}), and the manifest has its path`,
            ),
          ]
        : [lost(`${of}: url`, "it is no URL")]),
      ...(url && url.search !== "" ? [parametersDetail(of, url.searchParams)] : []),
      ...(pointer === undefined
        ? [
            lost(
              `${of}: valueLocation`,
              `"${location}" is more than names and numbers with dots between; let the server answer with the number`,
            ),
          ]
        : []),
      ...(format === "json"
        ? []
        : [
            lost(
              `${of}: format`,
              `only json is read, and it is "${format}"; scrape the endpoint with Prometheus, and ask that`,
            ),
          ]),
      ...(flagOf(metadata["aggregateFromKubeServiceEndpoints"], false)
        ? [
            lost(
              `${of}: aggregateFromKubeServiceEndpoints`,
              "pods are not asked one by one; scrape them with Prometheus, and ask for the aggregate",
            ),
          ]
        : []),
      ...given(of, metadata, ["unsafeSsl", "timeout", ...AUTHENTICATION], OF_SOURCE),
      ...given(of, metadata, ["aggregationType"], "it is about an aggregate of several pods"),
    ],
  };
};

/** The triggers whose values come from outside the cluster. Another one is a line here. */
const READERS: ReadonlyMap<string, Reader> = new Map([
  ["prometheus", prometheus],
  ["aws-sqs-queue", sqs],
  ["aws-cloudwatch", cloudwatch],
  ["metrics-api", metricsApi],
  ...[...RECIPES].map(([type, recipe]): [string, Reader] => [
    type,
    (trigger, source) => {
      const [, kind = "", named = ""] = BY_EXPORTER.exec(source) ?? [];
      const block = BLOCKS.get(kind);
      if (block) return block(recipe, trigger, named);
      return REDIS_TYPES.has(type)
        ? redisBlock(trigger, source)
        : blockByRecipe(recipe, trigger, source);
    },
  ]),
]);

/** The pods of the namespace that have not ended. It needs no registered source. */
const podCount = ({ of, metadata }: Trigger): TriggerBlock => ({
  block: { podCount: { selector: metadata["podSelector"], whenEmpty: 0 } },
  target: textOf(metadata["value"]),
  activation: textOf(metadata["activationValue"]),
  details: flagOf(metadata["groupByNode"], false)
    ? [lost(`${of}: groupByNode`, "pods are counted, and not the nodes that they are on")]
    : given(of, metadata, ["groupByNode"], "pods are counted one by one, as in KEDA by default"),
});

/** Elsewhere cron is a schedule. */
const CRON_IN_FORMULA =
  "a formula of Tidemark knows no times: take the trigger and its name out of the ScaledObject, and write the hours as spec.schedule of the PodAutoscaler";

/** The metric of a trigger whose values come from outside the cluster, or why there is none. */
export const triggerBlock = (trigger: Trigger): TriggerBlock | { readonly refused: Detail } => {
  const { type, of, name, source, place } = trigger;
  if (type === "cron") return { refused: lost(of, CRON_IN_FORMULA) };
  if (type === "kubernetes-workload") return podCount(trigger);
  const read = READERS.get(type);
  if (read === undefined)
    return {
      refused: lost(
        of,
        `Tidemark has no source for the type "${type}": ${WAYS_OUT.get(type) ?? ANY_WAY_OUT}`,
      ),
    };
  if (source === undefined && place !== undefined && !isAddressed(place))
    return {
      refused: lost(
        of,
        `"${place.address}" is no URL: write the values into the template first, or name a registered source with --source ${name}=NAME`,
      ),
    };
  if (source === undefined)
    return {
      refused: lost(
        of,
        RECIPES.has(type) && !REDIS_TYPES.has(type)
          ? `its number is asked of a Prometheus with the series of ${RECIPES.get(type)?.exporter}: register it, and name it with --source ${type}=NAME (docs/migrating.md)`
          : `its address and its credentials belong to a registered source: register one, and name it with --source ${name}=NAME (docs/sources.md)`,
      ),
    };
  return read(trigger, source);
};
