import { expect, it } from "vitest";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
  partitionName,
  uidOfIntent,
  WHOLE_CLUSTER,
  workloadKeyOf,
} from "../../lib/rules/model/ids.ts";
import { incarnationOf } from "../../lib/rules/model/records.ts";

it("names are the texts that they were made of", () => {
  const names = [
    clusterName,
    partitionName,
    namespace,
    autoscalerName,
    autoscalerUid,
    workloadKeyOf,
  ].map((name) => name("web"));
  expect([...names, WHOLE_CLUSTER]).toEqual(["web", "web", "web", "web", "web", "web", "default"]);
});

it("the id of an intent ends with its epoch, and all before the last colon is the uid of the autoscaler", () => {
  expect(uidOfIntent("5f1c:12")).toBe("5f1c");
  expect(uidOfIntent("shop:web:5f1c:12")).toBe("shop:web:5f1c");
});

it("a cluster that was removed and added again is another one, though its version is the same", () => {
  expect(incarnationOf({ uid: "c1", version: 3 })).toBe("c1:3");
  const records = [
    { uid: "c1", version: 3 },
    { uid: "c2", version: 3 },
    { uid: "c1", version: 4 },
  ];
  expect(new Set(records.map(incarnationOf)).size).toBe(records.length);
});
