import {
  type AttributeValue,
  type DynamoDBClient,
  type GetItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { decodePage, encodePage } from "../../../lib/stack/store/pages/codec.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { LOST_WINDOWS, type PlantedBug } from "./planted.ts";

type Item = Record<string, AttributeValue>;
interface Answer {
  readonly Item?: Item;
  readonly Items?: readonly Item[];
}

/** Ports whose tables give other answers than they have. */
const withAnswers = (
  ports: SyncPorts,
  change: (command: object, answer: Answer) => Answer,
): SyncPorts => {
  const { client } = ports.tables;
  const send = async (command: object): Promise<object> =>
    change(command, (await client.send(command as GetItemCommand)) as Answer);
  return {
    ...ports,
    tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
  };
};

/**
 * An item without uid is passed over, so that its windows are those of no autoscaler, and are
 * dropped.
 */
const droppedWindows: PlantedBug = {
  leftOut: "windows kept while the item of an autoscaler has no uid",
  seed: 140,
  caughtBy: LOST_WINDOWS,
  ports: (ports) =>
    withAnswers(ports, (command, answer) =>
      command instanceof QueryCommand && answer.Items
        ? {
            ...answer,
            Items: answer.Items.filter(
              ({ pk, uid }) => !pk?.S?.startsWith("autoscalers#") || uid !== undefined,
            ),
          }
        : answer,
    ),
};

/** A page that cannot be read is taken for one without entries. */
const emptyPage: PlantedBug = {
  leftOut: "a hold of the autoscalers whose page cannot be read",
  seed: 36,
  caughtBy: LOST_WINDOWS,
  ports: (ports) =>
    withAnswers(ports, (_command, answer) => {
      const { Item: item } = answer;
      const isLost =
        item?.["sk"]?.S?.startsWith("page#") === true &&
        decodePage(item["body"]?.B ?? new Uint8Array()).kind === "unreadable";
      return isLost ? { ...answer, Item: { ...item, body: { B: encodePage([]) } } } : answer;
    }),
};

export const DAMAGE_BUGS: readonly PlantedBug[] = [droppedWindows, emptyPage];
