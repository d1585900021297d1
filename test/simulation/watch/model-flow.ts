import {
  BatchExecuteStatementCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { ClusterClient } from "../../../lib/stack/cluster/cluster-client.ts";
import { UNCOUNTED_VERSION } from "../../../lib/stack/store/head/intent-codec.ts";
import { FLEET_PK } from "../../../lib/stack/store/table/keys.ts";
import { workloadKey } from "../../../lib/stack/sync/load/open-intents.ts";
import { type Label, mayFollow } from "../../protocol/twin/flow.ts";
import { epochOf, uidOf } from "../../protocol/twin/steps.ts";
import type { Invocation } from "../invocation.ts";
import { writeOf } from "../planted/clauses.ts";
import type { Ledger } from "./ledger.ts";
import { STEP } from "./model-steps.ts";
import { sentIntent } from "./sent-intent.ts";

/** How far one sync has come: as a whole, and with single autoscalers beyond that. */
interface Flow {
  whole: Label;
  readonly single: Map<string, Label>;
  /** By workload: the autoscaler whose PUT was sent. */
  readonly written: Map<string, string>;
}

const flows = new WeakMap<Invocation, Flow>();
const flowOf = (by: Invocation): Flow => {
  const flow = flows.get(by) ?? { whole: "next", single: new Map(), written: new Map() };
  flows.set(by, flow);
  return flow;
};

/** A step of the whole sync: it must be the next of each of its autoscalers. */
const wholeStep = (ledger: Ledger, by: Invocation, label: Label): void => {
  const flow = flowOf(by);
  // A partition without autoscalers has nothing to observe.
  if (flow.whole === "load" && by.uids.size === 0 && label !== "load" && label !== "observe")
    flow.whole = "observe";
  const wrong = [flow.whole, ...flow.single.values()].find((from) => !mayFollow(from, label));
  if (wrong) ledger.violate(STEP, `${by.name} goes from "${wrong}" to "${label}"`);
  flow.whole = label;
  flow.single.clear();
};

const singleStep = (ledger: Ledger, by: Invocation, uid: string, label: Label): void => {
  const { whole, single } = flowOf(by);
  const from = single.get(uid) ?? whole;
  if (!mayFollow(from, label))
    ledger.violate(STEP, `${by.name} goes from "${from}" to "${label}" with "${uid}"`);
  single.set(uid, label);
};

/**
 * Looks at each request of a sync as it is sent, and at its calls to the cluster: they come in the
 * order of the model's labels.
 */
export const watchSentTo = (
  ledger: Ledger,
  by: Invocation,
  client: Pick<DynamoDBClient, "send">,
): Pick<DynamoDBClient, "send"> => {
  const send = (command: PutItemCommand): Promise<object> => {
    watchRequest(ledger, by, command);
    return client.send(command);
  };
  return { send: send as DynamoDBClient["send"] };
};

const watchRequest = (ledger: Ledger, by: Invocation, command: unknown): void => {
  if (command instanceof BatchExecuteStatementCommand) watchEvents(ledger, by, command);
  else if (command instanceof GetItemCommand) watchLoad(ledger, by, command);
  else if (command instanceof PutItemCommand || command instanceof UpdateItemCommand)
    watchUpdate(ledger, by, command);
};

/** The fleet is read first of all that a sync loads, and once. */
const watchLoad = (ledger: Ledger, by: Invocation, { input: { Key } }: GetItemCommand): void => {
  if (Key?.["pk"]?.S !== FLEET_PK || Key["sk"]?.S !== FLEET_PK) return;
  by.loads = true;
  wholeStep(ledger, by, "load");
};

const WHOLE: Readonly<Record<string, Label>> = {
  claim: "claim",
  "write a page": "closing",
  release: "unchanged",
  "give back": "dead",
};

const watchUpdate = (
  ledger: Ledger,
  by: Invocation,
  command: PutItemCommand | UpdateItemCommand,
): void => {
  const write = writeOf(command) ?? "";
  const label = WHOLE[write];
  if (label) wholeStep(ledger, by, label);
  if (write !== "store intents" || !(command instanceof UpdateItemCommand)) return;
  for (const [id, { B: body }] of Object.entries(
    command.input.ExpressionAttributeValues?.[":intents"]?.M ?? {},
  )) {
    singleStep(ledger, by, uidOf(id), entryLabel(by, id, body?.[0] === UNCOUNTED_VERSION));
  }
};

/**
 * What an entry in an update of the head is to its own workload: its intent, its settled scale, or
 * what the update leaves where it is.
 */
const entryLabel = (by: Invocation, id: string, isUncounted: boolean): Label => {
  const { whole, single } = flowOf(by);
  if (epochOf(id) !== by.epoch) return "holding";
  if (isUncounted) return "nextWave";
  return ["observe", "intend"].includes(single.get(uidOf(id)) ?? whole) ? "intend" : "holding";
};

const watchEvents = (
  ledger: Ledger,
  by: Invocation,
  { input: { Statements = [] } }: BatchExecuteStatementCommand,
): void => {
  for (const { Parameters: [pk, sk] = [] } of Statements) {
    if (!pk?.S?.startsWith("autoscaler#") || !sk?.S?.startsWith("event#")) continue;
    const id = sk.S.slice(sk.S.lastIndexOf("#") + 1);
    // What others did is no part of the model.
    if (Number.isNaN(epochOf(id))) continue;
    singleStep(ledger, by, uidOf(id), epochOf(id) === by.epoch ? "settle" : "settleLate");
  }
};

/** The same of a client of the cluster. */
export const watchCalls = (
  ledger: Ledger,
  by: Invocation,
  client: ClusterClient,
): ClusterClient => ({
  ...client,
  observe: (watched, limits) => {
    wholeStep(ledger, by, "observe");
    return client.observe(watched, limits);
  },
  putScale: (write, timeoutMs) => {
    const uid = sentIntent(ledger, by, write)?.intent.uid;
    if (uid !== undefined) {
      flowOf(by).written.set(workloadKey(write.namespace, write.target), uid);
      singleStep(ledger, by, uid, "act");
    }
    return client.putScale(write, timeoutMs);
  },
  readScale: (namespace, target, timeoutMs) => {
    const uid = flowOf(by).written.get(workloadKey(namespace, target));
    if (uid === undefined) wholeStep(ledger, by, "observe");
    else singleStep(ledger, by, uid, "look");
    return client.readScale(namespace, target, timeoutMs);
  },
});
