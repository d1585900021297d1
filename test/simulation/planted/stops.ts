import { type DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { fleetKey } from "../../../lib/store/keys.ts";
import type { PlantedBug } from "./planted.ts";
import { withClient } from "./ports.ts";

/** Whoever claims looks for no kill switch. */
const unreadFleet: PlantedBug = {
  leftOut: "the kill switch read after the claim",
  seed: 2,
  caughtBy: ["nothing is sent that was claimed after a freeze or a pause"],
  ports: (ports) => {
    const { client } = ports.tables;
    const send = async (command: object): Promise<object> => {
      const isFleet = command instanceof GetItemCommand && command.input.Key?.["sk"]?.S === fleetKey.sk;
      return isFleet ? {} : client.send(command as GetItemCommand);
    };
    return { ...ports, tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } } };
  },
};

const unseenRivals: PlantedBug = {
  leftOut: "a look at who else scales the workload",
  seed: 2,
  caughtBy: ["nothing is sent where another controller was seen"],
  ports: (ports) =>
    withClient(ports, (inner) => ({
      ...inner,
      observe: async (watched, limits) => {
        const seen = await inner.observe(watched, limits);
        return { ...seen, observations: new Map([...seen.observations].map(([uid, observed]) => [uid, { ...observed, rivals: [] }])) };
      },
    })),
};

export const STOP_BUGS: readonly PlantedBug[] = [unreadFleet, unseenRivals];
