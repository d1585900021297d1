import { type Json, nonEmpty, present } from "../model/json.ts";
import { invalidField, type Problem, required } from "../fields/problem.ts";
import {
  anything,
  listOf,
  objectOf,
  type ReadAs,
  text,
  textMap,
  type ReadContext,
} from "../fields/shape.ts";
import {
  labelFaults,
  labelValueFaults,
  pathSegmentFaults,
  qualifiedNameFaults,
  subdomainFaults,
} from "../model/kubernetes-names.ts";
import type { AutoscalerSpec } from "../model/spec.ts";

/**
 * Fields that only an API server sets. They come with manifests that were read back from a cluster.
 */
const OF_SERVER = {
  uid: text,
  resourceVersion: text,
  creationTimestamp: text,
  deletionTimestamp: text,
  selfLink: text,
  finalizers: listOf(text, ""),
  generation: anything,
  deletionGracePeriodSeconds: anything,
  managedFields: anything,
  ownerReferences: anything,
};
export const SERVER_FIELDS = Object.keys(OF_SERVER);

/** Object metadata. Only names, labels and annotations have a meaning here. */
export const METADATA = objectOf({
  name: text,
  generateName: text,
  namespace: text,
  labels: textMap,
  annotations: textMap,
  ...OF_SERVER,
});

export interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const DEFAULT_NAMESPACE = "default";
/** Bytes of all annotations, keys and values. */
const MAX_ANNOTATION_BYTES = 262_144;

/** Metadata with the default namespace. An absent name is empty, which is a problem. */
export const metadataOf = (read: ReadAs<typeof METADATA> | undefined): Metadata => ({
  name: read?.name ?? "",
  namespace: read?.namespace || DEFAULT_NAMESPACE,
  labels: read?.labels ?? {},
  annotations: read?.annotations ?? {},
});

/** Metadata as it reads back. */
export const storedMetadata = (
  { name, namespace, labels, annotations }: Metadata,
  generation: number,
): Json =>
  present({
    name,
    namespace,
    labels: nonEmpty(labels),
    annotations: nonEmpty(annotations),
    generation,
  });

/**
 * Problems of names, labels and annotations (hpa.md 1.3). On an update the name and namespace must
 * not change, and the shape of the name is checked less, because it is the old name anyway.
 */
export const metadataProblems = (metadata: Metadata, old: Metadata | undefined): Problem[] => [
  ...nameProblems(metadata.name, old ? pathSegmentFaults : subdomainFaults),
  ...labelFaults(metadata.namespace).map((fault) =>
    invalidField("metadata.namespace", fault, "write the name of the namespace in the cluster"),
  ),
  ...labelProblems(metadata.labels),
  ...annotationProblems(metadata.annotations),
  ...(old ? immutableProblems(metadata, old) : []),
];

const nameProblems = (name: string, faultsOf: (name: string) => string[]): Problem[] =>
  name === ""
    ? [
        required(
          "metadata.name",
          "name or generateName is required",
          "write metadata.name; Tidemark does not use generateName",
        ),
      ]
    : faultsOf(name).map((fault) =>
        invalidField(
          "metadata.name",
          fault,
          "use small letters, digits, - and . only, at most 253 of them",
        ),
      );

const labelProblems = (labels: Readonly<Record<string, string>>): Problem[] =>
  Object.entries(labels).flatMap(([key, value]) =>
    [...qualifiedNameFaults(key), ...labelValueFaults(value)].map((fault) =>
      invalidField(
        "metadata.labels",
        fault,
        `write the label "${key}" with letters, digits, -, _ and . only`,
      ),
    ),
  );

const annotationProblems = (annotations: Readonly<Record<string, string>>): Problem[] => {
  const faults = Object.keys(annotations).flatMap((key) =>
    qualifiedNameFaults(key.toLowerCase()).map((fault) =>
      invalidField(
        "metadata.annotations",
        fault,
        `write the annotation's name "${key}" with letters, digits, -, _ and . only`,
      ),
    ),
  );
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  if (bytes <= MAX_ANNOTATION_BYTES) return faults;
  const detail = `may not be more than ${MAX_ANNOTATION_BYTES} bytes`;
  return [
    ...faults,
    {
      field: "metadata.annotations",
      type: "FieldValueTooLong",
      detail,
      fix: "store long texts elsewhere",
    },
  ];
};

const immutableProblems = (metadata: Metadata, old: Metadata): Problem[] =>
  (["name", "namespace"] as const)
    .filter((part) => metadata[part] !== old[part])
    .map((part) =>
      invalidField(
        `metadata.${part}`,
        "field is immutable",
        `keep "${old[part]}", or apply this as another autoscaler`,
      ),
    );

/** One accepted kind of manifest; FORMS (other-kinds.ts) lists them all. */
export interface Form {
  readonly apiVersion: string;
  readonly kind: string;
  readonly admit: AdmitForm;
}

/**
 * Reads, defaults and checks one document. Unreadable fields go into the context; broken rules are
 * in the outcome. `old` is the outcome of the manifest that this one replaces. It never throws. The
 * outcome counts only without problems.
 */
export type AdmitForm = (
  document: unknown,
  context: ReadContext,
  old: FormOutcome | undefined,
) => FormOutcome;

export interface FormOutcome {
  readonly metadata: Metadata;
  readonly problems: readonly Problem[];
  readonly spec: AutoscalerSpec;
  /**
   * The spec as it reads back, complete and in canonical text. Admitting it again changes nothing.
   */
  readonly stored: StoredForm;
  /** JSON that is deeply equal for two manifests with the same meaning. */
  readonly meaning: unknown;
}

export interface StoredForm {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: Json;
}
