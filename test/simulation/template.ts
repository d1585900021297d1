import { readFileSync } from "node:fs";
import { parse, type ScalarTag } from "yaml";
import * as z from "zod";

const SECOND_MS = 1_000;

/**
 * The short forms of CloudFormation (`!Ref`, `!Join`, `!If` …) say nothing about a number: only
 * their names must be known.
 */
const UNREAD_TAGS = ["!Ref", "!GetAtt", "!Sub", "!If", "!Join"].flatMap((tag) =>
  ([undefined, "seq"] as const).map(
    (collection) =>
      ({ tag, ...(collection && { collection }), resolve: () => null }) as unknown as ScalarTag,
  ),
);

const readYaml = (path: string): unknown =>
  parse(readFileSync(path, "utf8"), { customTags: UNREAD_TAGS });

const whole = z.int().min(0);
const retriesSchema = z.object({
  Resources: z.object({
    ScheduleRetries: z.object({
      Properties: z.object({ MaximumEventAgeInSeconds: whole, MaximumRetryAttempts: whole }),
    }),
  }),
});
const queuesSchema = z.object({
  Resources: z.object({
    SyncQueue: z.object({
      Properties: z.object({ RedrivePolicy: z.object({ maxReceiveCount: whole }) }),
    }),
  }),
});
const serviceSchema = z.object({
  custom: z.object({ scheduleTimeout: whole, syncTimeout: whole, syncVisibility: whole }),
});

/**
 * What the templates promise about attempts, ages and lives. The simulated platform goes by these
 * numbers, so that it is never kinder than what is deployed.
 */
export interface Template {
  /**
   * Of `schedule`: the life of one call, its repeats by Lambda, and how old a call may be when it
   * is repeated.
   */
  readonly scheduleLifeMs: number;
  readonly scheduleRetries: number;
  readonly scheduleAgeMs: number;
  readonly syncLifeMs: number;
  /** A message that was not deleted is hidden for so long, and received so often at most. */
  readonly visibilityMs: number;
  readonly receivesMax: number;
}

export const readTemplate = (): Template => {
  const retries = retriesSchema.parse(readYaml("infra/functions.yml")).Resources.ScheduleRetries
    .Properties;
  const { maxReceiveCount } = queuesSchema.parse(readYaml("infra/queues.yml")).Resources.SyncQueue
    .Properties.RedrivePolicy;
  const { scheduleTimeout, syncTimeout, syncVisibility } = serviceSchema.parse(
    readYaml("serverless.yml"),
  ).custom;
  return {
    scheduleLifeMs: scheduleTimeout * SECOND_MS,
    scheduleRetries: retries.MaximumRetryAttempts,
    scheduleAgeMs: retries.MaximumEventAgeInSeconds * SECOND_MS,
    syncLifeMs: syncTimeout * SECOND_MS,
    visibilityMs: syncVisibility * SECOND_MS,
    receivesMax: maxReceiveCount,
  };
};

export const TEMPLATE = readTemplate();
