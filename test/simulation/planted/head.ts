import { GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { decodeIntent, encodeIntent } from "../../../lib/store/intent-codec.ts";
import type { Process } from "../process.ts";
import { EVENT, INTENT, LIMITS, ONE_EVENT, ONE_INTENT, type PlantedBug, WINDOWS } from "./planted.ts";
import { withTables } from "./ports.ts";

const tokens = new WeakMap<Process, string>();

const tokenPerWorker: PlantedBug = {
  leftOut: "a token of its own per write (one per worker instead)",
  caughtBy: [INTENT, ONE_INTENT],
  ports: (ports, { process }) => {
    const token = tokens.get(process) ?? ports.tables.token();
    tokens.set(process, token);
    const tables = { ...ports.tables, token: () => token };
    return { ...ports, tables };
  },
};

/** Deadlines as the head gives them are long over; those that the writer goes by are as they were. */
const noDeadline: PlantedBug = {
  leftOut: "the deadline at all",
  caughtBy: [EVENT],
  ports: (ports) =>
    withTables(ports, {
      claimed: (head) => ({
        ...head,
        intents: {
          M: Object.fromEntries(
            Object.entries(head["intents"]?.M ?? {}).map(([id, { B: body = new Uint8Array() }]) => {
              const decoded = decodeIntent(body);
              return [id, { B: decoded.kind === "read" ? encodeIntent({ ...decoded.intent, deadlineMs: 0 }) : body }];
            }),
          ),
        },
      }),
    }),
};

/** Page writes under no condition at all. */
const noPageEpoch: PlantedBug = {
  leftOut: "page epoch",
  caughtBy: [INTENT, WINDOWS, LIMITS],
  ports: (ports) =>
    withTables(ports, {
      request: (command) =>
        command instanceof PutItemCommand && command.input.Item?.["sk"]?.S?.startsWith("page#")
          ? new PutItemCommand({ TableName: command.input.TableName, Item: command.input.Item })
          : command,
    }),
};

/** Pages that each process saw last, by key. */
const seenPages = new WeakMap<Process, Map<string, object>>();

/** After an unclean release a process goes by the page that it remembers, where it remembers one, in place of reading it strongly. */
const trustingReads: PlantedBug = {
  leftOut: "strong reads after an unclean release",
  caughtBy: [INTENT, WINDOWS, LIMITS],
  ports: (ports, { process }) => {
    const pages = seenPages.get(process) ?? new Map<string, object>();
    seenPages.set(process, pages);
    let unclean = false;
    const tables = withTables(ports, {
      claimed: (head) => {
        unclean = Number(head["releasedEpoch"]?.N) !== Number(head["epoch"]?.N) - 1;
        return head;
      },
    });
    const { client } = tables.tables;
    const send = async (command: object): Promise<object> => {
      const key = command instanceof GetItemCommand ? `${command.input.Key?.["pk"]?.S} ${command.input.Key?.["sk"]?.S}` : "";
      const remembered = key.includes(" page#") ? pages.get(key) : undefined;
      if (unclean && remembered) return remembered;
      const answer = await client.send(command as GetItemCommand);
      if (key.includes(" page#")) pages.set(key, answer);
      return answer;
    };
    return { ...tables, tables: { ...tables.tables, client: { send: send as typeof client.send } } };
  },
};

/** Intents are stored whoever holds the head by now. */
const noEpochCheck: PlantedBug = {
  leftOut: "the epoch check on storing an intent",
  caughtBy: [INTENT, ONE_INTENT, ONE_EVENT],
  ports: (ports) =>
    withTables(ports, {
      request: (command) => {
        if (!(command instanceof UpdateItemCommand) || !command.input.UpdateExpression?.includes("intents.#i0")) return command;
        const { ConditionExpression: _left, ...input } = command.input;
        return new UpdateItemCommand(input);
      },
    }),
};

export const HEAD_BUGS: readonly PlantedBug[] = [tokenPerWorker, noDeadline, noPageEpoch, trustingReads, noEpochCheck];
