import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { planKey } from "../../../lib/stack/store/table/keys.ts";
import type { PlantedBug } from "./planted.ts";

const MINUTE_MS = 60_000;
const AHEAD = 5;

/**
 * A call marks the minutes after its own too, so that no call plans the minute of one that failed
 * or never came.
 */
const markedUnplanned: PlantedBug = {
  leftOut: "the minute of a call that failed, which the next call plans",
  seed: 15,
  caughtBy: ["a minute is marked as planned only where all of it was sent"],
  sent: (command) => {
    if (!(command instanceof PutItemCommand) || command.input.Item?.["pk"]?.S !== planKey.pk)
      return command;
    const { TableName, Item = {} } = command.input;
    const minutes = (Item["minutes"]?.NS ?? []).map(Number);
    const unplanned = Array.from(
      { length: AHEAD },
      (_, at) => Math.max(...minutes) + (at + 1) * MINUTE_MS,
    );
    return new PutItemCommand({
      TableName,
      Item: { ...Item, minutes: { NS: [...minutes, ...unplanned].map(String) } },
    });
  },
};

export const MINUTE_BUGS: readonly PlantedBug[] = [markedUnplanned];
