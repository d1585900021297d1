import { amount, choice, group, listField, type ReadOf, words } from "../../fields/field-types.ts";
import { ROLES } from "../../model/access.ts";
import {
  PERIOD_LEAST_MS,
  PERIOD_MOST_MS,
  PERIOD_MS,
  POD_PERIOD_MOST_MS,
  STABILIZATION_MOST_MS,
  TOLERANCE_MOST,
} from "../../model/cluster-limits.ts";
import { SPEC_KIND_NAMES } from "../../model/spec.ts";
import { DEFAULT_SETTINGS, HPA_VERSIONS } from "../../model/spec-common.ts";

const seconds = (ms: number): number => ms / 1000;

/** The ways to reach a cluster, with the fields that each takes; the first field is necessary. */
export const CONNECTION_KINDS = {
  eks: ["clusterId", "region", "roleArn", "endpoint", "caData"],
  secret: ["secretId", "context", "serviceAccount"],
  kubeconfig: ["path", "context"],
} as const;
type ConnectionKind = keyof typeof CONNECTION_KINDS;
const KINDS = Object.keys(CONNECTION_KINDS) as readonly ConnectionKind[];

const CONNECTION_FIELDS = {
  kind: choice(
    "The way: eks by IAM, secret by a kubeconfig or token in Secrets Manager, kubeconfig by a file, only for a run on this machine.",
    KINDS,
    { required: true },
  ),
  clusterId: words("eks: the name of the cluster in EKS."),
  region: words("eks: its region."),
  roleArn: words("eks: the role that is assumed for it."),
  endpoint: words("eks: its address, to be compared with the one that AWS gives."),
  caData: words("eks: its certificate authority in base64, to be compared with the one of AWS."),
  secretId: words(
    "secret: the name or ARN of the secret, which ends in the name of the cluster. The secret itself has no place here.",
  ),
  serviceAccount: words("secret: NAMESPACE/NAME of the service account that the token must be of."),
  path: words("kubeconfig: the file, from the folder of the document."),
  context: words("secret, kubeconfig: the context of the kubeconfig."),
};

const PARTITION_FIELDS = {
  name: words("Name of the partition.", { required: true }),
  namespaces: listField(
    "Its namespaces. Without this field the partition has all namespaces that no other one names.",
    words("One of them.", { required: true }),
    "",
    { leastItems: 1 },
  ),
};

const GRANT_FIELDS = {
  arn: words("The callers: an ARN of IAM or STS, where * stands for any characters of one part.", {
    required: true,
  }),
  role: choice("What they may do: edit includes view.", ROLES, { required: true }),
  namespace: words("Only in namespaces of this name, where * stands for any letters."),
};

const SETTING_FIELDS = {
  tolerance: amount("The share by which load may differ from its target before a count moves.", {
    default: DEFAULT_SETTINGS.tolerance,
    least: 0,
    most: TOLERANCE_MOST,
  }),
  downscaleStabilizationSeconds: amount("The window of the highest recommendation.", {
    default: seconds(DEFAULT_SETTINGS.downscaleStabilizationMs),
    least: 0,
    most: seconds(STABILIZATION_MOST_MS),
  }),
  cpuInitializationPeriodSeconds: amount(
    "How long the CPU of a new pod counts only where it is ready.",
    {
      default: seconds(DEFAULT_SETTINGS.cpuInitializationPeriodMs),
      least: 0,
      most: seconds(POD_PERIOD_MOST_MS),
    },
  ),
  initialReadinessDelaySeconds: amount("How long a new pod may be not ready before that counts.", {
    default: seconds(DEFAULT_SETTINGS.initialReadinessDelayMs),
    least: 0,
    most: seconds(POD_PERIOD_MOST_MS),
  }),
  hpaVersion: choice("The release of Kubernetes as which HPAs are decided.", HPA_VERSIONS, {
    default: HPA_VERSIONS[0],
  }),
};

/** The fields of a cluster as a document. An absent field has its default. */
export const CLUSTER_FIELDS = {
  connection: group("How the syncs reach the cluster.", CONNECTION_FIELDS, { required: true }),
  syncPeriodSeconds: amount("The time from one sync to the next.", {
    default: seconds(PERIOD_MS),
    least: seconds(PERIOD_LEAST_MS),
    most: seconds(PERIOD_MOST_MS),
  }),
  partitions: listField(
    "The parts of the cluster that are synced each on its own. By default one, named default, with all namespaces.",
    group("One of them.", PARTITION_FIELDS),
    { name: "" },
    { leastItems: 1, key: "name" },
  ),
  specsFromCluster: listField(
    "The kinds of autoscalers that are read from the cluster itself. By default none.",
    choice("One of them.", SPEC_KIND_NAMES),
    "PodAutoscaler",
  ),
  recommenderHosts: listField(
    "The recommenders that autoscalers may ask: a host, http://HOST for one without TLS, * for all. By default none.",
    words("One of them.", { required: true }),
    "",
  ),
  settings: group("Settings of the HPA controller.", SETTING_FIELDS, { default: {} }),
  grants: listField(
    "Who may look at the cluster or edit it. With this field the cluster has these grants and no others; without it they stay as they are.",
    group("One of them.", GRANT_FIELDS),
    { arn: "", role: "view" },
  ),
};

export const CLUSTER_SPEC = group("A cluster that Tidemark scales in.", CLUSTER_FIELDS, {
  required: true,
});
export type ClusterSpecRead = ReadOf<typeof CLUSTER_FIELDS>;
