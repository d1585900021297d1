import { DeleteItemCommand, type DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { INTENT, type PlantedBug, SITE } from "./planted.ts";

/**
 * A warm environment keeps the client of a cluster under its name: after it was removed and added
 * again elsewhere, the client leads to the API server of before.
 */
const keptByName: PlantedBug = {
  leftOut: "the uid and version under which clients are kept (only their name instead)",
  seed: 6,
  caughtBy: [SITE],
  ports: (ports) => ({
    ...ports,
    connect: (record) => ports.connect({ ...record, uid: "", version: 1 }),
  }),
};

/**
 * As soon as pages of a new generation are written, those of the one before are deleted: the head
 * still names them.
 */
const deletedFirst: PlantedBug = {
  leftOut: "old pages deleted after the release that names the new ones (before it instead)",
  seed: 0,
  caughtBy: [INTENT],
  ports: (ports) => {
    const { client } = ports.tables;
    const send = async (command: object): Promise<object> => {
      const answer: object = await client.send(command as PutItemCommand);
      const old = command instanceof PutItemCommand ? pageBefore(command) : undefined;
      if (old) await client.send(old);
      return answer;
    };
    return {
      ...ports,
      tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
    };
  },
};

/** The deletion of the page with the same index of the generation before. */
const pageBefore = ({
  input: { TableName, Item = {} },
}: PutItemCommand): DeleteItemCommand | undefined => {
  const [page, generation, index] = (Item["sk"]?.S ?? "").split("#");
  const { pk } = Item;
  if (page !== "page" || pk === undefined || Number(generation) < 1) return undefined;
  const before = String(Number(generation) - 1).padStart(generation?.length ?? 0, "0");
  return new DeleteItemCommand({ TableName, Key: { pk, sk: { S: `page#${before}#${index}` } } });
};

export const PLACE_BUGS: readonly PlantedBug[] = [keptByName, deletedFirst];
