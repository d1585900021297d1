import middy from "@middy/core";
import type { Context } from "aws-lambda";
import * as z from "zod";
import type { ClusterItem } from "../lib/stack/store/records/clusters.ts";
import { countProblems } from "../lib/stack/plan/count-problems.ts";
import { present } from "../lib/rules/model/json.ts";
import { planSyncs } from "../lib/stack/plan/schedule.ts";
import { builtByFirst, ENVIRONMENT, environmentOf } from "../lib/lambda/environment.ts";
import { planningParts, type ScheduleDependencies } from "../lib/lambda/planning.ts";

const tickSchema = z.object({ scheduledTime: z.iso.datetime({ offset: true }) });
export type TickEvent = z.input<typeof tickSchema>;
export type ScheduleHandler = (event: TickEvent, context: Context) => Promise<void>;

/**
 * Handles the target input of EventBridge Scheduler. Errors are thrown, so that they are counted.
 * The next call plans what a failed one did not, and planning twice is harmless.
 */
export const scheduleHandler = ({
  tables,
  queue,
  reporter,
  owners,
  people,
  elsewhere,
  witness,
}: ScheduleDependencies): ScheduleHandler => {
  /**
   * The minute is planned by now: a failure here must not look like one of the planning, and has an
   * alarm of its own.
   */
  const problemsOf = async (items: readonly ClusterItem[]): Promise<void> => {
    try {
      await countProblems(
        { tables, owners, people, tell: async (found) => reporter.problems(found) },
        items,
      );
    } catch (error) {
      reporter.problemsNotCounted(error);
    }
  };
  return middy<TickEvent, void>({ timeoutEarlyInMillis: 0 }).handler(async (event) => {
    const { items, ...report } = await planSyncs(
      { tables, queue, ...present({ elsewhere, witness: witness?.() }) },
      { scheduledMs: Date.parse(tickSchema.parse(event).scheduledTime) },
    );
    reporter.planned(report);
    // What is in the tables of another region is reported there.
    if (!report.idle) await problemsOf(items);
  }) as ScheduleHandler;
};

export const handler = builtByFirst(() =>
  scheduleHandler(planningParts(environmentOf(ENVIRONMENT.schedule))),
);
