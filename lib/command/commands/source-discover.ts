import { shellWord } from "../../stack/report/shell-word.ts";
import { readManifests } from "../../rules/manifest/documents.ts";
import { newBudget } from "../../rules/manifest/budget.ts";
import {
  type DiscoveredSource,
  discoverSources,
  withoutPlaces,
} from "../../rules/manifest/import/keda/discover.ts";
import { AUTH_OF_MODE, sourcePlaceText } from "../../rules/manifest/import/keda/places.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { arnOf } from "../../rules/model/aws-partitions.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import { REDIS_KINDS } from "../../rules/model/metric-source.ts";
import { NO_CLUSTER_MEANT, openKubeconfig } from "../../stack/cluster/kubeconfig-api.ts";
import { lines, type Printed, text } from "../../stack/report/printed.ts";
import type { CommandIo, Printer } from "../io.ts";
import { type DocumentFormat, documentText, listDocument } from "../output/documents.ts";
import { type FileOptions, readSources } from "../select/read-sources.ts";
import { usage } from "../usage-error.ts";
import { kindPath, RIVAL_PATHS } from "./import.ts";

export interface DiscoverOptions extends FileOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  readonly forCluster: readonly string[];
  readonly output: "commands" | DocumentFormat;
}

/**
 * Prints one `source put` for each server, Region, tenant and authentication that the triggers of
 * ScaledObjects ask today. It reads ScaledObjects and TriggerAuthentications, and never a Secret.
 */
export const discover = async (
  printer: Printer,
  options: DiscoverOptions,
  io: Pick<CommandIo, "stdin">,
): Promise<void> => {
  const objects = await objectsOf(options, io);
  const ofKind = (...kinds: readonly string[]) =>
    objects.filter(({ kind }) => kinds.includes(String(kind)));
  const scaledObjects = ofKind("ScaledObject");
  const found = discoverSources(
    scaledObjects,
    ofKind("TriggerAuthentication", "ClusterTriggerAuthentication"),
  );
  printer.report(
    `${scaledObjects.length} ScaledObjects ask ${found.length} sources; then: import or convert with --source auto`,
  );
  for (const words of withoutPlaces(scaledObjects)) printer.report(`note: ${words}`);
  await printer.print(
    options.output === "commands"
      ? lines(found.flatMap((source) => commandLines(source, options.forCluster)))
      : documentText(listDocument(found as readonly unknown[] as readonly Json[]), options.output),
  );
};

const objectsOf = async (
  options: DiscoverOptions,
  io: Pick<CommandIo, "stdin">,
): Promise<readonly Json[]> => {
  const fromFiles = options.filename.length > 0;
  if (fromFiles === (options.kubeconfig !== undefined))
    throw usage("Cannot discover sources: give either -f FILE or --kubeconfig FILE");
  return fromFiles ? objectsOfFiles(options, io) : objectsOfCluster(options);
};

const objectsOfFiles = async (
  options: DiscoverOptions,
  io: Pick<CommandIo, "stdin">,
): Promise<readonly Json[]> => {
  const budget = newBudget();
  const documents = (await readSources(options, io.stdin)).flatMap(({ file, text: manifests }) =>
    readManifests(manifests, file, { budget, repeatedKeys: "keep" }),
  );
  return documents.flatMap(({ document }) => (isObject(document) ? [document] : []));
};

const KINDS = [
  { kind: "ScaledObject", path: RIVAL_PATHS.scaledObjects },
  {
    kind: "TriggerAuthentication",
    path: kindPath("keda.sh/v1alpha1", "triggerauthentications"),
  },
  {
    kind: "ClusterTriggerAuthentication",
    path: kindPath("keda.sh/v1alpha1", "clustertriggerauthentications"),
  },
] as const;

const objectsOfCluster = async ({
  kubeconfig: path = "",
  context,
  namespace,
}: DiscoverOptions): Promise<readonly Json[]> => {
  const api = await openKubeconfig(
    { path, ...(context !== undefined && { context }) },
    NO_CLUSTER_MEANT,
  );
  try {
    const answers = await Promise.all(
      KINDS.map(async ({ kind, path: place }) => ({
        kind,
        resource: place.resource,
        answer: await api.list(
          place,
          kind === "ClusterTriggerAuthentication" ? undefined : namespace,
        ),
      })),
    );
    return answers.flatMap(({ kind, resource, answer }) => {
      if (answer.kind === "done") return answer.value.map((raw) => ({ kind, ...raw }));
      if (answer.failure.code === 404) return [];
      throw new TidemarkError(
        "cli.incomplete",
        `Cannot list ${resource}: ${answer.failure.message}`,
        { resource },
      );
    });
  } finally {
    api.close();
  }
};

/** What a person fills in: it is in none of the objects. */
const roleOf = (name: string, region: string): string =>
  arnOf("iam", region, "ACCOUNT", `role/STACK-source-${name}`);

const commandLines = (
  source: DiscoveredSource,
  clusters: readonly string[],
): readonly Printed[] => {
  const words = [
    ["tidemark source put", shellWord(source.name)].join(" "),
    ...optionsOf(source, clusters).map(([option, value]) =>
      value === undefined ? option : `${option} ${shellWord(value)}`,
    ),
  ];
  const [first = "", ...options] = words;
  return [
    text`# ${sourcePlaceText(source.place)}: ${source.usedBy.length} ScaledObjects, such as ${source.usedBy[0] ?? ""}`,
    ...notesOf(source).map((note) => text`# ${note}`),
    text`${first} \\`,
    ...options.map((option, at) =>
      at < options.length - 1 ? text`  ${option} \\` : text`  ${option}`,
    ),
    text``,
  ];
};

type Option = readonly [option: string, value?: string];

const optionsOf = (source: DiscoveredSource, clusters: readonly string[]): readonly Option[] => {
  const { place, namespaces, queues = [], keys = [], metricNamespaces = [], search } = source;
  const pairs = (option: string, some: Readonly<Record<string, string>> = {}): readonly Option[] =>
    Object.entries(some).map(([name, value]) => [option, `${name}=${value}`]);
  const each = (option: string, values: readonly string[]): readonly Option[] =>
    values.map((value) => [option, value]);
  return [
    ...(place.kind === "prometheus" ? [] : [["--kind", place.kind] as const]),
    ...addressOptions(source),
    ...(place.region === undefined
      ? []
      : ([
          ["--aws-region", place.region],
          ["--role", roleOf(source.name, place.region)],
          ["--external-id", source.name],
        ] as const)),
    ...each("--queue", queues),
    ...each("--key", keys),
    ...each("--metric-namespace", metricNamespaces),
    ...(search ? [["--search"] as const] : []),
    ...pairs("--header", place.headers),
    ...pairs("--parameter", place.parameters),
    ...authOptions(source),
    ...each("--for-cluster", clusters),
    ...each("--for-namespace", namespaces),
  ];
};

/** What a person fills in where a service cannot be asked through the API server. */
const HOST = "https://HOST";

/** The API server takes the header Authorization for itself. */
const needsHost = (source: DiscoveredSource): boolean =>
  source.service !== undefined && ![undefined, "header"].includes(authKindOf(source));

const addressOptions = (source: DiscoveredSource): readonly Option[] => {
  const { service } = source;
  const { kind, address } = source.place;
  if (needsHost(source)) {
    const path = new URL(address ?? HOST).pathname.replace(/\/$/, "");
    return [["--url", `${HOST}${path}`], ["--private"]];
  }
  if (kind === "amp") return [["--workspace", /\/(ws-[\w-]+)/.exec(address ?? "")?.[1] ?? "ws-…"]];
  if (service)
    return [
      ["--service", service.text],
      ...(service.scheme === "https" ? [["--scheme", "https"] as const] : []),
    ];
  if (address === undefined) return [];
  return [
    ["--url", address],
    ...(/^(?:http|redis):/.test(address) ? [["--private"] as const] : []),
  ];
};

/** How a source is authenticated, by the mode that the trigger says. */
const authKindOf = ({ place }: DiscoveredSource): string | undefined => {
  if (place.authentication === undefined || place.region !== undefined) return undefined;
  // Where a TriggerAuthentication says no mode.
  const otherwise = REDIS_KINDS.includes(place.kind) ? "basic" : "bearer";
  const mode = place.authModes?.split(/[ ,]/)[0] ?? otherwise;
  return AUTH_OF_MODE[mode] ?? "bearer";
};

const authOptions = (source: DiscoveredSource): readonly Option[] => {
  const kind = authKindOf(source);
  if (kind === undefined) return [];
  return [
    ["--auth", kind],
    ...(kind === "header" ? [["--auth-header", "HEADER"] as const] : []),
    ["--secret", `STACK/source.${source.name}`],
  ];
};

/** What a person has to do or to know before the command is run. */
const notesOf = (source: DiscoveredSource): readonly string[] => {
  const { place, secrets, service } = source;
  return [
    ...(needsHost(source)
      ? [
          `the API server takes the header Authorization for itself: write in place of HOST the address of an Ingress, a Route or a load balancer that leads to ${service?.text}`,
        ]
      : []),
    ...(place.authentication === undefined || place.region !== undefined
      ? []
      : [
          `put its credential into the secret (docs/sources.md); ${place.authentication} reads ${secrets.join(", ") || "no secret that was found"}`,
        ]),
    ...(place.region === undefined
      ? []
      : ["make the role, and write its account and the name of your stack (docs/sources.md)"]),
    ...(place.unsafeTls
      ? [
          "KEDA does not check its certificate (unsafeSsl); Tidemark does: use a certificate that can be checked",
        ]
      : []),
    ...(service === undefined &&
    /^https?:\/\/[^./:]+(?:\.[^./:]+)?(?::\d+)?(?:\/|$)/.test(place.address ?? "")
      ? [
          "its host looks like a service of the cluster: then give --service NAMESPACE/NAME:PORT in place of --url",
        ]
      : []),
  ];
};
