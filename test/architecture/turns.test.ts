import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

/*
 * Whatever a sync does for many autoscalers, so many at once, it does in turns of their namespaces
 * (lib/stack/turns). Another bound would let the first namespace take all places.
 */

const files = ["lib/stack/sync", "lib/stack/cluster", "lib/stack/source-client"].flatMap((folder) =>
  filesBelow(folder).map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })),
);

const using = (pattern: RegExp): readonly string[] =>
  files
    .filter(({ text }) => pattern.test(text))
    .map(({ path }) => path)
    .toSorted();

describe("work for many autoscalers", () => {
  it("is bounded by the gate of the fair turns, and where another bound is, it is of all namespaces", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(using(/from "p-|\bmapWithLimit\(|\beachInGroups\(|\bsemaphore\b/i)).toEqual([
      // The points of one check, which a person asks for.
      "lib/stack/cluster/check/ask.ts",
      // Pages have windows of all namespaces.
      "lib/stack/sync/keep/store-pages.ts",
      "lib/stack/sync/load/load-pages.ts",
      // Batches of events, in the order of the answers.
      "lib/stack/sync/scale/waves.ts",
    ]);
  });

  it("is in turns at every door", () => {
    expect(using(/\/turns\/[a-z]+\.ts"/)).toEqual(
      [
        "lib/stack/cluster/connect.ts",
        "lib/stack/cluster/objects/write-back.ts",
        "lib/stack/cluster/observe/heavy-work.ts",
        "lib/stack/cluster/observe/memory.ts",
        "lib/stack/cluster/observe/namespace-calls.ts",
        "lib/stack/cluster/observe/questions.ts",
        "lib/stack/cluster/observe/scopes.ts",
        "lib/stack/source-client/batches.ts",
        "lib/stack/source-client/source-client.ts",
        "lib/stack/source-client/source-shares.ts",
        "lib/stack/sync/decide/decide.ts",
        "lib/stack/sync/load/load-specs.ts",
        "lib/stack/sync/objects/write-back-objects.ts",
        "lib/stack/sync/observe/ask-sources.ts",
        "lib/stack/sync/observe/observe.ts",
        "lib/stack/sync/observe/recommend.ts",
        "lib/stack/sync/observe/rounds.ts",
        "lib/stack/sync/scale/act.ts",
        "lib/stack/sync/scale/intend.ts",
        "lib/stack/sync/scale/settle-earlier.ts",
        "lib/stack/sync/specs/store-findings.ts",
        "lib/stack/sync/specs/store-room.ts",
        "lib/stack/sync/specs/store-turns.ts",
      ].toSorted(),
    );
  });

  it("has no place of a turn in the memory of an environment", () => {
    expect(using(/memory\.turns|\bturns: Map/)).toEqual([]);
  });

  it("is counted by the shares of the flows, and where something else is counted, nothing is bounded by it", () => {
    expect(using(/new Map<(?:Namespace|string), number>/)).toEqual([
      // How often an Event was written.
      "lib/stack/cluster/objects/event-series.ts",
      // When a watch has failed.
      "lib/stack/cluster/observe/followed-lists.ts",
      // What `heaviest` chooses from, and the LISTs that are not read yet.
      "lib/stack/cluster/observe/heavy-work.ts",
      // Pods that a watch has left out, by target.
      "lib/stack/cluster/observe/missing-pods.ts",
      "lib/stack/cluster/observe/scopes.ts",
      // The bytes of one page, by namespace.
      "lib/stack/cluster/read-page.ts",
    ]);
  });

  it("is timed by the flows and the gate only", () => {
    expect(using(/\b(?:usedMs|runningSinceMs|slowUntilMs)\b/)).toEqual([
      "lib/stack/cluster/observe/namespace-calls.ts",
    ]);
  });
});
