import type { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import type { Context } from "aws-lambda";
import { describe, expect, it } from "vitest";
import { scheduleHandler } from "../../functions/schedule.ts";
import type { PlanReport } from "../../lib/stack/report/function-lines.ts";
import { messageOf } from "../../lib/stack/plan/message.ts";
import { startMemory } from "../contracts/engines.ts";
import { newWorld } from "../sync/world.ts";

const CONTEXT = {
  functionName: "tidemark-schedule",
  awsRequestId: "1",
  getRemainingTimeInMillis: () => 30_000,
} as Context;

const handled = async () => {
  const engine = await startMemory();
  const world = await newWorld(engine.client, engine.tables, {});
  const bodies: string[] = [];
  const send = async ({ input }: SendMessageBatchCommand) => {
    bodies.push(...(input.Entries ?? []).map(({ MessageBody = "" }) => MessageBody));
    return {};
  };
  const plans: PlanReport[] = [];
  const queue = {
    client: { send: send as never },
    queueUrl: "https://queue",
    wait: async () => {},
    random: () => 0,
  };
  return {
    bodies,
    plans,
    handler: scheduleHandler({
      tables: world.tables,
      queue,
      reporter: {
        planned: (report) => void plans.push(report),
        problems: () => {},
        problemsNotCounted: (error) => {
          throw error;
        },
      },
    }),
  };
};

describe("the handler of schedule", () => {
  it("plans at once at its first event, and then the minute that begins two minutes after the scheduled time", async () => {
    const { bodies, plans, handler } = await handled();
    await handler({ scheduledTime: "2026-03-01T12:00:00Z" }, CONTEXT);
    expect(bodies.splice(0)).toHaveLength(12);
    await handler({ scheduledTime: "2026-03-01T12:01:00Z" }, CONTEXT);
    const due = bodies.map((body) => messageOf(body).dueMs);
    expect(due).toHaveLength(4);
    expect(Math.min(...due)).toBeGreaterThanOrEqual(Date.UTC(2026, 2, 1, 12, 3));
    expect(Math.max(...due)).toBeLessThan(Date.UTC(2026, 2, 1, 12, 4));
    expect(plans).toMatchObject([
      {
        fromMs: Date.UTC(2026, 2, 1, 12, 2),
        missed: [Date.UTC(2026, 2, 1, 12), Date.UTC(2026, 2, 1, 12, 1)],
        sent: 12,
        clusters: 1,
      },
      { fromMs: Date.UTC(2026, 2, 1, 12, 3), missed: [], sent: 4, clusters: 1 },
    ]);
  });

  it("refuses an event without its scheduled time", async () => {
    const { bodies, handler } = await handled();
    await expect(handler({} as never, CONTEXT)).rejects.toThrow("scheduledTime");
    expect(bodies).toEqual([]);
  });
});
