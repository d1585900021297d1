import { PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import {
  decodeIntent,
  encodeIntent,
  UNCOUNTED_VERSION,
} from "../../../lib/stack/store/head/intent-codec.ts";
import type { Process } from "../process.ts";
import { EVENT, INTENT, LOST_WINDOWS, ONE_EVENT, ONE_INTENT, type PlantedBug } from "./planted.ts";
import { withTables } from "./ports.ts";

const tokens = new WeakMap<Process, string>();

const tokenPerWorker: PlantedBug = {
  leftOut: "a token of its own per write (one per worker instead)",
  seed: 0,
  caughtBy: [INTENT, ONE_INTENT, ONE_EVENT],
  ports: (ports, { process }) => {
    const token = tokens.get(process) ?? ports.tables.token();
    tokens.set(process, token);
    const tables = { ...ports.tables, token: () => token };
    return { ...ports, tables };
  },
};

/**
 * Deadlines as the head gives them are long over; those that the writer goes by are as they were.
 */
const noDeadline: PlantedBug = {
  leftOut: "the deadline at all",
  seed: 31,
  caughtBy: [EVENT],
  ports: (ports) =>
    withTables(ports, {
      claimed: (head) => ({
        ...head,
        intents: {
          M: Object.fromEntries(
            Object.entries(head["intents"]?.M ?? {}).map(([id, { B: body = new Uint8Array() }]) => {
              const decoded = decodeIntent(body);
              return [
                id,
                {
                  B:
                    decoded.kind === "read"
                      ? encodeIntent({ ...decoded.intent, deadlineMs: 0 })
                      : body,
                },
              ];
            }),
          ),
        },
      }),
    }),
};

/** Page writes under no condition at all. */
const noPageEpoch: PlantedBug = {
  leftOut: "page epoch",
  seed: 3,
  caughtBy: LOST_WINDOWS,
  ports: (ports) =>
    withTables(ports, {
      request: (command) =>
        command instanceof PutItemCommand && command.input.Item?.["sk"]?.S?.startsWith("page#")
          ? new PutItemCommand({ TableName: command.input.TableName, Item: command.input.Item })
          : command,
    }),
};

/**
 * After an unclean release an environment goes by the windows in its memory, where it has some, and
 * need not write them: the head looks as if its last holder had closed it and had named them.
 */
const trustedMemory: PlantedBug = {
  leftOut: "strong reads after an unclean release",
  seed: 7,
  caughtBy: LOST_WINDOWS,
  ports: (ports, { message }) =>
    withTables(ports, {
      claimed: (head) => {
        const isClean = Number(head["releasedEpoch"]?.N) === Number(head["epoch"]?.N) - 1;
        const pages = ports.cache.get(message)?.pages;
        const [first] = pages ?? [];
        if (isClean || !pages || !first) return head;
        return {
          ...head,
          releasedEpoch: { N: String(Number(head["epoch"]?.N) - 1) },
          pageGeneration: { N: String(first.generation) },
          pages: { L: pages.map(({ epoch }) => ({ N: String(epoch) })) },
        };
      },
    }),
};

/** Intents are stored also where another worker holds the head by now. */
export const noEpochCheck: PlantedBug = {
  leftOut: "the epoch check on storing an intent",
  seed: 18,
  caughtBy: [INTENT, ONE_INTENT, ONE_EVENT],
  ports: (ports) =>
    withTables(ports, {
      request: (command) => {
        if (
          !(command instanceof UpdateItemCommand) ||
          !command.input.UpdateExpression?.includes(":intents")
        )
          return command;
        const { ConditionExpression: _left, ...input } = command.input;
        return new UpdateItemCommand(input);
      },
    }),
};

/**
 * The update that stores the intents of a wave clears those that the wave before has settled,
 * before any page counts them.
 */
const clearedBetweenWaves: PlantedBug = {
  leftOut: "settled scales that stay in the head until a page counts them",
  seed: 0,
  caughtBy: [INTENT],
  ports: (ports) =>
    withTables(ports, {
      request: (command) => {
        const intents =
          command instanceof UpdateItemCommand
            ? command.input.ExpressionAttributeValues?.[":intents"]?.M
            : undefined;
        if (!(command instanceof UpdateItemCommand) || !intents) return command;
        const open = Object.fromEntries(
          Object.entries(intents).filter(([, { B: body }]) => body?.[0] !== UNCOUNTED_VERSION),
        );
        return new UpdateItemCommand({
          ...command.input,
          ExpressionAttributeValues: {
            ...command.input.ExpressionAttributeValues,
            ":intents": { M: open },
          },
        });
      },
    }),
};

export const HEAD_BUGS: readonly PlantedBug[] = [
  tokenPerWorker,
  noDeadline,
  noPageEpoch,
  trustedMemory,
  noEpochCheck,
  clearedBetweenWaves,
];
