import { createTwoFilesPatch } from "diff";
import { admit } from "../../manifest/admit.ts";
import { passedOverText } from "../../manifest/passed-over.ts";
import type { Validation } from "../../manifest/validation.ts";
import { TidemarkError } from "../../model/errors.ts";
import { block, type Printed } from "../../report/printed.ts";
import { inNamespace, readInputs } from "../../service/apply/manifest-inputs.ts";
import type { ManifestSource, Service } from "../../service/service.ts";
import type { Applied } from "../../service/views/view-types.ts";
import type { Printer, Session } from "../io.ts";
import { yamlText } from "../output/document-text.ts";
import type { FileOptions } from "../read-sources.ts";

export interface DiffOptions extends FileOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly validate: Validation;
}

/** Prints what an apply of the manifests would change, as a unified diff with defaults filled in. Stores nothing. Throws `cli.differs`, which prints nothing, so that the exit code says it. */
export const diff = async (
  { service }: Session,
  printer: Printer,
  sources: readonly ManifestSource[],
  { cluster, namespace, validate }: DiffOptions,
): Promise<void> => {
  const filter = { ...(cluster === undefined ? {} : { cluster }), ...(namespace === undefined ? {} : { namespace }) };
  const onPassedOver = (counts: Parameters<typeof passedOverText>[0]): void => {
    printer.report(passedOverText(counts));
  };
  const planned = await service.apply(sources, { ...filter, dryRun: true, validation: validate, onPassedOver });
  const documents = readInputs(sources, validate).inputs.map((input) => inNamespace(input, namespace).document);
  const changed = planned.flatMap((plan, index) => (plan.outcome === "unchanged" ? [] : [{ plan, document: documents[index] }]));
  for (const { plan, document } of changed) await printer.print(await differenceText(service, plan, document));
  if (changed.length > 0) throw new TidemarkError("cli.differs", `${changed.length} of ${planned.length} autoscalers differ`, {});
};

const differenceText = async (service: Service, { outcome, cluster, namespace, name }: Applied, document: unknown): Promise<Printed> => {
  const path = `${cluster}/${namespace}/${name}`;
  const live = outcome === "created" ? undefined : (await service.get({ cluster, namespace, name })).manifest;
  const [before, after] = [live === undefined ? "" : storedText(live), storedText(document)];
  return block(
    createTwoFilesPatch(live === undefined ? "/dev/null" : `stored/${path}`, `applied/${path}`, before, after, undefined, undefined, {
      headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
    }),
  );
};

/** The form in which both sides are compared: with defaults, and without the generation, which every change raises. */
const storedText = (document: unknown): string => {
  const admission = admit(document);
  // What this release cannot read is shown as it is.
  if (!admission.ok) return yamlText(document);
  const { metadata, ...rest } = admission.stored;
  const { generation: _generation, ...kept } = Object(metadata);
  return yamlText({ ...rest, metadata: kept }, { aliasDuplicateObjects: false, sortMapEntries: true });
};
