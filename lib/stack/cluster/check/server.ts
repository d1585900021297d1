import { foreignText } from "../../../rules/model/foreign-text.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import type { Access } from "../access/access.ts";
import { asObject, asText, present } from "../../../rules/model/json.ts";
import { CLOCK_DIFFERENCE_MS } from "../request-limits.ts";
import { IDENTITY_PATH, IDENTITY_RESOURCE, identityIn } from "../transport/same-cluster.ts";
import type { Asker, CheckAnswer, CheckReply } from "./ask.ts";
import { type CheckedPoint, failed, passed, skipped, warning } from "./report.ts";

/**
 * What the first question shows: whether the server is reached, its certificate, its version and
 * its clock.
 */
export const checkServer = async (
  { ask }: Asker,
  access: Access,
  clock: () => number,
): Promise<CheckedServer> => {
  const outcome = await askVersion(ask);
  if (outcome.kind === "failed" && outcome.failure.code === 0)
    return { points: unreached(outcome.failure, access) };
  const version = versionIn(outcome);
  const reached = [
    passed("reachable", reachedWords(outcome)),
    tlsPoint(access),
    ...versionPoints(outcome, version),
  ];
  const points =
    outcome.kind === "answered" ? [...reached, ...clockPoint(outcome.reply, clock())] : reached;
  return { points, ...(version !== undefined && { version }) };
};

interface CheckedServer {
  readonly points: readonly CheckedPoint[];
  /** What the server said; absent where it did not say it. */
  readonly version?: string;
}

const askVersion = (ask: Asker["ask"]): Promise<CheckAnswer> =>
  ask({ path: "/version", resource: "version" });

/** The version that the server says; undefined where it does not, for whatever reason. */
export const readVersion = async ({ ask }: Asker): Promise<string | undefined> =>
  versionIn(await askVersion(ask));

/** Longer than "v1.37.1-eks-1234567", and short enough for a column. */
const VERSION_CHARACTERS_MAX = 60;

const versionIn = (outcome: CheckAnswer): string | undefined => {
  const said = outcome.kind === "answered" ? asText(outcome.reply.body["gitVersion"]) : "";
  return said === "" ? undefined : foreignText(said.slice(0, VERSION_CHARACTERS_MAX));
};

const reachedWords = (outcome: CheckAnswer): string =>
  outcome.kind === "answered"
    ? `it answers in ${Math.max(1, Math.round(outcome.reply.tookMs))} ms`
    : "it answers";

const tlsPoint = ({ server, rejectUnauthorized, ca }: Access): CheckedPoint => {
  if (server.protocol !== "https:") return passed("tls", "none: the server is on this machine");
  if (!rejectUnauthorized)
    return warning(
      "tls",
      "the certificate is not checked: the kubeconfig says insecure-skip-tls-verify",
      "give certificate-authority-data instead",
    );
  return passed(
    "tls",
    ca === undefined
      ? "the certificate is signed by an authority of the system"
      : "the certificate is signed by the cluster's CA",
  );
};

/** Nothing was answered. A certificate that is refused still shows that the server is reached. */
const unreached = (failure: ApiFailure, access: Access): readonly CheckedPoint[] => {
  if (failure.reason === "TlsVerificationFailed")
    return [passed("reachable", "it accepts connections"), failed("tls", failure.message, TLS_FIX)];
  if (failure.reason === "AccessFailed")
    return [failed("credentials", failure.message, CREDENTIALS_FIX)];
  if (failure.reason === "MalformedAnswer" || failure.reason === "AnswerTooLarge")
    return [
      passed("reachable", "it answers"),
      tlsPoint(access),
      failed("api", failure.message, API_FIX),
    ];
  return [failed("reachable", failure.message, REACH_FIXES[failure.reason] ?? REACH_FIX)];
};

const TLS_FIX =
  "give the CA and the address of this cluster; where it was made anew, add it again with --replace";
const CREDENTIALS_FIX =
  "make the credentials available where the syncs run; the message quotes what refused them";
const API_FIX = "give the address of the API server itself: something else answers there";
const REACH_FIX =
  "check the address, the network, the security groups and the firewall between here and the cluster";
const REACH_FIXES: Readonly<Record<string, string>> = {
  AddressRefused: "give the cluster's own address",
  ConnectionRefused: "check the port and that the API server runs",
  UnknownHost: "check the spelling of the server's name, and that it resolves where the syncs run",
};

/**
 * A server that does not accept the credentials has nothing to say here; the next question shows
 * that.
 */
const versionPoints = (
  outcome: CheckAnswer,
  version: string | undefined,
): readonly CheckedPoint[] => {
  if (outcome.kind === "failed" && outcome.failure.code === 401) return [];
  if (version !== undefined) return [passed("version", version)];
  const why = outcome.kind === "failed" ? outcome.failure.message : "the answer has no version";
  return [
    warning(
      "version",
      `unknown: ${foreignText(why)}`,
      "nothing has to be done; with the role system:public-info-viewer the server shows its version",
    ),
  ];
};

/**
 * The clock of the server, against the middle of the call. The Date header has whole seconds, so
 * that half of one is added.
 */
const clockPoint = ({ dateMs, tookMs }: CheckReply, nowMs: number): readonly CheckedPoint[] => {
  if (dateMs === undefined) return [];
  const aheadMs = dateMs + 500 - (nowMs - tookMs / 2);
  if (Math.abs(aheadMs) <= CLOCK_DIFFERENCE_MS + tookMs / 2)
    return [passed("clock", `it differs by less than ${CLOCK_DIFFERENCE_MS / 1000} s`)];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const words = `it is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} the clock here: ages of pods and metrics are wrong by as much`;
  return [warning("clock", words, "set both clocks by NTP")];
};

export interface CheckedUser {
  readonly points: readonly CheckedPoint[];
  /**
   * False where the server did not accept the credentials, or did not answer. Then no right can be
   * asked for.
   */
  readonly known: boolean;
  /** The groups of the user; undefined where the server does not say. */
  readonly groups?: readonly string[];
  /** NAMESPACE/NAME of the service account that the user is. */
  readonly account?: string;
}

const REVIEW = "selfsubjectreviews.authentication.k8s.io";

/**
 * Asks which user the server takes the credentials for. Servers before 1.28 cannot name the user.
 */
export const checkUser = async ({ ask }: Asker): Promise<CheckedUser> => {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const outcome = await ask({
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    resource: REVIEW,
    body,
  });
  if (outcome.kind === "failed") return untold(outcome.failure);
  const { username, groups } = asObject(asObject(outcome.reply.body["status"])["userInfo"]);
  const name = foreignText(asText(username));
  if (name === "system:anonymous" || name === "")
    return {
      points: [
        failed(
          "user",
          "the server does not accept the credentials: it takes the call for anonymous",
          USER_FIX,
        ),
      ],
      known: false,
    };
  const names = Array.isArray(groups)
    ? groups.map((group) => foreignText(String(group)))
    : undefined;
  return {
    points: [passed("user", userWords(name, names ?? []))],
    known: true,
    ...(names && { groups: names }),
    ...present({ account: ACCOUNT.exec(name)?.slice(1, 3).join("/") }),
  };
};

/** A user that is a service account. Its groups are the API server's, and never ours. */
const ACCOUNT = /^system:serviceaccount:([a-z0-9-]+):([a-z0-9.-]+)$/;

const GROUPS_SHOWN = 10;

const userWords = (name: string, groups: readonly string[]): string => {
  const shown = groups.filter((group) => group !== "system:authenticated");
  const more = shown.length > GROUPS_SHOWN ? ` and ${shown.length - GROUPS_SHOWN} more` : "";
  return shown.length === 0
    ? `"${name}", in no group`
    : `"${name}", in ${shown.slice(0, GROUPS_SHOWN).join(", ")}${more}`;
};

const USER_FIX =
  "for EKS make an access entry for the role (cluster rbac prints the command); otherwise renew the token or the certificate";

const untold = ({ code, message }: ApiFailure): CheckedUser => {
  if (code === 401)
    return {
      points: [failed("user", `the server does not accept the credentials: ${message}`, USER_FIX)],
      known: false,
    };
  // On doubt, warn: without the review the rights can still be asked for, and they decide.
  if (code >= 400 && code < 500)
    return {
      points: [
        warning(
          "user",
          `unknown: ${message}`,
          "nothing has to be done: servers before 1.28 cannot name the user",
        ),
      ],
      known: true,
    };
  return {
    points: [failed("user", message, "check again; the API server must answer for a sync to work")],
    known: false,
  };
};

export interface CheckedIdentity {
  readonly point: CheckedPoint;
  /** The uid of the namespace kube-system; absent where it could not be read. */
  readonly uid?: string;
}

/**
 * What shows that two names are one cluster, and that another cluster answers at an address. A user
 * with rights in single namespaces cannot read it.
 */
export const checkIdentity = async (
  { ask }: Asker,
  namespaces: readonly string[] | undefined,
): Promise<CheckedIdentity> => {
  const outcome = await ask({ path: IDENTITY_PATH, resource: IDENTITY_RESOURCE });
  const uid = outcome.kind === "answered" ? identityIn(outcome.reply.body) : undefined;
  if (uid !== undefined)
    return { point: passed("identity", "the uid of the namespace kube-system is known"), uid };
  const why =
    outcome.kind === "failed" ? outcome.failure.message : "the namespace kube-system has no uid";
  const words = `unknown: ${foreignText(why)}`;
  return {
    point:
      namespaces === undefined
        ? warning("identity", words, IDENTITY_FIX)
        : skipped("identity", words),
  };
};

const IDENTITY_FIX =
  "give the role the right to get the namespace kube-system (tidemark cluster rbac prints it): without it, one cluster under two names and another cluster behind the address are not noticed";
