import { serverUrl } from "../../cluster/reachable.ts";
import { eksFault, isSecretOf, secretWords } from "../../model/aws-names.ts";
import { ANY_HOST, type Connection } from "../../model/records.ts";
import type { ClusterChange } from "../service.ts";

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_WORDS = "must be small letters, digits and -, at most 63";
/** Below 5 s the delays of the queue show; 15 min is the longest delay of a message. */
const PERIOD_LEAST_MS = 5_000;
const PERIOD_MOST_MS = 900_000;

/** A longer window of recommendations would outgrow its page (docs/storage.md, "Bytes"). */
const STABILIZATION_MOST_MS = 3_600_000;
/** Longer than any pod takes to become ready. */
const POD_PERIOD_MOST_MS = 31 * 86_400_000;
const TOLERANCE_MOST = 1_000;

/** Every fault of a cluster's new values. */
export const clusterFaults = (wanted: ClusterChange): readonly string[] => {
  const { name, connection, partitions = [], recommenderHosts = [] } = wanted;
  const unconnectable = connection && connectionFault(name, connection);
  return [
    ...(LABEL.test(name) ? [] : [`its name ${LABEL_WORDS}`]),
    ...(unconnectable === undefined ? [] : [unconnectable]),
    ...settingFaults(wanted),
    ...partitionFaults(partitions),
    ...hostFaults(recommenderHosts),
  ];
};

const PLAIN = /^http:\/\//;

/** A host is compared with the one of a URL, so it has the form that URLs have: small letters, no default port. */
const hostFaults = (hosts: readonly string[]): readonly string[] =>
  hosts
    .filter((host) => host.replace(PLAIN, "") !== ANY_HOST && !isHost(host.replace(PLAIN, "")))
    .map((host) => `the recommender host "${host}" must be a host, a host with a port, or ${ANY_HOST}, for http behind http://`);

const isHost = (text: string): boolean => {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  return url?.host === text && url.href === `http://${text}/`;
};

const settingFaults = ({ syncPeriodMs: periodMs = PERIOD_LEAST_MS, settings = {} }: ClusterChange): readonly string[] => [
  ...(periodMs >= PERIOD_LEAST_MS && periodMs <= PERIOD_MOST_MS ? [] : [`its sync period is ${periodMs / 1000} s, must be 5 s to 15 min`]),
  ...((settings.downscaleStabilizationMs ?? 0) <= STABILIZATION_MOST_MS ? [] : ["its downscale stabilization must be at most 1 h"]),
  ...((settings.cpuInitializationPeriodMs ?? 0) <= POD_PERIOD_MOST_MS ? [] : ["its CPU initialization period must be at most 31 d"]),
  ...((settings.initialReadinessDelayMs ?? 0) <= POD_PERIOD_MOST_MS ? [] : ["its initial readiness delay must be at most 31 d"]),
  ...((settings.tolerance ?? 0) <= TOLERANCE_MOST ? [] : [`its tolerance must be at most ${TOLERANCE_MOST}`]),
];

const partitionFaults = (partitions: NonNullable<ClusterChange["partitions"]>): readonly string[] => {
  const named = partitions.flatMap(({ namespaces }) => namespaces ?? []);
  return [
    ...partitions.filter((partition) => !LABEL.test(partition.name)).map((partition) => `the partition name "${partition.name}" ${LABEL_WORDS}`),
    ...named.filter((text) => !LABEL.test(text)).map((text) => `the namespace "${text}" ${LABEL_WORDS}`),
    ...twice(partitions.map((partition) => partition.name)).map((text) => `the partition "${text}" is named twice`),
    ...twice(named).map((text) => `the namespace "${text}" is in two partitions`),
    ...(partitions.filter(({ namespaces }) => namespaces === undefined).length > 1 ? ["only one partition may hold all other namespaces"] : []),
  ];
};

const twice = (names: readonly string[]): readonly string[] => [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];

/** The fault of a connection that can be found before it is stored; undefined when there is none. The sync checks the same when it connects. */
const connectionFault = (cluster: string, connection: Connection): string | undefined => {
  switch (connection.kind) {
    case "secret":
      return isSecretOf(connection.secretId, cluster) ? undefined : secretWords(cluster);
    case "eks":
      return eksFault(connection) ?? endpointFault(connection.endpoint);
    case "kubeconfig":
      return undefined;
  }
};

const endpointFault = (endpoint: string | undefined): string | undefined => {
  if (endpoint === undefined) return undefined;
  try {
    serverUrl(endpoint, { ownAddresses: false, refuse: (why) => new EndpointFault(`its endpoint ${why}`) });
    return undefined;
  } catch (error) {
    if (error instanceof EndpointFault) return error.message;
    throw error;
  }
};

class EndpointFault extends Error {}
