import { admit, admitOrThrow } from "../../manifest/admit.ts";
import type { KindCount } from "../../manifest/passed-over.ts";
import { TidemarkError } from "../../model/errors.ts";
import { isObject } from "../../model/json.ts";
import { inNamespace, type ManifestInput, namespaceClash, readInputs } from "../../service/apply/manifest-inputs.ts";
import type { Filter, ManifestSource } from "../../service/service.ts";
import type { Resource } from "./selected-names.ts";

/** Namespace of a manifest that names none, as `apply` takes it. */
const DEFAULT_NAMESPACE = "default";

/** The autoscalers that manifests name. Only kind, name and namespace count: what breaks another rule can be deleted too. Throws `manifest.*` before anything is done. */
export const resourcesIn = (
  sources: readonly ManifestSource[],
  filter: Filter,
): { readonly resources: readonly Resource[]; readonly passedOver: readonly KindCount[] } => {
  const { inputs, passedOver } = readInputs(sources, "warn");
  const clashes = inputs.flatMap((input) => namespaceClash(input, filter.namespace) ?? []);
  if (clashes.length > 0) throw new TidemarkError("manifest.invalid", clashes.join("\n"), { lines: clashes });
  return { resources: inputs.map((input) => ({ ...filter, ...resourceIn(inNamespace(input, filter.namespace)) })), passedOver };
};

const resourceIn = (input: ManifestInput): Resource & { readonly namespace: string } => {
  const admission = admit(input.document);
  if (!admission.ok && admission.because === "unsupported") admitOrThrow(input);
  const { kind, metadata } = isObject(input.document) ? input.document : {};
  const { name, namespace } = isObject(metadata) ? metadata : {};
  const inside = namespace ?? DEFAULT_NAMESPACE;
  if (typeof kind !== "string" || typeof name !== "string" || name === "" || typeof inside !== "string" || inside === "")
    throw new TidemarkError(
      "manifest.invalid",
      `Cannot read "${input.where}": it needs kind and metadata.name, and metadata.namespace must be text where it is given`,
      {
        where: input.where,
      },
    );
  return { kind, name, namespace: inside };
};
