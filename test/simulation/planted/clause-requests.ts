import { DeleteItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { claimParams } from "../../../lib/stack/store/head/claim.ts";
import type { Lease } from "../../../lib/stack/store/head/head.ts";
import { lowerTimesParams, raiseEpochParams } from "../../../lib/stack/store/head/repair-head.ts";
import { adoptPagesParams, markMovingParams } from "../../../lib/stack/store/head/moving.ts";
import { giveBackParams, releaseParams } from "../../../lib/stack/store/head/release.ts";
import { wakeMarkParams } from "../../../lib/stack/store/head/wake-mark.ts";
import { intendParams, withdrawParams } from "../../../lib/stack/store/head/store-intents.ts";
import { NO_TROUBLES } from "../../../lib/stack/store/head/troubles.ts";
import { deleteLeftoverParams, writePageParams } from "../../../lib/stack/store/pages/pages.ts";
import { raiseClusterVersionParams } from "../../../lib/stack/store/records/clusters.ts";
import { goneMarkParams } from "../../../lib/stack/store/records/autoscalers.ts";
import {
  deleteLeaseParams,
  writeLeaseParams,
} from "../../../lib/stack/store/records/fleet-leases.ts";
import { storedBytesParams } from "../../../lib/stack/store/records/stored-bytes.ts";
import { putRecordParams } from "../../../lib/stack/store/records/write.ts";
import { putDerivedParams } from "../../../lib/stack/store/summary/summary-items.ts";
import {
  autoscalerKey,
  fleetLeaseKey,
  indexKey,
  pageKey,
  summaryKey,
} from "../../../lib/stack/store/table/keys.ts";
import { bodiesOf, PARTITION, REF } from "../../store/records.ts";
import { autoscalerRecord } from "../../sync/world.ts";

const TABLE = "state";
const LEASE_PLACE = { key: fleetLeaseKey("eu-2"), tables: { stateTable: TABLE } };
const FLEET_LEASE = { region: "eu-1", term: 0, version: 1, untilMs: 1 };
const TOKEN = "token";
const lease: Lease = { partition: PARTITION, epoch: 1, writeNumber: 1 };
const TIMES = { nowMs: 0, evaluatedMs: 0, dueDoneMs: 0 };
const CLOSING = {
  dueMs: 0,
  nowMs: 0,
  evaluatedMs: 0,
  pageGeneration: 0,
  pages: [],
  intents: bodiesOf(),
  troubles: NO_TROUBLES,
};
const page = {
  id: { partition: PARTITION, generation: 1, index: 0 },
  epoch: 2,
  body: new Uint8Array(),
};
const record = autoscalerRecord(PARTITION.cluster, "web");
const put = { key: autoscalerKey(REF), record, token: TOKEN };

type Request = UpdateItemCommand | PutItemCommand | DeleteItemCommand;

/**
 * Every conditional request that lib/stack/store builds, by the file that has its condition, with
 * any values.
 */
export const REQUESTS_BY_FILE: Readonly<Record<string, readonly Request[]>> = {
  "head/claim.ts": [
    new UpdateItemCommand(
      claimParams(TABLE, {
        partition: PARTITION,
        dueMs: 0,
        clockMs: 0,
        leaseUntilMs: 1,
        token: TOKEN,
        term: 1,
      }),
    ),
  ],
  "head/store-intents.ts": [
    new UpdateItemCommand(
      intendParams(TABLE, lease, { intents: bodiesOf(), nowMs: 0, token: TOKEN }),
    ),
    new UpdateItemCommand(withdrawParams(TABLE, lease, ["uid-web:1"], TOKEN)),
  ],
  "head/release.ts": [
    new UpdateItemCommand(releaseParams(TABLE, lease, CLOSING, TOKEN)),
    new UpdateItemCommand(giveBackParams(TABLE, lease, TOKEN)),
  ],
  "head/moving.ts": [
    new UpdateItemCommand(markMovingParams(TABLE, lease, { clusterVersion: 1, epoch: 2 }, TOKEN)),
    new UpdateItemCommand(
      adoptPagesParams(TABLE, lease, { generation: 1, pages: [1], nowMs: 0 }, TOKEN),
    ),
  ],
  "head/repair-head.ts": [
    new UpdateItemCommand(lowerTimesParams(TABLE, lease, TIMES, TOKEN)),
    new UpdateItemCommand(raiseEpochParams(TABLE, lease, TOKEN)),
  ],
  "records/fleet-leases.ts": [
    new PutItemCommand(writeLeaseParams(LEASE_PLACE, FLEET_LEASE, undefined)),
    new PutItemCommand(writeLeaseParams(LEASE_PLACE, FLEET_LEASE, FLEET_LEASE)),
    new DeleteItemCommand(deleteLeaseParams(LEASE_PLACE, FLEET_LEASE)),
  ],
  "head/wake-mark.ts": [
    new UpdateItemCommand(wakeMarkParams(TABLE, PARTITION, { dueMs: 1, token: TOKEN })),
    new UpdateItemCommand(
      wakeMarkParams(TABLE, PARTITION, { dueMs: 2, beforeMs: 1, token: TOKEN }),
    ),
  ],
  "pages/pages.ts": [
    new PutItemCommand(writePageParams(TABLE, page)),
    new PutItemCommand(writePageParams(TABLE, { ...page, readEpoch: 1 })),
    new DeleteItemCommand(deleteLeftoverParams(TABLE, pageKey(PARTITION, 1, 0), 2)),
  ],
  "records/write.ts": [
    new PutItemCommand(putRecordParams(TABLE, { ...put, expected: { counter: "generation" } })),
    new PutItemCommand(
      putRecordParams(TABLE, {
        ...put,
        expected: { counter: "generation", value: 1, uid: record.uid },
      }),
    ),
    new PutItemCommand(
      putRecordParams(TABLE, { ...put, expected: { counter: "version", value: 1 } }),
    ),
  ],
  "summary/summary-items.ts": [summaryKey(PARTITION), indexKey(PARTITION)].map(
    (key) => new PutItemCommand(putDerivedParams(TABLE, key, { epoch: 1, body: new Uint8Array() })),
  ),
  "records/clusters.ts": [
    new UpdateItemCommand(raiseClusterVersionParams(TABLE, PARTITION.cluster, 1)),
  ],
  "records/autoscalers.ts": [
    new UpdateItemCommand(goneMarkParams(TABLE, record, 1)),
    new UpdateItemCommand(goneMarkParams(TABLE, record, undefined)),
  ],
  "records/stored-bytes.ts": [
    new UpdateItemCommand(
      storedBytesParams(TABLE, { partition: PARTITION, namespace: "shop", from: 0, to: 1 }),
    ),
    new UpdateItemCommand(
      storedBytesParams(TABLE, { partition: PARTITION, namespace: "shop", from: 1, to: 2 }),
    ),
  ],
};

export const CONDITIONAL_REQUESTS: readonly Request[] = Object.values(REQUESTS_BY_FILE).flat();
