import { describe, expect, it } from "vitest";
import { newEditLog } from "./edits.ts";

const MANIFEST = '{"kind":"PodAutoscaler"}';
const record = (generation: number, uid: string | undefined) => ({
  pk: { S: "autoscalers#eu-1" },
  sk: { S: "shop#web" },
  generation: { N: String(generation) },
  ...(uid === undefined
    ? { deletedMs: { N: "1" } }
    : { uid: { S: uid }, manifest: { S: MANIFEST } }),
});

/** A log, and what it finds wrong. */
const newLog = () => {
  const wrong: string[] = [];
  let ticks = 0;
  const log = newEditLog({
    nowMs: () => 0,
    tick: () => ++ticks,
    violate: (_invariant, message) => wrong.push(message),
  });
  log.began("owner-1", { name: "web", cluster: "eu-1", verb: "apply", manifest: MANIFEST });
  return { log, wrong };
};

describe("the log of edits", () => {
  it.each([
    [
      "lets an apply make another autoscaler of a record of an earlier cluster",
      { uid: "two", cluster: "new" },
      [],
    ],
    [
      "tells of an apply that gives an autoscaler of this cluster another uid",
      { uid: "two", cluster: "old" },
      [/uid one became two/],
    ],
    [
      "tells of an apply that takes over the windows of an earlier cluster",
      { uid: "one", cluster: "new" },
      [/uid one became one/],
    ],
  ] as const)("%s", (_, { uid, cluster }, expected) => {
    const { log, wrong } = newLog();
    log.written(
      "owner-1",
      { ...record(1, "one"), clusterUid: { S: "old" } },
      { ...record(2, uid), clusterUid: { S: cluster } },
    );
    expect(wrong).toEqual(expected.map((words) => expect.stringMatching(words)));
  });

  it("lets an apply take back what it has created itself, because its cluster was removed meanwhile", () => {
    const { log, wrong } = newLog();
    const created = record(1, "one");
    log.written("owner-1", undefined, created);
    log.written("owner-1", created, record(2, undefined));
    log.answered("owner-1", "gone");
    expect(wrong).toEqual([]);
  });

  it("tells of an apply that deletes what another has stored", () => {
    const { log, wrong } = newLog();
    const other = record(2, "one");
    log.written("owner-1", undefined, record(1, "one"));
    log.written("deputy-1", record(1, "one"), other);
    log.written("owner-1", other, record(3, undefined));
    expect(wrong).toContain("the write of owner-1 (apply web) took effect twice");
  });

  it("tells of an apply that took its record back and says that it was stored", () => {
    const { log, wrong } = newLog();
    const created = record(1, "one");
    log.written("owner-1", undefined, created);
    log.written("owner-1", created, record(2, undefined));
    log.answered("owner-1", "changed");
    expect(wrong).toEqual(['owner-1 (apply web) was told "changed", and wrote 2 times']);
  });

  it("lets an edit be told that its autoscaler is gone, while its cluster is removed", () => {
    const { log, wrong } = newLog();
    log.written("owner-1", undefined, record(1, "one"));
    log.clusterWritten("eu-1", { deletedMs: { N: "1" } });
    log.began("owner-2", { name: "web", cluster: "eu-1", verb: "pause" });
    log.answered("owner-2", "gone");
    expect(wrong).toEqual([]);
    log.clusterWritten("eu-1", {});
    log.began("owner-3", { name: "web", cluster: "eu-1", verb: "pause" });
    log.answered("owner-3", "gone");
    expect(wrong).toEqual([
      'owner-3 (pause web) was told "gone", and at no instant of it that was so',
    ]);
  });
});
