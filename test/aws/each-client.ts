import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { deadLetters } from "../../lib/lambda/dead-letters.ts";
import { syncQueue } from "../../lib/lambda/sync-queue.ts";
import { eksIdentity } from "../../lib/stack/cluster/access/eks.ts";
import { describeEks } from "../../lib/stack/cluster/access/eks-description.ts";
import { secretAccess } from "../../lib/stack/cluster/access/secret.ts";
import { SECRET_TTL_MS } from "../../lib/stack/cluster/request-limits.ts";
import { defaultCaller } from "../../lib/answers/remote/caller.ts";
import { realTables } from "../../lib/stack/store/table/real-tables.ts";
import { repeat } from "../../lib/stack/store/table/repeat.ts";
import { wholeAnswer } from "./broken-server.ts";

const XML = "text/xml";
const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };
const HOUR_MS = 3_600_000;

/**
 * One client as the functions make it. `call` may be made more than once, and each time reaches the
 * service.
 */
export interface Client {
  readonly name: string;
  /** An answer that it takes. */
  readonly answer: () => string;
  /** The queues are addressed by their URL, everything else by the environment. */
  readonly newCall: (endpoint: string) => () => Promise<unknown>;
  /** Attempts × limit of each, in milliseconds. The waits between attempts come on top. */
  readonly limitMs: number;
  /** What it gives where no answer comes; a client without it fails. */
  readonly without?: unknown;
  /** It makes one attempt: the first call after a freeze gives up, and the next one is answered. */
  readonly once?: true;
}

/**
 * A clock that is far ahead each time that it is asked, so that nothing is kept from one call to
 * the next.
 */
const leapingClock = (): (() => number) => {
  let nowMs = Date.now();
  return () => {
    nowMs += SECRET_TTL_MS + 1;
    return nowMs;
  };
};

const KUBECONFIG = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: "https://k8s.example" } }],
  users: [{ name: "u", user: { token: "abc" } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  "current-context": "c",
};
const secretOf = (): string =>
  JSON.stringify({ Name: "tidemark/eu-1", SecretString: JSON.stringify(KUBECONFIG) });

const assumedRole = (): string =>
  `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${new Date(Date.now() + HOUR_MS).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;

export const CLIENTS: readonly Client[] = [
  {
    name: "the tables",
    answer: () => wholeAnswer('{"Item":{"pk":{"S":"fleet"}}}'),
    newCall: () => {
      const tables = {
        ...realTables({ stateTable: "state", historyTable: "history" }),
        untilMs: Date.now() + 6_000,
      };
      const read = new GetItemCommand({
        TableName: "state",
        Key: { pk: { S: "fleet" }, sk: { S: "fleet" } },
      });
      return async () =>
        (await repeat(tables, "read the fleet", () => tables.client.send(read))).Item;
    },
    limitMs: 8_000,
  },
  {
    name: "STS, for a role of another account",
    answer: () => wholeAnswer(assumedRole(), XML),
    newCall: () => {
      const identity = eksIdentity(
        { clusterId: "prod", region: "eu-west-1", roleArn: "arn:aws:iam::1:role/x" },
        { cluster: "eu-1", clock: leapingClock() },
      );
      return () => {
        identity.forget();
        return identity.get();
      };
    },
    limitMs: 2 * 3_000,
  },
  {
    name: "STS, for the name of the caller",
    answer: () =>
      wholeAnswer(
        '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::1:user/u</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>',
        XML,
      ),
    newCall: () => defaultCaller("eu-west-1").name,
    limitMs: 3_000,
    without: "access key local",
    once: true,
  },
  {
    name: "Secrets Manager",
    answer: () => wholeAnswer(secretOf()),
    newCall: () => {
      const access = secretAccess(
        { kind: "secret", secretId: "tidemark/eu-1" },
        { cluster: "eu-1", clock: leapingClock(), ownAddresses: false },
      );
      return async () => (await access).credentials();
    },
    limitMs: 2 * 3_000,
  },
  {
    name: "the queue",
    answer: () =>
      wholeAnswer(
        '{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"900150983cd24fb0d6963f7d28e17f72"}],"Failed":[]}',
      ),
    newCall: (endpoint) => {
      const { client, queueUrl } = syncQueue(`${endpoint}/1/q`);
      const batch = new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: [{ Id: "0", MessageBody: "abc" }],
      });
      return async () => (await client.send(batch)).Successful;
    },
    limitMs: 3 * 3_000,
  },
  {
    name: "the queues of dead letters",
    answer: () =>
      wholeAnswer(
        '{"Attributes":{"ApproximateNumberOfMessages":"0","ApproximateNumberOfMessagesNotVisible":"0"}}',
      ),
    newCall: (endpoint) =>
      deadLetters(
        { syncs: `${endpoint}/1/syncs`, plans: `${endpoint}/1/plans` },
        { line: () => undefined },
      ),
    limitMs: 2 * 2_000,
    without: undefined,
  },
  {
    name: "EKS",
    answer: () =>
      wholeAnswer(
        '{"cluster":{"name":"prod","endpoint":"https://k8s.example","certificateAuthority":{"data":"YQ=="}}}',
        "application/json",
      ),
    newCall: () => () =>
      describeEks({
        credentials: CREDENTIALS,
        clusterId: "prod",
        region: "eu-west-1",
        nowMs: Date.now(),
      }),
    limitMs: 2 * 3_000,
  },
];
