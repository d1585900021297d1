import { describe, expect, it } from "vitest";
import type { RunClock } from "../../../lib/embedded/engine/clock.ts";
import { onlyShowing, plainView } from "../../../lib/embedded/view/plain-view.ts";
import type { AutoscalerView } from "../../../lib/answers/views/autoscaler.ts";
import type { EventView } from "../../../lib/answers/views/event.ts";

const START_MS = Date.UTC(2026, 0, 5, 8);

const autoscaler = (name: string, more: Partial<AutoscalerView> = {}): AutoscalerView => ({
  cluster: "local",
  namespace: "shop",
  name,
  uid: name,
  generation: 1,
  dialect: "hpa",
  state: "active",
  currentReplicas: 4,
  desiredReplicas: 4,
  metrics: [],
  conditions: [],
  decision: {
    at: "2026-01-05T08:00:00.000Z",
    kind: "hold",
    from: 4,
    reason: "DesiredWithinRange",
    message: "it is as wanted",
    failed: false,
  },
  createdAt: "2026-01-05T08:00:00.000Z",
  updatedAt: "2026-01-05T08:00:00.000Z",
  updatedBy: "ada",
  manifest: {},
  ...more,
});

const play = () => {
  let wallMs = 0;
  let all: readonly AutoscalerView[] = [autoscaler("daily"), autoscaler("steps")];
  const lines: string[] = [];
  const clock: RunClock = {
    now: () => START_MS + 60 * wallMs,
    until: async () => {},
    pace: () => ({ wanted: 60, reached: 60, behind: false }),
  };
  const reader = {
    autoscalers: async () => all,
    newEvents: async (): Promise<readonly EventView[]> => [],
    total: () => 0,
    eventsSince: async () => [],
    seen: () => [],
  };
  const view = plainView({
    write: (text) => void lines.push(text.written()),
    reader,
    clock,
    wall: () => wallMs,
  });
  return {
    /** Lines of so many seconds of the wall, with four looks a second. */
    during: async (seconds: number): Promise<readonly string[]> => {
      lines.length = 0;
      for (const endMs = wallMs + seconds * 1000; wallMs < endMs; wallMs += 250)
        await view.refresh();
      return [...lines];
    },
    become: (...views: readonly AutoscalerView[]) => {
      all = views;
    },
  };
};

describe("plainView()", () => {
  it("tells how each autoscaler stands once, and then one line a minute while nothing changes", async () => {
    const { during } = play();
    const first = await during(59);
    expect(first.map((line) => line.slice(22, 39))).toEqual([
      "shop/daily active",
      "shop/steps active",
    ]);
    const later = await during(180);
    expect(later).toHaveLength(3);
    for (const line of later)
      expect(line).toMatch(
        /^\S+ {2}2 autoscalers: 2 active; 8 pods; 0 scale events in the last minute of the wall clock\n$/,
      );
  });

  it("tells a state that changes, when it changes", async () => {
    const { during, become } = play();
    await during(30);
    become(
      autoscaler("daily", { state: "held", heldBy: "rival" }),
      autoscaler("steps", { state: "limited" }),
    );
    expect((await during(20)).map((line) => line.slice(22))).toEqual([
      expect.stringMatching(/^shop\/daily held: rival, 4 replicas, 4 desired, holds: /),
    ]);
    become(autoscaler("daily"), autoscaler("steps"));
    expect((await during(9)).filter((line) => line.includes("shop/"))).toHaveLength(1);
  });
});

describe("a view that only shows", () => {
  it("ends nothing where its look fails: it says so once, and the next look shows again", async () => {
    const said: string[] = [];
    let failure: string | undefined = "Cannot list the events since 12:00: that is a future time";
    let looks = 0;
    const look = async (): Promise<void> => {
      looks++;
      if (failure !== undefined) throw new Error(failure);
    };
    const view = onlyShowing({ say: (line) => said.push(line), refresh: look, end: look });
    await view.refresh();
    await view.refresh();
    failure = undefined;
    await view.refresh();
    failure = "Cannot read the tables";
    await view.end();
    expect(looks).toBe(4);
    expect(said).toEqual([
      "The state could not be shown: Cannot list the events since 12:00: that is a future time",
      "The state could not be shown: Cannot read the tables",
    ]);
  });
});
