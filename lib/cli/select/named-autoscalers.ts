import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import type { Service } from "../../service/service.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import { kindOf } from "../output/kubernetes-object.ts";
import { mustHaveKind, type Resource } from "./selected-names.ts";

/** The autoscalers that exist. An error at the end names the others. */
export async function* namedAutoscalers(service: Pick<Service, "get">, resources: readonly Resource[]): AsyncGenerator<AutoscalerView> {
  const views: AutoscalerView[] = [];
  let failure: unknown;
  await forEachResource(resources, async ({ kind, ...query }) => {
    views.push(mustHaveKind(await service.get(query), kind));
  }).catch((error: unknown) => {
    failure = error;
  });
  yield* views;
  if (failure !== undefined) throw failure;
}

/** The error of a name that stands for nothing, or for an autoscaler of another kind. */
export const isAbsent = (error: unknown): boolean => isTidemarkError(error, "service.unknown") || isTidemarkError(error, "cli.other-kind");

/** Those that exist now. An absent one is no error. */
export async function* namedIfThere(service: Pick<Service, "get">, resources: readonly Resource[]): AsyncGenerator<AutoscalerView> {
  for (const { kind, ...query } of resources) {
    const view = await service.get(query).catch((error: unknown) => {
      if (isAbsent(error)) return undefined;
      throw error;
    });
    if (view !== undefined && (kind === undefined || kindOf(view) === kind)) yield view;
  }
}

/** Does the work for each item in turn. A failure does not stop it, as with kubectl: the others are done, and all failures are thrown together at the end. */
export const forEachResource = async <Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> => {
  const failures: TidemarkError[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (!isTidemarkError(error)) throw error;
      failures.push(error);
    }
  }
  const [first, ...more] = failures;
  if (!first) return;
  if (more.length === 0) throw first;
  // A stack that does not answer says the same for each.
  const messages = [...new Set(failures.map(({ message }) => message))];
  throw new TidemarkError("cli.several", messages.join("\n"), { failures });
};
