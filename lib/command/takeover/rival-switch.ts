import type { KindPath } from "../../stack/cluster/discovery.ts";
import type {
  ClusterApiAnswer,
  KubeconfigApi,
  ObjectRef,
} from "../../stack/cluster/kubeconfig-api.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { asObject, type Json } from "../../rules/model/json.ts";
import { RIVAL_PATHS } from "../commands/import.ts";
import { CONFLICT, NOT_FOUND, UNPROCESSABLE } from "../../rules/model/http-status.ts";

/** How a controller of a kind is brought to rest, and how it goes on. */
export interface RivalSwitch {
  readonly get: (api: KubeconfigApi, ref: ObjectRef) => Promise<ClusterApiAnswer<Json>>;
  /** True of an object that does not scale. What is kept of it would bring back its rest. */
  readonly isAtRest: (live: Json) => boolean;
  /** Acts on exactly the version that was read: any other answers 409. */
  readonly rest: (api: KubeconfigApi, live: Json) => Promise<ClusterApiAnswer<Json>>;
  /** Brings back what `kept` was. */
  readonly goOn: (api: KubeconfigApi, kept: Json) => Promise<ClusterApiAnswer<Json>>;
  readonly path: KindPath;
  /** The rights that bringing it to rest and going on need. */
  readonly needs: Readonly<Record<"rest" | "goOn", "create" | "delete" | "update">>;
  /** What was done: "deleted". */
  readonly rested: string;
  readonly wentOn: string;
}

const metadataOf = (raw: Json): Json => asObject(raw["metadata"]);
export const refOf = (raw: Json): ObjectRef => ({
  namespace: String(metadataOf(raw)["namespace"]),
  name: String(metadataOf(raw)["name"]),
});
export const rivalUid = (raw: Json): string => String(metadataOf(raw)["uid"]);

/**
 * The object as it can be made again: with its labels, annotations and owners, without what the
 * server adds.
 */
export const restorable = ({ apiVersion, kind, metadata, spec }: Json): Json => {
  const { name, namespace, labels, annotations, ownerReferences, finalizers } = asObject(metadata);
  return JSON.parse(
    JSON.stringify({
      apiVersion,
      kind,
      metadata: { name, namespace, labels, annotations, ownerReferences, finalizers },
      spec,
    }),
  );
};

/**
 * The status that a controller writes changes the version of its object; each attempt reads it
 * again.
 */
export const ATTEMPTS_MAX = 5;
const { hpas, watermarks, scaledObjects, datadog, datadogBefore } = RIVAL_PATHS;

const HPA: RivalSwitch = {
  get: (api, ref) => api.get(hpas, ref),
  isAtRest: () => false,
  rest: (api, live) =>
    api.remove(hpas, refOf(live), {
      uid: rivalUid(live),
      resourceVersion: String(metadataOf(live)["resourceVersion"]),
    }),
  goOn: async (api, kept) => {
    const made = await api.create(hpas, refOf(kept).namespace, kept);
    // What applies it from Git was faster.
    return made.kind === "failed" && made.failure.code === CONFLICT
      ? api.get(hpas, refOf(kept))
      : made;
  },
  path: hpas,
  needs: { rest: "delete", goOn: "create" },
  rested: "deleted",
  wentOn: "made again",
};

/**
 * The Datadog Cluster Agent fetches a metric only while an HPA or a WatermarkPodAutoscaler asks for
 * it: in a dry run it still does.
 */
const WATERMARK: RivalSwitch = {
  get: (api, ref) => api.get(watermarks, ref),
  isAtRest: (live) => asObject(live["spec"])["dryRun"] === true,
  rest: (api, live) =>
    api.replace(watermarks, refOf(live), {
      ...live,
      spec: { ...asObject(live["spec"]), dryRun: true },
    }),
  goOn: (api, kept) =>
    replaceLive(api, { path: watermarks, kept }, (live) => ({
      ...live,
      spec: { ...asObject(live["spec"]), dryRun: asObject(kept["spec"])["dryRun"] ?? false },
    })),
  path: watermarks,
  needs: { rest: "update", goOn: "update" },
  rested: "set to a dry run",
  wentOn: "taken out of its dry run",
};

const PAUSED = "autoscaling.keda.sh/paused";

/**
 * KEDA serves the external metrics of a ScaledObject as long as it exists. A deleted one may also
 * set the count back.
 */
const SCALED_OBJECT: RivalSwitch = {
  get: (api, ref) => api.get(scaledObjects, ref),
  isAtRest: (live) => asObject(metadataOf(live)["annotations"])[PAUSED] === "true",
  rest: (api, live) => api.replace(scaledObjects, refOf(live), withAnnotation(live, "true")),
  goOn: (api, kept) => {
    const before = asObject(metadataOf(kept)["annotations"])[PAUSED];
    return replaceLive(api, { path: scaledObjects, kept }, (live) => withAnnotation(live, before));
  },
  path: scaledObjects,
  needs: { rest: "update", goOn: "update" },
  rested: "paused",
  wentOn: "resumed",
};

/** The path of the version that the object was read in. */
const datadogPath = ({ apiVersion }: Json): KindPath =>
  String(apiVersion).endsWith("/v1alpha1") ? datadogBefore : datadog;

/** The field of each version that says whether counts are set, with what sets none. */
const MODES = {
  v1alpha1: { policy: "policy", field: "applyMode", rest: "None" },
  v1alpha2: { policy: "applyPolicy", field: "mode", rest: "Preview" },
} as const;
const modeIn = (raw: Json): (typeof MODES)[keyof typeof MODES] =>
  MODES[datadogPath(raw) === datadogBefore ? "v1alpha1" : "v1alpha2"];

const withMode = (live: Json, mode: unknown): Json => {
  const { policy, field } = modeIn(live);
  const spec = asObject(live["spec"]);
  const { [field]: _before, ...others } = asObject(spec[policy]);
  return {
    ...live,
    spec: { ...spec, [policy]: { ...others, ...(mode !== undefined && { [field]: mode }) } },
  };
};
const modeOf = (raw: Json): unknown => {
  const { policy, field } = modeIn(raw);
  return asObject(asObject(raw["spec"])[policy])[field];
};

const REMOTE: ClusterApiAnswer<never> = {
  kind: "failed",
  failure: {
    code: UNPROCESSABLE,
    reason: "Invalid",
    message:
      "Datadog's application writes this object (spec.owner is Remote): set its preview there, and the autoscaler scales once a sync has seen it",
  },
};

/** In its preview Datadog goes on to recommend counts, and sets none. */
const DATADOG: RivalSwitch = {
  get: async (api, ref) => {
    const found = await api.get(datadog, ref);
    return found.kind === "failed" && found.failure.code === NOT_FOUND
      ? api.get(datadogBefore, ref)
      : found;
  },
  isAtRest: (live) => modeOf(live) === modeIn(live).rest,
  // The application would write its own mode again.
  rest: async (api, live) =>
    asObject(live["spec"])["owner"] === "Remote"
      ? REMOTE
      : api.replace(datadogPath(live), refOf(live), withMode(live, modeIn(live).rest)),
  goOn: (api, kept) =>
    replaceLive(api, { path: datadogPath(kept), kept }, (live) => withMode(live, modeOf(kept))),
  path: datadog,
  needs: { rest: "update", goOn: "update" },
  rested: "set to its preview",
  wentOn: "taken out of its preview",
};

const SWITCHES: Readonly<Record<string, RivalSwitch>> = {
  HorizontalPodAutoscaler: HPA,
  WatermarkPodAutoscaler: WATERMARK,
  ScaledObject: SCALED_OBJECT,
  DatadogPodAutoscaler: DATADOG,
};

/** Throws `cli.takeover` for a kind that is not known. */
export const switchOf = (kind: string): RivalSwitch => {
  const known = SWITCHES[kind];
  if (known) return known;
  throw new TidemarkError(
    "cli.takeover",
    `Cannot switch a ${kind}: it is none of ${Object.keys(SWITCHES).join(", ")}`,
    { kind },
  );
};

const withAnnotation = (live: Json, value: unknown): Json => {
  const { [PAUSED]: _before, ...others } = asObject(metadataOf(live)["annotations"]);
  return {
    ...live,
    metadata: {
      ...metadataOf(live),
      annotations: { ...others, ...(value !== undefined && { [PAUSED]: value }) },
    },
  };
};

/** Changes the object as it is now, also where another writes it meanwhile. */
const replaceLive = async (
  api: KubeconfigApi,
  { path, kept }: { readonly path: (typeof RIVAL_PATHS)["hpas"]; readonly kept: Json },
  change: (live: Json) => Json,
): Promise<ClusterApiAnswer<Json>> => {
  for (let attempt = 1; ; attempt++) {
    const live = await api.get(path, refOf(kept));
    const made =
      live.kind === "done" ? await api.replace(path, refOf(kept), change(live.value)) : live;
    if (made.kind !== "failed" || made.failure.code !== CONFLICT || attempt === ATTEMPTS_MAX)
      return made;
  }
};
