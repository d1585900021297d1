import { podAutoscalerDefinition } from "../../../manifest/crd/definition.ts";
import type { Resource } from "../served-resources.ts";

type Json = Readonly<Record<string, unknown>>;

/** The name of a kind in a description, as API servers make it: the group backwards, version and kind. */
export const schemaNameOf = ({ group, version, kind }: Resource): string =>
  [...group.split(".").toReversed(), version, kind].filter(Boolean).join(".");

export const groupVersionKind = ({ group, version, kind }: Resource) => ({ group, version, kind });

/** The schema of a kind under its name. A PodAutoscaler has that of its definition; of the others no field is described. */
export const schemaOf = (resource: Resource): Json => ({
  [schemaNameOf(resource)]: {
    ...(resource.kind === "PodAutoscaler" ? ownSchema() : anySchema(resource)),
    "x-kubernetes-group-version-kind": [groupVersionKind(resource)],
  },
});

const ownSchema = (): Json => {
  const { spec } = podAutoscalerDefinition() as {
    readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Json } }[] };
  };
  return spec.versions[0]?.schema.openAPIV3Schema ?? {};
};

const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

const anySchema = ({ kind }: Resource): Json => ({
  type: "object",
  description: `The simulated cluster does not describe the fields of a ${kind}.`,
  properties: { apiVersion: { type: "string" }, kind: { type: "string" }, metadata: { type: "object" }, spec: ANY, status: ANY },
});
