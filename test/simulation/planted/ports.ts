import {
  type AttributeValue,
  type DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";

type Item = Record<string, AttributeValue>;

/** Ports whose tables send other requests than the code asked for, or give other answers. */
export const withTables = (
  ports: SyncPorts,
  change: {
    readonly request?: (command: object) => object;
    readonly claimed?: (head: Item) => Item;
  },
): SyncPorts => {
  const { request = (command) => command, claimed = (head) => head } = change;
  const send = async (command: object): Promise<object> => {
    const answer: { Attributes?: Item | undefined } = await ports.tables.client.send(
      request(command) as UpdateItemCommand,
    );
    const isClaim =
      command instanceof UpdateItemCommand && command.input.ReturnValues === "ALL_NEW";
    return isClaim && answer.Attributes
      ? { ...answer, Attributes: claimed(answer.Attributes) }
      : answer;
  };
  return {
    ...ports,
    tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
  };
};

/** Ports with another client of the cluster. */
export const withClient = (ports: SyncPorts, wrap: (client: Client) => Client): SyncPorts => ({
  ...ports,
  connect: async (cluster) => wrap(await ports.connect(cluster)),
});

type Client = Awaited<ReturnType<SyncPorts["connect"]>>;
