import { eksFault, isSecretOf, secretWords } from "../../../rules/model/aws-names.ts";
import {
  CLUSTER_LABELS_MAX,
  PERIOD_LEAST_MS,
  PERIOD_MOST_MS,
  POD_PERIOD_MOST_MS,
  STABILIZATION_MOST_MS,
  TOLERANCE_MOST,
} from "../../../rules/model/cluster-limits.ts";
import {
  isServiceAccount,
  labelValueFaults,
  qualifiedNameFaults,
  SERVICE_ACCOUNT_WORDS,
} from "../../../rules/model/kubernetes-names.ts";
import { ANY_HOST, type Connection } from "../../../rules/model/records.ts";
import { serverUrl } from "../../../stack/cluster/reachable.ts";
import type { ClusterChange } from "../service.ts";

/** What is wrong with a value of a cluster, and where a document has the value. */
export interface ClusterFault {
  /** The path in a document: "spec.partitions[0].name". */
  readonly field: string;
  readonly words: string;
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_WORDS = "must be small letters, digits and -, at most 63";

const when = (applies: boolean, field: string, words: string): readonly ClusterFault[] =>
  applies ? [{ field, words }] : [];

/** Every fault of a cluster's new values. */
export const clusterFaults = (wanted: ClusterChange): readonly ClusterFault[] => {
  const { name, connection, partitions = [], recommenderHosts = [], labels = {} } = wanted;
  return [
    ...when(!LABEL.test(name), "metadata.name", `its name ${LABEL_WORDS}`),
    ...labelsFaults(labels),
    ...(connection ? connectionFaults(name, connection) : []),
    ...settingFaults(wanted),
    ...partitionFaults(partitions),
    ...hostFaults(recommenderHosts),
  ];
};

const labelsFaults = (labels: NonNullable<ClusterChange["labels"]>): readonly ClusterFault[] =>
  faultsOfLabels(labels).flatMap((fault) => when(true, "metadata.labels", fault));

/** Faults of the labels of a cluster or a wake. */
export const faultsOfLabels = (labels: Readonly<Record<string, string>>): readonly string[] => {
  const entries = Object.entries(labels);
  const wrong = entries.filter(
    ([key, value]) => qualifiedNameFaults(key).length + labelValueFaults(value).length > 0,
  );
  return [
    ...(entries.length > CLUSTER_LABELS_MAX
      ? [`it has ${entries.length} labels, must have at most ${CLUSTER_LABELS_MAX}`]
      : []),
    ...wrong.map(
      ([key]) =>
        `the label "${key}" must have letters, digits, -, _ and . only, at most 63 in its name and in its value`,
    ),
  ];
};

const PLAIN = /^http:\/\//;

/**
 * A host is compared with the one of a URL, so it has the form that URLs have: small letters, no
 * default port.
 */
const hostFaults = (hosts: readonly string[]): readonly ClusterFault[] =>
  hosts.flatMap((host, at) =>
    when(
      host.replace(PLAIN, "") !== ANY_HOST && !isHost(host.replace(PLAIN, "")),
      `spec.recommenderHosts[${at}]`,
      `the recommender host "${host}" must be a host, a host with a port, or ${ANY_HOST}, for http behind http://`,
    ),
  );

const isHost = (text: string): boolean => {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  return url?.host === text && url.href === `http://${text}/`;
};

const settingFaults = ({
  syncPeriodMs: periodMs = PERIOD_LEAST_MS,
  settings = {},
}: ClusterChange): readonly ClusterFault[] => [
  ...when(
    !(periodMs >= PERIOD_LEAST_MS && periodMs <= PERIOD_MOST_MS),
    "spec.syncPeriodSeconds",
    `its sync period is ${periodMs / 1000} s, must be 5 s to 15 min`,
  ),
  ...when(
    !((settings.downscaleStabilizationMs ?? 0) <= STABILIZATION_MOST_MS),
    "spec.settings.downscaleStabilizationSeconds",
    "its downscale stabilization must be at most 1 h",
  ),
  ...when(
    !((settings.cpuInitializationPeriodMs ?? 0) <= POD_PERIOD_MOST_MS),
    "spec.settings.cpuInitializationPeriodSeconds",
    "its CPU initialization period must be at most 31 d",
  ),
  ...when(
    !((settings.initialReadinessDelayMs ?? 0) <= POD_PERIOD_MOST_MS),
    "spec.settings.initialReadinessDelaySeconds",
    "its initial readiness delay must be at most 31 d",
  ),
  ...when(
    !((settings.tolerance ?? 0) <= TOLERANCE_MOST),
    "spec.settings.tolerance",
    `its tolerance must be at most ${TOLERANCE_MOST}`,
  ),
];

const partitionFaults = (
  partitions: NonNullable<ClusterChange["partitions"]>,
): readonly ClusterFault[] => {
  const named = partitions.flatMap(({ namespaces = [] }, at) =>
    namespaces.map((text, inside) => ({
      text,
      field: `spec.partitions[${at}].namespaces[${inside}]`,
    })),
  );
  const names = partitions.map(({ name: text }, at) => ({
    text,
    field: `spec.partitions[${at}].name`,
  }));
  return [
    ...names.flatMap(({ text, field }) =>
      when(!LABEL.test(text), field, `the partition name "${text}" ${LABEL_WORDS}`),
    ),
    ...named.flatMap(({ text, field }) =>
      when(!LABEL.test(text), field, `the namespace "${text}" ${LABEL_WORDS}`),
    ),
    ...twice(names, (text) => `the partition "${text}" is named twice`),
    ...twice(named, (text) => `the namespace "${text}" is in two partitions`),
    ...when(
      partitions.filter(({ namespaces }) => namespaces === undefined).length > 1,
      "spec.partitions",
      "only one partition may hold all other namespaces",
    ),
  ];
};

/** One fault for each text that comes again, at its second place. */
const twice = (
  places: readonly { readonly text: string; readonly field: string }[],
  words: (text: string) => string,
): readonly ClusterFault[] =>
  [...Map.groupBy(places, ({ text }) => text)].flatMap(([text, [, again]]) =>
    again ? [{ field: again.field, words: words(text) }] : [],
  );

/**
 * The fault of a connection that can be found before it is stored. The sync checks the same when it
 * connects.
 */
const connectionFaults = (cluster: string, connection: Connection): readonly ClusterFault[] => {
  switch (connection.kind) {
    case "secret": {
      const { secretId, serviceAccount } = connection;
      return [
        ...when(!isSecretOf(secretId, cluster), "spec.connection.secretId", secretWords(cluster)),
        ...when(
          serviceAccount !== undefined && !isServiceAccount(serviceAccount),
          "spec.connection.serviceAccount",
          SERVICE_ACCOUNT_WORDS,
        ),
      ];
    }
    case "eks": {
      const fault = eksFault(connection);
      if (fault !== undefined) return [{ field: "spec.connection", words: fault }];
      const wrong = endpointFault(connection.endpoint);
      return wrong === undefined ? [] : [{ field: "spec.connection.endpoint", words: wrong }];
    }
    case "kubeconfig":
      return [];
  }
};

const endpointFault = (endpoint: string | undefined): string | undefined => {
  if (endpoint === undefined) return undefined;
  try {
    serverUrl(endpoint, {
      ownAddresses: false,
      refuse: (why) => new EndpointFault(`its endpoint ${why}`),
    });
    return undefined;
  } catch (error) {
    if (error instanceof EndpointFault) return error.message;
    throw error;
  }
};

class EndpointFault extends Error {}
