import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { present } from "../../rules/model/json.ts";
import type { Connection } from "../../rules/model/records.ts";
import { HPA_VERSIONS, type HpaVersion } from "../../rules/model/spec-common.ts";
import { SPEC_KIND_NAMES, type SpecKindName } from "../../rules/model/spec.ts";
import type { ClusterChange, NewCluster } from "../../answers/service/service.ts";
import { lengthMs } from "./time-options.ts";
import { usage } from "../usage-error.ts";

/** The options of a connection, by their names. */
const CONNECTING = {
  "--kubeconfig": "kubeconfig",
  "--secret": "secret",
  "--eks": "eks",
  "--context": "context",
  "--service-account": "serviceAccount",
  "--endpoint": "endpoint",
  "--ca-data": "caData",
  "--region": "region",
  "--role-arn": "roleArn",
} as const;

type Connecting = (typeof CONNECTING)[keyof typeof CONNECTING];
type Length = "downscaleStabilization" | "cpuInitializationPeriod" | "initialReadinessDelay";

export interface AddOptions
  extends Readonly<
    Partial<Record<Connecting | Length | "period" | "tolerance" | "hpaVersion" | "specs", string>>
  > {
  readonly partition?: readonly string[];
  readonly recommenderHost?: readonly string[];
  readonly label?: readonly string[];
  readonly force?: true;
}

/** Reads the options of `cluster add`. Throws usage errors that name the option. */
export const newCluster = (name: string, options: AddOptions): NewCluster => ({
  ...scope(name, options),
  connection: connection(name, options),
});

/**
 * Reads the options of `cluster add --replace`. Without connection options the cluster keeps its
 * connection.
 */
export const clusterChange = (name: string, options: AddOptions): ClusterChange => {
  const connects = Object.values(CONNECTING).some((option) => options[option] !== undefined);
  return { ...scope(name, options), ...(connects && { connection: connection(name, options) }) };
};

const scope = (
  name: string,
  {
    force,
    period,
    partition,
    specs,
    recommenderHost,
    label,
    tolerance,
    hpaVersion,
    ...lengths
  }: AddOptions,
) => ({
  name,
  ...present({
    force,
    syncPeriodMs: period === undefined ? undefined : lengthMs("--period", period),
    partitions: partition?.map(partitionIn),
    specsFromCluster: specs === undefined ? undefined : specKinds(specs),
    recommenderHosts: recommenderHost?.filter((host) => host !== "none"),
    labels: label && Object.fromEntries(label.filter((text) => text !== "none").map(labelIn)),
  }),
  settings: present({
    tolerance: tolerance === undefined ? undefined : ratio("--tolerance", tolerance),
    downscaleStabilizationMs: setting("--downscale-stabilization", lengths.downscaleStabilization),
    cpuInitializationPeriodMs: setting(
      "--cpu-initialization-period",
      lengths.cpuInitializationPeriod,
    ),
    initialReadinessDelayMs: setting("--initial-readiness-delay", lengths.initialReadinessDelay),
    hpaVersion: hpaVersion === undefined ? undefined : versionIn(hpaVersion),
  }),
});

const connection = (name: string, options: AddOptions): Connection => {
  // An empty option is usually an unset variable of a script.
  for (const [option, value] of Object.entries(CONNECTING))
    if (options[value] === "")
      throw usage(
        `Cannot connect to cluster "${name}": ${option} is empty; give a value or leave it out`,
      );
  const { kubeconfig, secret, eks, context, endpoint, caData, region, roleArn } = options;
  const { serviceAccount } = options;
  const ways = [kubeconfig, secret, eks].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw usage(
      `Cannot connect to cluster "${name}": give one of --kubeconfig, --secret and --eks`,
    );
  if (serviceAccount !== undefined && secret === undefined)
    throw usage(
      `Cannot connect to cluster "${name}": --service-account needs --secret, which holds the token of the service account`,
    );
  if (kubeconfig !== undefined)
    return {
      kind: "kubeconfig",
      path: readableKubeconfig(name, resolve(kubeconfig)),
      ...present({ context }),
    };
  if (secret !== undefined)
    return { kind: "secret", secretId: secret, ...present({ context, serviceAccount }) };
  if (region === undefined)
    throw usage(`Cannot connect to cluster "${name}": --eks needs --region`);
  return { kind: "eks", clusterId: eks ?? "", region, ...present({ endpoint, caData, roleArn }) };
};

const versionIn = (text: string): HpaVersion => {
  const version = HPA_VERSIONS.find((known) => known === text);
  if (version) return version;
  throw usage(`Cannot read --hpa-version "${text}": give ${HPA_VERSIONS.join(" or ")}`);
};

/** The syncs read the file, so an unreadable file is refused now. */
export const readableKubeconfig = (name: string, path: string): string => {
  try {
    if (statSync(path).isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    accessSync(path, constants.R_OK);
    return path;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw usage(
      `Cannot connect to cluster "${name}": the kubeconfig "${path}" ${UNREADABLE[code] ?? `cannot be read (${code})`}`,
    );
  }
};

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be read: permission denied",
  EISDIR: "is a folder",
  ENOTDIR: "does not exist",
};

/** "shop=web,api" is a partition of two namespaces; "rest" without namespaces holds all others. */
const partitionIn = (
  text: string,
): { readonly name: string; readonly namespaces?: readonly string[] } => {
  const [name = "", list, ...more] = text.split("=");
  if (name === "" || list === "" || more.length > 0)
    throw usage(
      `Cannot read --partition "${text}": give NAME=NAMESPACE,NAMESPACE, or NAME alone for all other namespaces`,
    );
  return list === undefined ? { name } : { name, namespaces: list.split(",") };
};

const labelIn = (text: string): readonly [string, string] => {
  const at = text.indexOf("=");
  if (at < 1) throw usage(`Cannot read --label "${text}": give KEY=VALUE, or none for no label`);
  return [text.slice(0, at), text.slice(at + 1)];
};

/**
 * "table", "cluster", or the source of single kinds: "PodAutoscaler=cluster". A kind that is not
 * named is stored by people.
 */
const specKinds = (text: string): readonly SpecKindName[] => {
  if (text === "table") return [];
  if (text === "cluster") return SPEC_KIND_NAMES;
  return text.split(",").flatMap((part) => {
    const [kind, source, ...more] = part.split("=");
    const known = SPEC_KIND_NAMES.find((name) => name === kind);
    if (known === undefined || !(source === "table" || source === "cluster") || more.length > 0)
      throw usage(
        `Cannot read --specs "${text}": give table, cluster, or KIND=cluster for one of ${SPEC_KIND_NAMES.join(" and ")}`,
      );
    return source === "cluster" ? [known] : [];
  });
};

const ratio = (option: string, text: string): number => {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY))
    throw usage(`Cannot read ${option} "${text}": give a number of at least 0, such as 0.1`);
  return value;
};

const setting = (option: string, text: string | undefined) =>
  text === undefined ? undefined : lengthMs(option, text, 0);
