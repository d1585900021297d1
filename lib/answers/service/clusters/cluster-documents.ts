import { boundProblems } from "../../../rules/fields/bounds.ts";
import {
  clauseOf,
  firstOfEach,
  invalidField,
  type Problem,
  reportedProblems,
} from "../../../rules/fields/problem.ts";
import { newReadContext, objectOf, text, textMap } from "../../../rules/fields/shape.ts";
import {
  CLUSTER_SPEC,
  type ClusterSpecRead,
  CONNECTION_KINDS,
} from "../../../rules/manifest/cluster/cluster-fields.ts";
import { placeOfField } from "../../../rules/manifest/errors.ts";
import { arnFault, namePatternFault } from "../../../rules/model/access.ts";
import { WHOLE_CLUSTER } from "../../../rules/model/ids.ts";
import { isObject, nonEmpty, present } from "../../../rules/model/json.ts";
import type { Quantity } from "../../../rules/model/quantity.ts";
import type { Connection } from "../../../rules/model/records.ts";
import { HPA_VERSIONS } from "../../../rules/model/spec-common.ts";
import { SPEC_KIND_NAMES } from "../../../rules/model/spec.ts";
import type { GrantView } from "../../views/change.ts";
import type { ClusterView } from "../../views/cluster.ts";
import {
  type FleetDocument,
  type FleetDocuments,
  fleetDocuments,
  type FleetReading,
} from "../fleet-documents.ts";
import type { ManifestSource, NewCluster, NewGrant } from "../service.ts";
import { clusterFaults } from "./cluster-faults.ts";

/** A cluster with every field, so that what is stored and what is wanted can be compared. */
export type WholeCluster = Required<Omit<NewCluster, "force" | "dryRun" | "connection">> & {
  /** Absent only of a stored cluster whose connection the caller may not see. */
  readonly connection?: Connection;
  /** Absent: the grants stay as they are. */
  readonly grants?: readonly Omit<NewGrant, "cluster">[];
};

/** A document of a cluster, as it was read. */
export type WantedCluster = WholeCluster & {
  readonly connection: Connection;
  readonly file: string;
};

const DOCUMENT = objectOf({
  apiVersion: text,
  kind: text,
  metadata: objectOf({ name: text, labels: textMap }),
  spec: CLUSTER_SPEC.shape,
});

/** The clusters of files. Throws `manifest.invalid` with a line for every fault. */
export const clustersIn = (files: readonly ManifestSource[]): FleetDocuments<WantedCluster> =>
  fleetDocuments("Cluster", files, readCluster);

const readCluster = (written: FleetDocument): FleetReading<WantedCluster> => {
  const context = newReadContext();
  const read = DOCUMENT(written.document, "", context);
  const spec = read?.spec;
  const problems: Problem[] = [
    ...versionProblems(read?.apiVersion),
    ...context.problems,
    ...context.warnings.flatMap(({ field, refusal }) => (refusal ? [{ field, ...refusal }] : [])),
    ...boundProblems(CLUSTER_SPEC.about, spec, "spec"),
  ];
  const { connection, problems: wrong } = connectionOf(written.document, spec);
  problems.push(...wrong);
  const name = read?.metadata?.name ?? "";
  if (name === "")
    problems.push(invalidField("metadata.name", "is required", "write the name of the cluster"));
  if (problems.length > 0 || !spec || !connection) return { faults: linesOf(written, problems) };
  const value: WantedCluster = {
    ...wholeOf(name, spec),
    labels: read.metadata?.labels ?? {},
    connection,
    file: written.file,
  };
  const faults = [
    ...clusterFaults(value).map(({ field, words }) => ({ field, message: words })),
    ...grantFaults(value.grants ?? []),
  ].map(
    ({ field, message }) => `Cannot accept ${placeOfField(written, field)}: ${field}: ${message}`,
  );
  return faults.length === 0 ? { value } : { faults };
};

const linesOf = (written: FleetDocument, problems: readonly Problem[]): readonly string[] => {
  const { reported, more } = reportedProblems(firstOfEach(problems));
  return [
    ...reported.map(
      (problem) =>
        `Cannot accept ${placeOfField(written, problem.field)}: ${clauseOf(problem)}; ${problem.fix}`,
    ),
    ...(more > 0 ? [`Cannot accept "${written.where}": ${more} further problems`] : []),
  ];
};

const VERSION = "tidemark.dev/v1";
const versionProblems = (apiVersion: string | undefined): readonly Problem[] =>
  apiVersion === VERSION
    ? []
    : [invalidField("apiVersion", `must be ${VERSION}`, `write apiVersion: ${VERSION}`)];

/** The connection, and the fields of it that are missing or belong to another way. */
const connectionOf = (
  document: unknown,
  spec: ClusterSpecRead | undefined,
): { readonly connection?: Connection; readonly problems: readonly Problem[] } => {
  const { kind, ...given } = spec?.connection ?? {};
  const known = kind === undefined ? undefined : CONNECTION_KINDS[kind];
  if (kind === undefined || known === undefined) return { problems: [] };
  const fields: readonly string[] = known;
  const [needed] = fields;
  const values = Object.entries(given).filter(([, value]) => value !== undefined && value !== "");
  const names = values.map(([name]) => name);
  const missing = [needed, ...(kind === "eks" ? ["region"] : [])].filter(
    (name) => name !== undefined && !names.includes(name),
  );
  const problems = [
    ...missing.map((name) =>
      invalidField(`spec.connection.${name}`, `must be given with kind ${kind}`, `write ${name}`),
    ),
    ...names
      .filter((name) => !fields.includes(name))
      .map((name) =>
        invalidField(
          `spec.connection.${name}`,
          `may not be given with kind ${kind}`,
          `remove it; ${kind} has ${fields.join(", ")}`,
        ),
      ),
    ...emptyTexts(document, fields),
  ];
  if (problems.length > 0) return { problems };
  return { connection: { kind, ...Object.fromEntries(values) } as Connection, problems };
};

/** An empty text is usually an unset variable of a template. */
const emptyTexts = (document: unknown, fields: readonly string[]): readonly Problem[] => {
  const spec = isObject(document) ? document["spec"] : undefined;
  const connection = isObject(spec) ? spec["connection"] : undefined;
  return fields
    .filter((name) => isObject(connection) && connection[name] === "")
    .map((name) =>
      invalidField(
        `spec.connection.${name}`,
        "may not be empty",
        "give a value, or leave the field out",
      ),
    );
};

const wholeOf = (
  name: string,
  spec: ClusterSpecRead,
): Omit<WholeCluster, "labels" | "connection"> => {
  const { settings, partitions, specsFromCluster = [], recommenderHosts = [], grants } = spec;
  return {
    name,
    syncPeriodMs: msOf(spec.syncPeriodSeconds),
    partitions: partitions?.map(({ name: partition, namespaces }) => ({
      name: partition ?? "",
      ...present({ namespaces }),
    })) ?? [{ name: WHOLE_CLUSTER }],
    specsFromCluster: SPEC_KIND_NAMES.filter((kind) => specsFromCluster.includes(kind)),
    recommenderHosts,
    settings: {
      tolerance: numberOf(settings.tolerance),
      downscaleStabilizationMs: msOf(settings.downscaleStabilizationSeconds),
      cpuInitializationPeriodMs: msOf(settings.cpuInitializationPeriodSeconds),
      initialReadinessDelayMs: msOf(settings.initialReadinessDelaySeconds),
      hpaVersion: settings.hpaVersion,
    },
    ...(grants && {
      grants: grants.map(({ arn = "", role = "view", namespace }) => ({
        arn,
        role,
        ...present({ namespace: namespace === "*" ? undefined : namespace }),
      })),
    }),
  };
};

/** The double that is nearest to the quantity: powers of ten up to 22 are exact. */
const numberOf = ({ mantissa, exponent }: Quantity): number =>
  exponent < 0 ? Number(mantissa) / 10 ** -exponent : Number(mantissa) * 10 ** exponent;

const msOf = (seconds: Quantity): number => Math.round(numberOf(seconds) * 1000);

const grantFaults = (
  grants: NonNullable<WholeCluster["grants"]>,
): readonly { readonly field: string; readonly message: string }[] =>
  grants.flatMap(({ arn, namespace }, at) => [
    ...faultAt(`spec.grants[${at}].arn`, arnFault(arn)),
    ...(namespace === undefined
      ? []
      : faultAt(`spec.grants[${at}].namespace`, namePatternFault(namespace))),
  ]);

const faultAt = (field: string, message: string | undefined) =>
  message === undefined ? [] : [{ field, message }];

/** A stored cluster with every field. `grants`: of the whole fleet, where they are known. */
export const wholeCluster = (view: ClusterView, grants?: readonly GrantView[]): WholeCluster => ({
  name: view.name,
  labels: view.labels ?? {},
  ...present({ connection: view.connection }),
  syncPeriodMs: msOfSeconds(view.syncPeriodSeconds),
  partitions: view.partitions.map(({ name, namespaces }) => ({
    name,
    ...(typeof namespaces !== "string" && { namespaces }),
  })),
  specsFromCluster: view.specsFromCluster ?? [],
  recommenderHosts: view.recommenderHosts ?? [],
  settings: {
    tolerance: view.settings.tolerance,
    downscaleStabilizationMs: msOfSeconds(view.settings.downscaleStabilizationSeconds),
    cpuInitializationPeriodMs: msOfSeconds(view.settings.cpuInitializationPeriodSeconds),
    initialReadinessDelayMs: msOfSeconds(view.settings.initialReadinessDelaySeconds),
    hpaVersion: view.settings.hpaVersion ?? HPA_VERSIONS[0],
  },
  ...(grants && {
    grants: grants
      .filter(({ cluster }) => cluster === view.name)
      .map(({ arn, role, namespace }) => ({ arn, role, ...present({ namespace }) })),
  }),
});

const msOfSeconds = (seconds: number): number => Math.round(seconds * 1000);

/** A cluster as a document that `apply` takes, with its defaults. */
export const clusterDocument = (cluster: WholeCluster): object => {
  const { name, labels, connection, settings, grants } = cluster;
  return {
    apiVersion: VERSION,
    kind: "Cluster",
    metadata: present({ name, labels: nonEmpty(sorted(labels)) }),
    spec: present({
      connection: connection && inOrder(connection),
      syncPeriodSeconds: cluster.syncPeriodMs / 1000,
      partitions: cluster.partitions,
      specsFromCluster: nonEmpty(cluster.specsFromCluster),
      recommenderHosts: nonEmpty(cluster.recommenderHosts),
      settings: {
        tolerance: settings.tolerance,
        downscaleStabilizationSeconds: (settings.downscaleStabilizationMs ?? 0) / 1000,
        cpuInitializationPeriodSeconds: (settings.cpuInitializationPeriodMs ?? 0) / 1000,
        initialReadinessDelaySeconds: (settings.initialReadinessDelayMs ?? 0) / 1000,
        hpaVersion: settings.hpaVersion,
      },
      grants: grants && byText(grants),
    }),
  };
};

const sorted = (labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** The fields in the order of the reference. */
const inOrder = (connection: Connection): object => {
  const fields: Readonly<Record<string, unknown>> = { ...connection };
  return present(
    Object.fromEntries(
      ["kind", ...CONNECTION_KINDS[connection.kind]].map((name) => [name, fields[name]]),
    ),
  );
};

/** Grants have no order of their own. */
const byText = (grants: NonNullable<WholeCluster["grants"]>): NonNullable<WholeCluster["grants"]> =>
  grants.toSorted((one, other) => (grantText(one) < grantText(other) ? -1 : 1));

export const grantText = ({ arn, role, namespace = "*" }: Omit<NewGrant, "cluster">): string =>
  `${arn} ${role} ${namespace}`;
