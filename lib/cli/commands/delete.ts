import type { AutoscalerEdit, Service } from "../../service/service.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { Chosen } from "../select/chosen-autoscalers.ts";
import type { Printer, Session } from "../io.ts";
import { forEachResource, resultText } from "../select/listed-autoscalers.ts";
import { isAbsent, mustHaveKind, queryFor } from "../select/selected-names.ts";

export interface DeleteOptions {
  readonly filename?: readonly string[];
  readonly recursive?: true;
  readonly ignoreNotFound?: true;
  readonly dryRun?: boolean;
}

/** Deletes each autoscaler. One that does not exist is reported at the end, and the others are deleted all the same. */
export const remove = async (
  { service }: Session,
  printer: Printer,
  resources: readonly Chosen[],
  { ignoreNotFound, dryRun }: DeleteOptions,
): Promise<void> => {
  // A mistyped cluster is an error in any case: nothing of it would be found.
  if (ignoreNotFound) for (const cluster of new Set(resources.flatMap((resource) => resource.cluster ?? []))) await service.cluster(cluster);
  await forEachResource(resources, async (resource) => {
    try {
      const deleted = dryRun ? await lookedAt(service, resource) : await service.delete(await editOf(service, resource));
      await printer.print(resultText(deleted, dryRun ? "deleted (dry run)" : "deleted"));
    } catch (error) {
      if (!ignoreNotFound || !isAbsent(error)) throw error;
    }
  });
};

/** What was found by its labels is deleted only in the version that had them. */
const editOf = async (service: Service, { version, ...resource }: Chosen): Promise<AutoscalerEdit> => ({
  ...(await queryFor(service, resource)),
  ...(version && { onlyIf: [version] }),
});

const lookedAt = async (service: Service, { version: _version, kind, ...query }: Chosen): Promise<AutoscalerView> =>
  mustHaveKind(await service.get(query), kind);
