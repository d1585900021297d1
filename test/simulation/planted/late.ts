import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { hasLateAnswers } from "../late-answers.ts";
import { writeOf } from "./clauses.ts";
import { noEpochCheck } from "./head.ts";
import { INTENT, ONE_EVENT, ONE_INTENT, type PlantedBug } from "./planted.ts";

/** Looked for among the seeds whose requests arrive late. */
const where = hasLateAnswers;

/**
 * No answer to the write of an intent counts as an answer: its PUT leaves, and the write may be on
 * its way, or lost.
 */
const unheardIntent: PlantedBug = {
  leftOut: "a hold where the write of an intent got no answer (it counts as stored)",
  seed: 2_022,
  where,
  caughtBy: [INTENT, ONE_INTENT, ONE_EVENT],
  ports: (ports) => {
    const { client } = ports.tables;
    const send = async (command: object): Promise<object> => {
      try {
        return (await client.send(command as never)) as object;
      } catch (error) {
        const isUnheard = error instanceof Error && error.name === "TimeoutError";
        if (isUnheard && writeOf(command) === "store intents") return {};
        throw error;
      }
    };
    return {
      ...ports,
      tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
    };
  },
};

/** The fence, where requests of a killed sync arrive after its successor has claimed. */
const noFence: PlantedBug = {
  ...noEpochCheck,
  leftOut:
    "the epoch check on storing an intent, where requests arrive after their sync was killed",
  seed: 2_068,
  where,
};

export const LATE_BUGS: readonly PlantedBug[] = [unheardIntent, noFence];
