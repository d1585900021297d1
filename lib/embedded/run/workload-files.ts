import { parseAllDocuments } from "yaml";
import { asList, asObject, asText, type Json } from "../../rules/model/json.ts";
import { MAX_REPLICAS, WORKLOAD_KINDS } from "../cluster/definition.ts";

interface Text {
  readonly text: string;
}

/**
 * The `replicas` that workloads of the files have, by "KIND/NAMESPACE/NAME". The files were read as
 * manifests before, so that a fault was reported there.
 */
export const replicasInFiles = (files: readonly Text[]): ReadonlyMap<string, number> => {
  const objects = files.filter(mayHaveWorkloads).flatMap(({ text }) => objectsOf(text));
  const counted = objects.flatMap((one) => {
    const count = replicasOf(one);
    return count === undefined ? [] : [[keyOf(one), count] as const];
  });
  return new Map(counted);
};

/** Most files hold autoscalers only, and need not be read twice. */
const mayHaveWorkloads = ({ text }: Text): boolean =>
  text.includes("replicas") && WORKLOAD_KINDS.some((kind) => text.includes(kind));

/** The objects of a text, the items of a List among them. */
const objectsOf = (text: string): readonly Json[] =>
  parseAllDocuments(text, { logLevel: "silent" }).flatMap((document) => {
    const raw = asObject(document.toJS());
    return [raw, ...asList(raw["items"]).map(asObject)];
  });

export const replicasKey = (kind: string, namespace: string, name: string): string =>
  `${kind}/${namespace}/${name}`;

const keyOf = ({ kind, metadata }: Json): string => {
  const { namespace = "default", name } = asObject(metadata);
  return replicasKey(asText(kind), asText(namespace), asText(name));
};

const replicasOf = ({ kind, spec }: Json): number | undefined => {
  const { replicas } = asObject(spec);
  return WORKLOAD_KINDS.some((known) => known === kind) &&
    typeof replicas === "number" &&
    Number.isSafeInteger(replicas) &&
    replicas >= 0 &&
    replicas <= MAX_REPLICAS
    ? replicas
    : undefined;
};
