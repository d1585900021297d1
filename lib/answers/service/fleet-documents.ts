import { newBudget } from "../../rules/manifest/budget.ts";
import { type ManifestDocument, readManifests } from "../../rules/manifest/documents.ts";
import { type FleetKind, fleetKindOf } from "../../rules/manifest/fleet-kinds.ts";
import type { OtherKinds } from "../../rules/manifest/other-kinds.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject } from "../../rules/model/json.ts";
import type { ManifestSource } from "./service.ts";

/** A document of a file, with the file that a relative path in it starts from. */
export type FleetDocument = ManifestDocument & { readonly file: string };

/** What a document holds, or a line for each of its faults. */
export type FleetReading<Value> =
  | { readonly value: Value }
  | { readonly faults: readonly string[] };

/** What was read of the documents of one kind of the fleet, and whether anything else is there. */
export interface FleetDocuments<Value> {
  readonly values: readonly Value[];
  /** True where the files hold an object of a kind that is none of the fleet's. */
  readonly others: boolean;
}

/**
 * Reads the documents of one kind of the fleet, in order. Throws `manifest.invalid` with a line for
 * every fault, before anything is stored.
 */
export const fleetDocuments = <Value extends { readonly name: string }>(
  kind: FleetKind,
  files: readonly ManifestSource[],
  read: (document: FleetDocument) => FleetReading<Value>,
): FleetDocuments<Value> => {
  const mentioned = new RegExp(`\\b${kind}\\b`);
  // A folder of a hundred autoscalers is parsed once, and not once for each kind.
  if (!files.some(({ text }) => mentioned.test(text) && text.includes("tidemark.dev/")))
    return { values: [], others: true };
  const budget = newBudget();
  const beside = besideKind(kind);
  const readings = files.flatMap(({ file, text }) =>
    readManifests(text, file, { budget, otherKinds: beside.otherKinds }).map((document) =>
      read({ ...document, file }),
    ),
  );
  const values = readings.flatMap((each) => ("value" in each ? [each.value] : []));
  const faults = [
    ...readings.flatMap((each) => ("faults" in each ? each.faults : [])),
    ...twins(
      kind,
      values.map(({ name }) => name),
    ),
  ];
  if (faults.length > 0)
    throw new TidemarkError("manifest.invalid", faults.join("\n"), { lines: faults });
  return { values, others: beside.others() };
};

/** Passes over every other kind: `apply` reads these on their own. */
const besideKind = (
  kind: FleetKind,
): { readonly otherKinds: OtherKinds; readonly others: () => boolean } => {
  let passed = 0;
  let others = false;
  return {
    others: () => others,
    otherKinds: {
      total: () => passed,
      counts: () => [],
      passOver: (raw) => {
        const found = isObject(raw) ? fleetKindOf(raw) : undefined;
        // The items of a List are looked at one by one.
        if (found === kind || (isObject(raw) && raw["kind"] === "List")) return false;
        passed++;
        others ||= found === undefined;
        return true;
      },
    },
  };
};

const WORDS: Readonly<Record<FleetKind, string>> = {
  Cluster: "cluster",
  MetricSource: "source",
  Wake: "wake",
};

const twins = (kind: FleetKind, names: readonly string[]): readonly string[] =>
  [...new Set(names.filter((name, at) => names.indexOf(name) !== at))].map(
    (name) => `Cannot accept ${WORDS[kind]} "${name}": it is in the files twice; keep one`,
  );
