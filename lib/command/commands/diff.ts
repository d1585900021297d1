import { createTwoFilesPatch } from "diff";
import { admit } from "../../rules/manifest/admit.ts";
import { passedOverText } from "../../rules/manifest/errors.ts";
import type { Validation } from "../../rules/model/spec.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import { block, type Printed } from "../../stack/report/printed.ts";
import { withNamespace, readInputs } from "../../answers/service/apply/manifest-inputs.ts";
import type { ManifestSource, Service } from "../../answers/service/service.ts";
import type { NewSource } from "../../answers/service/requests.ts";
import type { Applied } from "../../answers/views/autoscaler.ts";
import type { Printer, Session } from "../io.ts";
import { yamlText } from "../output/documents.ts";
import type { FileOptions } from "../select/read-sources.ts";
import {
  documentOf,
  sourcesIn,
  withoutSources,
} from "../../answers/service/sources/source-documents.ts";
import { outcomesOf } from "./source.ts";

export interface DiffOptions extends FileOptions {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly validate: Validation;
}

/**
 * Prints what an apply of the manifests would change, as a unified diff with defaults filled in.
 * Stores nothing. Throws `cli.differs`, which prints nothing, so that the exit code says it.
 */
export const diff = async (
  session: Session,
  printer: Printer,
  sources: readonly ManifestSource[],
  { cluster, namespace, validate }: DiffOptions,
): Promise<void> => {
  const { service } = session;
  const registered = sourcesIn(sources);
  const differing = await diffSources(session, printer, registered.sources);
  const differ = (of: string) => new TidemarkError("cli.differs", of, {});
  if (!registered.others) {
    if (differing > 0) throw differ(`${differing} of ${registered.sources.length} sources differ`);
    return;
  }
  const onPassedOver = (counts: Parameters<typeof passedOverText>[0]): void => {
    const others = withoutSources(counts);
    if (others.length > 0) printer.report(passedOverText(others));
  };
  const planned = await service.apply(sources, {
    ...present({ cluster, namespace }),
    dryRun: true,
    validation: validate,
    onPassedOver,
  });
  const documents = readInputs(sources, validate).inputs.map(
    (input) => withNamespace(input, namespace).document,
  );
  const changed = planned.flatMap((plan, index) =>
    plan.outcome === "unchanged" ? [] : [{ plan, document: documents[index] }],
  );
  for (const { plan, document } of changed)
    await printer.print(await differenceText(service, plan, document));
  if (changed.length + differing === 0) return;
  const ofSources =
    differing === 0 ? "" : `, and ${differing} of ${registered.sources.length} sources`;
  throw differ(`${changed.length} of ${planned.length} autoscalers${ofSources} differ`);
};

const differenceText = async (
  service: Service,
  { outcome, cluster, namespace, name }: Applied,
  document: unknown,
): Promise<Printed> => {
  const path = `${cluster}/${namespace}/${name}`;
  const live =
    outcome === "created" ? undefined : (await service.get({ cluster, namespace, name })).manifest;
  const [before, after] = [live === undefined ? "" : storedText(live), storedText(document)];
  return differenceBlock(path, live !== undefined, [before, after]);
};

/** Prints what registering the sources of documents would change, and gives how many differ. */
const diffSources = async (
  session: Session,
  printer: Printer,
  wanted: readonly NewSource[],
): Promise<number> => {
  if (wanted.length === 0) return 0;
  const differing = (await outcomesOf(session, wanted)).filter(
    ([, outcome]) => outcome !== "unchanged",
  );
  for (const [source, , stored] of differing) {
    const [before = "", after = ""] = [stored, source].map((each) =>
      each === undefined ? "" : yamlText(documentOf(each), { sortMapEntries: true }),
    );
    await printer.print(
      differenceBlock(`metricsource/${source.name}`, stored !== undefined, [before, after]),
    );
  }
  return differing.length;
};

/** A unified diff of what is stored and what is applied. */
const differenceBlock = (
  path: string,
  isStored: boolean,
  [before, after]: readonly [string, string],
): Printed =>
  block(
    createTwoFilesPatch(
      isStored ? `stored/${path}` : "/dev/null",
      `applied/${path}`,
      before,
      after,
      undefined,
      undefined,
      {
        headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
      },
    ),
  );

/**
 * The form in which both sides are compared: with defaults, and without the generation, which every
 * change raises.
 */
const storedText = (document: unknown): string => {
  const admission = admit(document);
  // What this release cannot read is shown as it is.
  if (!admission.ok) return yamlText(document);
  const { metadata, ...rest } = admission.stored;
  const { generation: _generation, ...kept } = Object(metadata);
  return yamlText(
    { ...rest, metadata: kept },
    { aliasDuplicateObjects: false, sortMapEntries: true },
  );
};
