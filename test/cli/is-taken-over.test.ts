import { describe, expect, it } from "vitest";
import { isTakenOver } from "../../lib/command/takeover/take-over-one.ts";
import type { AutoscalerView, RivalView } from "../../lib/answers/views/autoscaler.ts";
import type { ChangeView } from "../../lib/answers/views/change.ts";

const HPA: RivalView = { kind: "HorizontalPodAutoscaler", name: "web" };

const isTaken = (
  verbs: readonly ChangeView["verb"][],
  view: Partial<AutoscalerView> = {},
): Promise<boolean> => {
  const changes = async function* () {
    for (const [index, verb] of verbs.entries())
      yield { verb, generation: index + 1 } as Partial<ChangeView> as ChangeView;
  };
  return isTakenOver(
    { changes },
    { cluster: "eu-1", namespace: "shop", name: "web", generation: verbs.length, ...view },
  );
};

describe("handback -A hands back", () => {
  it("what was taken over, also after later edits", async () => {
    expect(await isTaken(["apply", "takeover"])).toBe(true);
    expect(await isTaken(["apply", "takeover", "apply"])).toBe(true);
    expect(await isTaken(["apply", "takeover", "handback", "resume", "takeover"])).toBe(true);
  });

  it("what an interrupted handback has left paused, and not what was handed back whole", async () => {
    expect(await isTaken(["apply", "takeover", "handback"])).toBe(true);
    expect(await isTaken(["apply", "takeover", "handback", "resume"])).toBe(false);
  });

  it("nothing whose takeover failed, because the other controller was not brought to rest", async () => {
    expect(await isTaken(["apply", "takeover", "takeover-failed"])).toBe(false);
    expect(await isTaken(["apply", "takeover", "takeover-failed", "takeover"])).toBe(true);
  });

  it("nothing that was never taken over or has another controller beside it", async () => {
    expect(await isTaken(["apply", "pause"])).toBe(false);
    expect(await isTaken(["apply", "takeover"], { rivals: [HPA] })).toBe(false);
    expect(await isTaken(["apply", "takeover", "handback"], { rivals: [HPA] })).toBe(false);
  });
});
