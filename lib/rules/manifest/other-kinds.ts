import { isObject } from "../model/json.ts";
import { nearestName } from "../model/nearest-name.ts";
import type { KindCount } from "./errors.ts";
import { fleetKindOf, OF_TIDEMARK } from "./fleet-kinds.ts";
import type { Form } from "./form.ts";
import { admitHpa } from "./hpa/admit-hpa.ts";
import { readOriginal } from "./hpa/read-original.ts";
import { readV1, readV2Beta1 } from "./hpa/read-old.ts";
import { readV2 } from "./hpa/v2-shape.ts";
import { admitNative } from "./native/admit-native.ts";
import { type MarkedForm, orMultiThreshold } from "./watermark/admit-multi-threshold.ts";
import { admitWatermarkAs } from "./watermark/admit-watermark.ts";

const HPA = "HorizontalPodAutoscaler";
const WPA = "WatermarkPodAutoscaler";

const AS_V2: MarkedForm = { naming: "nested", admit: admitHpa(readV2) };
const AS_V2_BETA_1: MarkedForm = { naming: "flat", admit: admitHpa(readV2Beta1) };

/** All accepted kinds of manifest. A new form is one line here and one function. */
export const FORMS: readonly Form[] = [
  { apiVersion: "autoscaling/v2", kind: HPA, admit: orMultiThreshold(admitHpa(readV2), AS_V2) },
  { apiVersion: "autoscaling/v1", kind: HPA, admit: orMultiThreshold(admitHpa(readV1), AS_V2) },
  {
    apiVersion: "autoscaling/v2beta2",
    kind: HPA,
    admit: orMultiThreshold(admitHpa(readV2), AS_V2),
  },
  {
    apiVersion: "autoscaling/v2beta1",
    kind: HPA,
    admit: orMultiThreshold(admitHpa(readV2Beta1), AS_V2_BETA_1),
  },
  {
    apiVersion: "autoscaling/v2alpha1",
    kind: HPA,
    admit: orMultiThreshold(admitHpa(readV2Beta1), AS_V2_BETA_1),
  },
  {
    apiVersion: "extensions/v1beta1",
    kind: HPA,
    admit: orMultiThreshold(admitHpa(readOriginal), AS_V2),
  },
  {
    apiVersion: "datadoghq.com/v1alpha1",
    kind: WPA,
    admit: admitWatermarkAs({ counts: "ready", apiVersion: "datadoghq.com/v1alpha1", kind: WPA }),
  },
  { apiVersion: "tidemark.dev/v1", kind: "PodAutoscaler", admit: admitNative },
];

/**
 * Counts the objects that are no autoscalers, such as the Deployments that kustomize prints beside
 * them.
 */
export interface OtherKinds {
  /**
   * Counts the object and returns true if it has another kind. A kind that looks mistyped is not
   * another kind: it is checked, and refused.
   */
  readonly passOver: (document: unknown) => boolean;
  /** How many were passed over so far. */
  readonly total: () => number;
  /** In order of kind. */
  readonly counts: () => readonly KindCount[];
}

/**
 * Kinds that are counted by name. It bounds the answer to a text with a kind of its own for each
 * object.
 */
const MAX_NAMED_KINDS = 30;
const FURTHER = "others";

export const newOtherKinds = (): OtherKinds => {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    passOver: (document) => {
      const kind = otherKind(document);
      if (kind === undefined) return false;
      const counted = counts.has(kind) || counts.size < MAX_NAMED_KINDS ? kind : FURTHER;
      total++;
      counts.set(counted, (counts.get(counted) ?? 0) + 1);
      return true;
    },
    counts: () =>
      [...counts]
        .map(([kind, count]) => ({ kind, count }))
        .sort((left, right) => (left.kind < right.kind ? -1 : 1)),
  };
};

const ACCEPTED_KINDS: ReadonlySet<string> = new Set(FORMS.map(({ kind }) => kind));

/**
 * Kinds of Kubernetes have this shape. Any other text is refused, so that it is never printed as a
 * kind.
 */
const KIND_SHAPE = /^[A-Z][A-Za-z0-9]{0,62}$/;

/** Every kind of these groups is an autoscaler, so that an unknown one is a mistake. */
const AUTOSCALER_GROUPS: ReadonlySet<string> = new Set(["autoscaling", "tidemark.dev"]);

/**
 * The kind of an object that is no autoscaler. What is in doubt is none, because a mistyped
 * autoscaler that is passed over would silently not exist.
 */
const otherKind = (document: unknown): string | undefined => {
  if (!isObject(document)) return undefined;
  const { apiVersion, kind } = document;
  if (typeof apiVersion !== "string" || apiVersion === "" || typeof kind !== "string")
    return undefined;
  const ofFleet = fleetKindOf(document);
  if (ofFleet !== undefined) return `${ofFleet}${OF_TIDEMARK}`;
  const group = apiVersion.slice(0, Math.max(0, apiVersion.indexOf("/")));
  const doubtful =
    AUTOSCALER_GROUPS.has(group) ||
    !KIND_SHAPE.test(kind) ||
    meantKind(kind) !== undefined ||
    isList(kind, document["items"]);
  return doubtful ? undefined : kind;
};

/**
 * The items of a list are looked at one by one. A kind such as AllowList, without items, is none.
 */
const isList = (kind: string, items: unknown): boolean => {
  if (!kind.endsWith(LIST)) return false;
  return (
    kind === LIST || items !== undefined || meantKind(kind.slice(0, -LIST.length)) !== undefined
  );
};

const LIST = "List";

const SHORT_NAMES: Readonly<Record<string, string>> = {
  hpa: "HorizontalPodAutoscaler",
  pa: "PodAutoscaler",
  wpa: "WatermarkPodAutoscaler",
};

/**
 * Letters per wrong letter. A third, as for other names, would take VerticalPodAutoscaler for a
 * mistyped WatermarkPodAutoscaler.
 */
const LETTERS_PER_EDIT = 6;

/** The accepted kind that this kind is, or was probably meant to be. */
export const meantKind = (kind: string): string | undefined =>
  SHORT_NAMES[kind.toLowerCase()] ??
  nearestName(kind, ACCEPTED_KINDS, Math.max(1, Math.floor(kind.length / LETTERS_PER_EDIT)));
