import type { AutoscalerView, EditResult } from "../../answers/views/autoscaler.ts";
import type { Chosen } from "../select/chosen-autoscalers.ts";
import type { Printer, Session } from "../io.ts";
import { forEachResource, resultText } from "../select/listed-autoscalers.ts";
import { ABSENT_CODES, queryFor, viewOf } from "../select/selected-names.ts";
import { unlessFailed } from "../usage-error.ts";

export interface DeleteOptions {
  readonly filename?: readonly string[];
  readonly recursive?: true;
  readonly ignoreNotFound?: true;
  readonly dryRun?: boolean;
}

/**
 * Deletes each autoscaler. One that does not exist is reported at the end, and the others are
 * deleted all the same.
 */
export const remove = async (
  { service }: Session,
  printer: Printer,
  resources: readonly Chosen[],
  { ignoreNotFound, dryRun }: DeleteOptions,
): Promise<void> => {
  // A mistyped cluster is an error in any case: nothing of it would be found.
  if (ignoreNotFound)
    for (const cluster of new Set(resources.flatMap((resource) => resource.cluster ?? [])))
      await service.cluster(cluster);
  await forEachResource(resources, async ({ version, ...resource }) => {
    // What was found by its labels is deleted only in the version that had them.
    const deletion = async () =>
      service.delete({
        ...(await queryFor(service, resource)),
        ...(version && { onlyIf: [version] }),
      });
    const deleted = await unlessFailed<EditResult | AutoscalerView>(
      dryRun ? viewOf(service, resource) : deletion(),
      ...(ignoreNotFound ? ABSENT_CODES : []),
    );
    if (deleted) await printer.print(resultText(deleted, dryRun ? "deleted (dry run)" : "deleted"));
  });
};
