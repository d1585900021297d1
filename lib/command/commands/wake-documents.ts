import { isDeepStrictEqual } from "node:util";
import type { LabelTest } from "../../answers/service/label-selector.ts";
import type { NewWake } from "../../answers/service/requests.ts";
import { type WakeOfFile, wakeDocument } from "../../answers/service/wakes/wake-documents.ts";
import type { WakeView } from "../../answers/views/wake.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { text } from "../../stack/report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText, listDocument, yamlOf } from "../output/documents.ts";
import { forEachResource } from "../select/listed-autoscalers.ts";

/** What an apply does to one wake. */
export interface WakePlan {
  readonly outcome: "created" | "configured" | "unchanged";
  readonly wanted: WakeOfFile;
  readonly stored?: WakeView;
}

/** What an apply of the documents would do to each wake, in their order. */
export const wakePlans = async (
  { service }: Session,
  documents: readonly WakeOfFile[],
): Promise<readonly WakePlan[]> => {
  if (documents.length === 0) return [];
  const known = new Map((await service.wakes()).map((wake) => [wake.name, wake]));
  return documents.map((wanted) => {
    const found = known.get(wanted.name);
    if (found === undefined) return { outcome: "created", wanted };
    if ("problem" in found) return { outcome: "configured", wanted };
    const same = isDeepStrictEqual(wakeDocument(found), wakeDocument(wanted));
    return { outcome: same ? "unchanged" : "configured", wanted, stored: found };
  });
};

const newOf = ({ file: _here, ...wake }: WakeOfFile): NewWake => wake;

/** Registers the wakes of documents, each by the same edit as `wake put`. */
export const applyWakes = async (
  session: Session,
  printer: Printer,
  documents: readonly WakeOfFile[],
  dryRun: boolean,
): Promise<void> => {
  await forEachResource(await wakePlans(session, documents), async ({ outcome, wanted }) => {
    if (!dryRun && outcome !== "unchanged") await session.service.putWake(newOf(wanted));
    await printer.print(text`Wake "${wanted.name}" ${outcome}${dryRun ? " (dry run)" : ""}\n`);
  });
};

/** Forgets the wakes of documents. */
export const removeWakes = async (
  { service }: Session,
  printer: Printer,
  documents: readonly WakeOfFile[],
  { ignoreNotFound, dryRun }: { readonly ignoreNotFound?: true; readonly dryRun?: boolean },
): Promise<void> => {
  if (documents.length === 0) return;
  const known = new Set((await service.wakes()).map(({ name }) => name));
  await forEachResource(documents, async ({ name }) => {
    if (!known.has(name)) {
      if (ignoreNotFound) return;
      throw new TidemarkError(
        "service.unknown",
        `Cannot find wake "${name}": run tidemark wake list`,
        { name },
      );
    }
    if (!dryRun) await service.deleteWake(name);
    await printer.print(text`Wake "${name}" deleted${dryRun ? " (dry run)" : ""}\n`);
  });
};

/** Forgets the wakes with the labels that no document names. */
export const pruneWakes = async (
  { service }: Session,
  printer: Printer,
  documents: readonly WakeOfFile[],
  { hasLabels, dryRun }: { readonly hasLabels: LabelTest; readonly dryRun: boolean },
): Promise<void> => {
  const named = new Set(documents.map(({ name }) => name));
  const left = (await service.wakes()).filter(
    (wake) => !("problem" in wake) && !named.has(wake.name) && hasLabels(wake.labels ?? {}),
  );
  await forEachResource(left, async ({ name }) => {
    if (!dryRun) await service.deleteWake(name);
    await printer.print(text`Wake "${name}" pruned${dryRun ? " (dry run)" : ""}\n`);
  });
};

/** Prints the wakes as documents that `apply` finds unchanged. */
export const exportWakes = async (
  { service }: Session,
  printer: Printer,
  output: DocumentFormat,
): Promise<void> => {
  const documents = (await service.wakes()).map((wake) => {
    if (!("problem" in wake)) return wakeDocument(wake);
    throw new TidemarkError("cli.export", `Cannot export wake "${wake.name}": ${wake.problem}`, {
      name: wake.name,
    });
  });
  await printer.print(
    output === "yaml" ? yamlOf(documents) : documentText(listDocument(documents), output),
  );
};
