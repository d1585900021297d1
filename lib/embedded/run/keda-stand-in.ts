import { asList, asObject, asText, type Json } from "../../rules/model/json.ts";
import type { TargetRef } from "../../rules/model/spec-common.ts";
import type { KubeApi } from "../cluster/api.ts";
import { type KeptKind, HPA_KIND, SCALED_OBJECT_KIND } from "../cluster/objects/custom-objects.ts";
import { groupVersion, RESOURCES } from "../cluster/served-resources.ts";
import { importScaledObject } from "../../rules/manifest/import/scaled-object.ts";

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * What a controller of the simulated cluster sends to its API server, from inside the process. Each
 * call throws the Refusal of the server.
 */
export interface ClusterCalls {
  readonly list: (of: KeptKind) => Promise<readonly Json[]>;
  /** Makes or changes an object by a server-side apply. */
  readonly apply: (of: KeptKind, place: Place, body: Json) => Promise<void>;
  readonly status: (of: KeptKind, place: Place, status: Json) => Promise<void>;
  readonly remove: (of: KeptKind, place: Place) => Promise<void>;
  readonly scale: (
    namespace: string,
    target: TargetRef,
    to: { readonly replicas: number; readonly resourceVersion: string },
  ) => Promise<void>;
}

const JSON_TYPE = "application/json";

/** `manager`: the name under which the writes are recorded. */
export const clusterCalls = (call: KubeApi, manager: string): ClusterCalls => {
  const send = (
    method: string,
    path: string,
    body?: Json,
    contentType = JSON_TYPE,
  ): Promise<unknown> =>
    call({
      method,
      path,
      query: new URLSearchParams(method === "GET" ? {} : { fieldManager: manager }),
      contentType,
      accept: JSON_TYPE,
      body: body === undefined ? "" : JSON.stringify(body),
    });
  return {
    list: async (of) => {
      const { items } = asObject(await send("GET", `/apis/${of.apiVersion}/${of.plural}`));
      return asList(items) as readonly Json[];
    },
    apply: async (of, place, body) =>
      void (await send("PATCH", pathOf(of, place), body, "application/apply-patch+yaml")),
    status: async (of, place, status) =>
      void (await send(
        "PATCH",
        `${pathOf(of, place)}/status`,
        { status },
        "application/merge-patch+json",
      )),
    remove: async (of, place) => void (await send("DELETE", pathOf(of, place))),
    scale: async (namespace, { kind, name }, { replicas, resourceVersion }) => {
      const body = {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name, namespace, resourceVersion },
        spec: { replicas },
      };
      await send("PUT", `${workloadsPath(kind, namespace)}/${name}/scale`, body);
    },
  };
};

const pathOf = ({ apiVersion, plural }: KeptKind, { namespace, name }: Place): string =>
  `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`;

const workloadsPath = (kind: string, namespace: string): string => {
  const served = RESOURCES.find((resource) => resource.scalable && resource.kind === kind);
  if (!served) throw new RangeError(`The simulated cluster has no workloads of kind ${kind}`);
  return `/${served.group === "" ? "api" : "apis"}/${groupVersion(served)}/namespaces/${namespace}/${served.resource}`;
};

const metadataOf = (raw: Json): Json => asObject(raw["metadata"]);
const placeOf = (raw: Json) => ({
  namespace: String(metadataOf(raw)["namespace"]),
  name: String(metadataOf(raw)["name"]),
});
const hpaPlace = (raw: Json) => ({ ...placeOf(raw), name: `keda-hpa-${placeOf(raw).name}` });

/** The field of a trigger that is the target of its external metric, and its default. */
const TARGETS: Readonly<Record<string, readonly [field: string, otherwise?: string]>> = {
  prometheus: ["threshold"],
  "aws-sqs-queue": ["queueLength", "5"],
  "aws-cloudwatch": ["targetMetricValue"],
  "metrics-api": ["targetValue"],
  kafka: ["lagThreshold", "10"],
  rabbitmq: ["value", "20"],
  redis: ["listLength", "5"],
};

/**
 * The triggers of a ScaledObject that the stand-in does not serve, beside those for which it makes
 * no HPA at all: times. The HPA then has the other triggers only.
 */
export const unservedTriggers = (raw: Json): readonly string[] =>
  triggersOf(raw).flatMap(({ type }, index) =>
    type === "cron" ? [`triggers[${index}] (cron)`] : [],
  );

const triggersOf = (raw: Json): readonly Json[] =>
  asList(asObject(raw["spec"])["triggers"]).map(asObject);

/** The triggers that the HPA of the stand-in can have. */
const SERVED: ReadonlySet<string> = new Set(["cpu", "memory", ...Object.keys(TARGETS)]);

/**
 * The external metrics that KEDA serves for the triggers: `s0-prometheus`, selected by the name of
 * the ScaledObject.
 */
const externalMetrics = (raw: Json): readonly Json[] =>
  triggersOf(raw).flatMap(({ type, metadata, metricType = "AverageValue" }, index) => {
    const [field = "", otherwise] = TARGETS[String(type)] ?? [];
    const value = asObject(metadata)[field] ?? otherwise;
    if (typeof value !== "string") return [];
    const target =
      metricType === "Value"
        ? { type: "Value", value }
        : { type: "AverageValue", averageValue: value };
    const selector = { matchLabels: { "scaledobject.keda.sh/name": placeOf(raw).name } };
    return [
      {
        type: "External",
        external: { metric: { name: `s${index}-${String(type)}`, selector }, target },
      },
    ];
  });

/**
 * The HPA that KEDA makes of a ScaledObject, or why it makes none: of a trigger whose metric the
 * simulated cluster cannot serve.
 */
export const hpaOfScaledObject = (raw: Json): { readonly hpa: Json } | { readonly why: string } => {
  const { document: hpa, details } = importScaledObject(raw, {
    spec: { metrics: externalMetrics(raw) },
  });
  if (hpa) return { hpa };
  const unserved = triggersOf(raw).flatMap(({ type }, index) =>
    SERVED.has(asText(type)) ? [] : [`spec.triggers[${index}] (${asText(type)})`],
  );
  return unserved.length > 0
    ? {
        why: `${unserved.join(", ")}: the stand-in of KEDA does not serve such a trigger; it serves ${[...SERVED].join(", ")}`,
      }
    : {
        why: details
          .flatMap(({ severity, of, message }) => (severity === "lost" ? `${of}: ${message}` : []))
          .join("; "),
      };
};

const PAUSED = "autoscaling.keda.sh/paused";
const isPaused = (raw: Json): boolean =>
  asObject(metadataOf(raw)["annotations"])[PAUSED] === "true";

/**
 * Plays the operator of KEDA: each ScaledObject gets an HPA, which the controller of HPAs follows;
 * a paused one loses it and says so by its condition. It does not scale to zero, so that the least
 * count is 1.
 */
export const kedaOperator = (calls: ClusterCalls) => async (): Promise<void> => {
  const wanted = new Set<string>();
  for (const raw of await calls.list(SCALED_OBJECT_KIND))
    if (await reconcile(calls, raw)) wanted.add(keyOf(hpaPlace(raw)));
  for (const hpa of await calls.list(HPA_KIND))
    if (isOwned(hpa) && !wanted.has(keyOf(placeOf(hpa))))
      await calls.remove(HPA_KIND, placeOf(hpa));
};

/** True where the ScaledObject has an HPA now. */
const reconcile = async (calls: ClusterCalls, raw: Json): Promise<boolean> => {
  const made = isPaused(raw) ? { why: "paused" } : hpaOfScaledObject(raw);
  const has = "hpa" in made;
  if (has) await calls.apply(HPA_KIND, hpaPlace(raw), ownedHpa(raw, made.hpa));
  await calls.status(SCALED_OBJECT_KIND, placeOf(raw), statusOf(raw, has ? undefined : made.why));
  return has;
};

const isOwned = (hpa: Json): boolean =>
  asList(metadataOf(hpa)["ownerReferences"]).some(
    (owner) => asObject(owner)["kind"] === SCALED_OBJECT_KIND.kind,
  );

const keyOf = ({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string => `${namespace}/${name}`;

const ownedHpa = (raw: Json, hpa: Json): Json => {
  const { name, uid } = metadataOf(raw);
  const owner = {
    apiVersion: SCALED_OBJECT_KIND.apiVersion,
    kind: SCALED_OBJECT_KIND.kind,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    ...hpa,
    metadata: {
      ...hpaPlace(raw),
      labels: { "scaledobject.keda.sh/name": name },
      ownerReferences: [owner],
    },
  };
};

/** Ready until it is shown otherwise; `why` says why it has no HPA. */
const statusOf = (raw: Json, why: string | undefined): Json => {
  const paused = isPaused(raw);
  const condition = (type: string, isTrue: boolean, reason: string, message: string): Json => ({
    type,
    status: isTrue ? "True" : "False",
    reason,
    message,
  });
  const ready = paused || why === undefined;
  return {
    scaleTargetKind: "apps/v1.Deployment",
    ...(ready &&
      !paused && {
        hpaName: hpaPlace(raw).name,
        externalMetricNames: externalMetrics(raw).map(nameOf),
      }),
    conditions: [
      ready
        ? condition(
            "Ready",
            true,
            "ScaledObjectReady",
            "ScaledObject is defined correctly and is ready for scaling",
          )
        : condition("Ready", false, "ScaledObjectCheckFailed", why ?? ""),
      condition(
        "Active",
        ready && !paused,
        "ScalerActive",
        "Scaling is performed because triggers are active",
      ),
      condition(
        "Paused",
        paused,
        paused ? "ScaledObjectPaused" : "ScaledObjectUnpaused",
        paused ? "ScaledObject is paused" : "",
      ),
    ],
  };
};

const nameOf = (metric: Json): string =>
  String(asObject(asObject(metric["external"])["metric"])["name"]);
