import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { SQSClient } from "@aws-sdk/client-sqs";
import { countProblems } from "../../lib/stack/plan/count-problems.ts";
import { planSyncs } from "../../lib/stack/plan/schedule.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { DEFAULT_SETTINGS } from "../../lib/rules/model/spec-common.ts";
import { MINUTE_MS } from "../../lib/rules/model/time-text.ts";
import { putCluster } from "../../lib/stack/store/records/clusters.ts";
import { memoryEngine } from "../contracts/memory-engine.ts";
import { NOON } from "../noon.ts";
import { testTables } from "../sync/world.ts";

/**
 * A process of the bench `schedule`: plans so many minutes of so many clusters, and answers with the
 * CPU of each call in ms. The queue answers in this process, as SQS would: an id and the MD5 of each
 * message.
 */
const [clusters = 0, minutes = 0, md5 = 1] = process.argv.slice(2).map(Number);
let nowMs = NOON;
const tables = testTables(
  memoryEngine("whole").client,
  { stateTable: "state", historyTable: "history" },
  () => nowMs,
);
for (let at = 0; at < clusters; at++)
  await putCluster(
    tables,
    {
      ...{ name: clusterName(`production-europe-${at}`), uid: `uid-of-${at}`, version: 1 },
      ...{ syncPeriodMs: 15_000, partitions: [{ name: WHOLE_CLUSTER }] },
      settings: DEFAULT_SETTINGS,
    },
    undefined,
  );

interface Sent {
  readonly body?: string;
}
interface Entry {
  readonly Id: string;
  readonly MessageBody: string;
}
const answer = ({ body = "{}" }: Sent) => {
  const { Entries } = JSON.parse(body) as { readonly Entries: readonly Entry[] };
  const sent = Entries.map(({ Id, MessageBody }) => ({
    ...{ Id, MessageId: Id },
    MD5OfMessageBody: createHash("md5").update(MessageBody).digest("hex"),
  }));
  const text = JSON.stringify({ Successful: sent, Failed: [] });
  const headers = { "content-type": "application/x-amz-json-1.0" };
  return { response: { statusCode: 200, headers, body: Readable.from([Buffer.from(text)]) } };
};
const client = new SQSClient({
  region: "eu-central-1",
  credentials: { accessKeyId: "AKIA", secretAccessKey: "secret" },
  ...(md5 === 0 && { md5: false }),
  requestHandler: {
    metadata: { handlerProtocol: "http/1.1" },
    handle: async (request: unknown) => answer(request as Sent),
  } as never,
});
const queueUrl = "https://sqs.eu-central-1.amazonaws.com/123456789012/tidemark-prod-sync";
const queue = { client, queueUrl, wait: async () => {}, random: () => 0 };
const cpuMs: number[] = [];
for (let minute = 0; minute < minutes; minute++) {
  const before = process.cpuUsage();
  const { items } = await planSyncs({ tables, queue }, { scheduledMs: nowMs });
  await countProblems({ tables, tell: async () => {} }, items);
  const { user, system } = process.cpuUsage(before);
  cpuMs.push((user + system) / 1_000);
  nowMs += MINUTE_MS;
}
process.send?.(cpuMs);
