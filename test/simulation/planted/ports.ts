import {
  type AttributeValue,
  type DynamoDBClient,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { decodeIntent, encodeIntent } from "../../../lib/stack/store/head/intent-codec.ts";
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

/**
 * A head in which every open intent was found unmoved before: what its next look finds unmoved is
 * the second.
 */
export const lookedAtOnce = (head: Item): Item => ({
  ...head,
  intents: {
    M: Object.fromEntries(
      Object.entries(head["intents"]?.M ?? {}).map(([id, { B: body = new Uint8Array() }]) => {
        const decoded = decodeIntent(body);
        return [
          id,
          { B: decoded.kind === "read" ? encodeIntent({ ...decoded.intent, unmovedMs: 0 }) : body },
        ];
      }),
    ),
  },
});

/** Ports with another client of the cluster. */
export const withClient = (ports: SyncPorts, wrap: (client: Client) => Client): SyncPorts => ({
  ...ports,
  connect: async (cluster) => wrap(await ports.connect(cluster)),
});

type Client = Awaited<ReturnType<SyncPorts["connect"]>>;
