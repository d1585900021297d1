import { isTidemarkError } from "../../../rules/model/errors.ts";
import type { Diagnosis } from "../../../rules/doctor/examine.ts";
import { asList, isObject, asObject, asText, present } from "../../../rules/model/json.ts";
import { kindsReadFrom } from "../../../rules/model/records.ts";
import type { Access } from "../access/access.ts";
import { accessFor, type ConnectOptions } from "../connect.ts";
import type { TokenLife } from "../../../rules/model/summary.ts";
import { lastingText } from "../access/token-life.ts";
import { CHECK_ACCESS_MS, CHECK_NAMESPACES_MAX } from "../request-limits.ts";
import { RBAC_GROUP } from "../rights/rbac-text.ts";
import type { ScalableKind } from "../rights/rules.ts";
import { type Asker, asker, rightsAsker, type Right, rightText } from "./ask.ts";
import { checkBeside } from "./check-beside.ts";
import {
  checkKinds,
  checkOthers,
  checkPods,
  checkSpecs,
  checkStatus,
  checkWorkload,
  type RightsContext,
} from "./check-resources.ts";
import {
  type CheckedConnection,
  type CheckedPoint,
  type ConnectionReport,
  failed,
  passed,
  checkReport,
  skipped,
  warning,
} from "./report.ts";
import { type CheckedUser, checkIdentity, checkServer, checkUser, readVersion } from "./server.ts";
import { POD_METRICS } from "../../../rules/sources/resource.ts";
import { newestOf } from "../observe/pods.ts";
import { inNamespace } from "../discovery.ts";
import { findTargetKinds } from "./target-kinds.ts";

/**
 * Looks at a cluster as a sync connects to it: the same credentials, addresses and TLS. It changes
 * nothing: it reads, and asks the reviews of the API which rights it has. Never rejects for what
 * the cluster or AWS does; takes at most 10 s for the credentials and 20 s for the rest.
 */
export const checkConnection = async (
  target: CheckedConnection,
  options: ConnectOptions,
): Promise<ConnectionReport> => {
  const opened = await openAccess(target, options);
  if (opened.kind === "failed") return checkReport(target.name, [opened.point]);
  const { access } = opened;
  const asking = askerOf(target, access, options);
  try {
    const { points, said, findings } = await checkApi(asking, access, target, options);
    // Credentials may still be missing after they were set up: a token or a plugin is asked for
    // with the first call.
    if (points.some(({ check }) => check === "credentials"))
      return checkReport(target.name, points);
    return present({
      ...checkReport(
        target.name,
        [
          passed("credentials", ACCESS_WORDS[target.connection.kind]),
          ...tokenPoints(access.tokenLife?.(), options.clock()),
          ...points,
        ],
        said,
      ),
      findings,
    });
  } finally {
    asking.close();
  }
};

/** What a cluster says of itself, each part where it can be read. */
type SaidOfItself = Pick<ConnectionReport, "kubeSystemUid" | "serverVersion">;

/** The uid of the namespace kube-system and the version of the server, asked as a check asks them. */
export const readSaid = async (
  target: CheckedConnection,
  options: ConnectOptions,
): Promise<SaidOfItself> => {
  const opened = await openAccess(target, options);
  if (opened.kind === "failed") return {};
  const asking = askerOf(target, opened.access, options);
  try {
    const [{ uid: kubeSystemUid }, serverVersion] = await Promise.all([
      checkIdentity(asking, target.namespaces),
      readVersion(asking),
    ]);
    return present({ kubeSystemUid, serverVersion });
  } finally {
    asking.close();
  }
};

const askerOf = (
  { name }: CheckedConnection,
  access: Access,
  { clock, elapsed = () => performance.now() }: ConnectOptions,
): Asker => asker({ cluster: name, access, clock, elapsed, startedMs: elapsed() });

const ACCESS_WORDS = {
  eks: "AWS describes the cluster, and a token for it was made",
  secret: "the secret was read",
  kubeconfig: "the kubeconfig was read",
} as const;

/** A token with less time is not stored: nobody could renew it before it ends. */
const TOKEN_FIRST_MS = 3_600_000;
const TOKEN_FIX =
  "make a token that lasts longer and put it into the secret: kubectl create token --duration";

/** How long the token lasts, where it says so. */
const tokenPoints = (life: TokenLife | undefined, nowMs: number): readonly CheckedPoint[] => {
  if (!life) return [];
  const words = `it ends at ${new Date(life.endMs).toISOString()}, in ${lastingText(life.endMs - nowMs)}`;
  if (life.endMs - nowMs < TOKEN_FIRST_MS)
    return [failed("token", `${words}, and must last an hour at least`, TOKEN_FIX)];
  if (nowMs >= life.renewByMs) return [warning("token", `${words}: another one is due`, TOKEN_FIX)];
  return [passed("token", words)];
};

interface CheckedApi {
  readonly points: readonly CheckedPoint[];
  readonly said?: SaidOfItself;
  readonly findings?: readonly Diagnosis[];
}

const checkApi = async (
  asking: Asker,
  access: Access,
  target: CheckedConnection,
  { clock }: ConnectOptions,
): Promise<CheckedApi> => {
  const { points: server, version: serverVersion } = await checkServer(asking, access, clock);
  if (server.some(({ result }) => result === "failed")) return { points: server };
  const user = await checkUser(asking);
  if (!user.known) return { points: [...server, ...user.points] };
  if (target.scaled) {
    const { points, findings } = await checkBeside(asking, target.scaled);
    return { points: [...server, ...user.points, ...points], findings };
  }
  const [groups, identity] = await Promise.all([
    apiGroups(asking),
    checkIdentity(asking, target.namespaces),
  ]);
  const specKinds = kindsReadFrom(target);
  const named = await findTargetKinds(asking, {
    groups,
    specKinds,
    namespaces: target.namespaces,
    targets: target.targets ?? [],
  });
  const kinds = distinct([...(target.kinds ?? []), ...named.kinds]);
  const context: RightsContext = {
    askRight: rightsAsker(asking, target.namespaces),
    groups,
    kinds,
    specKinds,
    fix: rightsFix(user, target.namespaces, kinds),
  };
  const points = await Promise.all([
    checkKinds(context).then((checked) => [...checked, ...named.points]),
    checkPods(context).then((point) => [point]),
    checkMetrics(asking, context, target.namespaces),
    checkOthers(context),
    checkSpecs(context),
    checkStatus(context),
    target.workload ? checkWorkload(asking, target.workload).then((point) => [point]) : [],
  ]);
  const all = [
    ...server,
    ...user.points,
    identity.point,
    ...points.flat(),
    ...unaskedNamespaces(target.namespaces),
  ];
  return { points: all, said: present({ kubeSystemUid: identity.uid, serverVersion }) };
};

const unaskedNamespaces = (namespaces: readonly string[] = []): readonly CheckedPoint[] => {
  const more = namespaces.length - CHECK_NAMESPACES_MAX;
  return more > 0
    ? [
        skipped(
          "namespaces",
          `rights were asked for in the first ${CHECK_NAMESPACES_MAX} namespaces, not in ${more} more`,
        ),
      ]
    : [];
};

const textOf = ({ group, plural }: ScalableKind): string => `${group}/${plural}`;

const distinct = (kinds: readonly ScalableKind[]): readonly ScalableKind[] => [
  ...new Map(kinds.map((kind) => [textOf(kind), kind])).values(),
];

/** A user outside the group gets no right from the roles, whatever they hold. */
const rightsFix = (
  { groups, account }: Pick<CheckedUser, "groups" | "account">,
  namespaces: readonly string[] | undefined,
  kinds: readonly ScalableKind[],
): string => {
  const option = namespaces === undefined ? "" : ` --namespaces ${namespaces.join(",")}`;
  const kindOptions = kinds.map((kind) => ` --kind ${textOf(kind)}`).join("");
  const accountOption = account === undefined ? "" : ` --service-account ${account}`;
  const apply = `apply the roles: tidemark cluster rbac${accountOption}${option}${kindOptions} | kubectl apply -f -`;
  if (account !== undefined) return apply;
  if (groups === undefined || groups.includes(RBAC_GROUP) || groups.includes("system:masters"))
    return apply;
  return `give the user the group "${RBAC_GROUP}" (for EKS by its access entry), and ${apply}`;
};

type Opened =
  | { readonly kind: "opened"; readonly access: Access }
  | { readonly kind: "failed"; readonly point: CheckedPoint };

/** Credentials and address. What hangs there is given up after ten seconds. */
const openAccess = async (
  { name, connection }: CheckedConnection,
  options: ConnectOptions,
): Promise<Opened> => {
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), CHECK_ACCESS_MS);
  try {
    const access = await Promise.race([accessFor({ name, connection }, options), late.promise]);
    if (access === "late")
      return {
        kind: "failed",
        point: failed(
          "credentials",
          `no credentials within ${CHECK_ACCESS_MS / 1000} s`,
          ACCESS_FIXES[connection.kind],
        ),
      };
    return { kind: "opened", access };
  } catch (error) {
    if (!isTidemarkError(error, "cluster.access")) throw error;
    return {
      kind: "failed",
      point: failed("credentials", error.message, ACCESS_FIXES[connection.kind]),
    };
  } finally {
    clearTimeout(timer);
  }
};

const ACCESS_FIXES = {
  eks: "check the name and the region, and that the role of the syncs may describe the cluster, or assume the role that may",
  secret:
    "check that the secret exists under this name, and holds a kubeconfig or the short form (docs/clusters.md)",
  kubeconfig: "check the file, its context, and the program that it names for the credentials",
} as const;

/**
 * The API groups of the server with their versions; undefined where the server does not say. Then
 * nothing counts as "not installed".
 */
const apiGroups = async ({
  ask,
}: Asker): Promise<ReadonlyMap<string, readonly string[]> | undefined> => {
  const outcome = await ask({ path: "/apis", resource: "apigroups" });
  if (outcome.kind === "failed" || !Array.isArray(outcome.reply.body["groups"])) return undefined;
  return new Map(
    outcome.reply.body["groups"]
      .filter(isObject)
      .map(({ name, versions }) => [
        asText(name),
        asList(versions).map((each) => asText(asObject(each)["version"])),
      ]),
  );
};

interface MetricsApi {
  readonly group: string;
  /** Newest first. */
  readonly versions: readonly string[];
  readonly right: Right;
  /** The manifests that need it. */
  readonly needed: string;
  /** Where it is missing. An API that most clusters have warns; the others are named. */
  readonly missing: (check: string, message: string) => CheckedPoint;
  /** What a call that changes nothing and answers little asks for. */
  readonly probe: (
    base: string,
    namespace: string | undefined,
  ) => { readonly path: string; readonly query?: Readonly<Record<string, string>> };
}

/** No pod has this label, so that the answer is an empty list. */
const NO_POD = "tidemark.dev/check=none";

const APIS: readonly MetricsApi[] = [
  {
    group: "metrics.k8s.io",
    versions: POD_METRICS.versions,
    right: { group: "metrics.k8s.io", resource: "pods", verb: "list" },
    needed: "metrics of CPU and memory",
    missing: (check, message) =>
      warning(check, message, "install metrics-server where manifests name CPU or memory"),
    probe: (base, namespace) => ({
      path: `${base}${inNamespace(namespace)}/pods`,
      query: { labelSelector: NO_POD },
    }),
  },
  {
    group: "custom.metrics.k8s.io",
    versions: ["v1beta2", "v1beta1"],
    right: { group: "custom.metrics.k8s.io", resource: "*", verb: "get" },
    needed: "metrics of the types Pods and Object",
    missing: skipped,
    probe: (path) => ({ path }),
  },
  {
    group: "external.metrics.k8s.io",
    versions: ["v1beta1"],
    right: { group: "external.metrics.k8s.io", resource: "*", verb: "list" },
    needed: "metrics of the type External",
    missing: skipped,
    probe: (path) => ({ path }),
  },
];

/**
 * Whether each metrics API is served, may be read and answers. None is necessary: a manifest may do
 * without it, and a metric that is missing lets nothing shrink.
 */
const checkMetrics = (
  asking: Asker,
  context: RightsContext,
  namespaces: readonly string[] | undefined,
): Promise<readonly CheckedPoint[]> =>
  Promise.all(
    APIS.map((api) => checkMetricsApi(asking, context, { api, namespace: namespaces?.[0] })),
  );

const checkMetricsApi = async (
  { ask }: Asker,
  { groups, askRight, fix }: RightsContext,
  { api, namespace }: { readonly api: MetricsApi; readonly namespace: string | undefined },
): Promise<CheckedPoint> => {
  const { group, versions, right, needed, missing, probe } = api;
  const version =
    groups === undefined ? versions.at(-1) : newestOf(versions, groups.get(group) ?? []);
  if (version === undefined) return missing(group, `not served: only ${needed} need it`);
  const allowed = await askRight(right);
  if (allowed.kind === "refused")
    return warning(group, `not allowed: ${rightText(right)}; ${needed} fail without it`, fix);
  const outcome = await ask({
    ...probe(`/apis/${group}/${version}`, namespace),
    resource: right.resource === "*" ? group : `pods.${group}`,
  });
  if (outcome.kind === "answered") return passed(group, `${version} answers`);
  // A list of thousands of metrics is longer than a check reads. It was answered all the same.
  if (outcome.failure.reason === "AnswerTooLarge")
    return passed(group, `${version} answers with more than a check reads`);
  return warning(
    group,
    `${version} is served and does not answer: ${outcome.failure.message}; ${needed} fail`,
    `look at the API: kubectl get apiservice ${version}.${group}`,
  );
};
