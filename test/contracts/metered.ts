import type { TableClient } from "./faults.ts";

/** Capacity that the engine says was consumed, and calls, by table. */
export interface Consumed {
  readonly writeUnits: Map<string, number>;
  readonly writes: Map<string, number>;
  readUnits: number;
}

export const nothingConsumed = (): Consumed => ({ writeUnits: new Map(), writes: new Map(), readUnits: 0 });

/** Calls that change a table; whatever else is asked is a read. */
const WRITES = new Set(["PutItemCommand", "UpdateItemCommand", "DeleteItemCommand"]);

interface Metered {
  readonly constructor: { readonly name: string };
  readonly input: { ReturnConsumedCapacity?: string; readonly TableName?: string };
}
interface Answered {
  readonly ConsumedCapacity?: { readonly CapacityUnits?: number };
}

/** A client that asks for the consumed capacity of every call and adds it up in what `into` gives. An answer without it would hide a cost, and throws. */
export const metered = (client: TableClient, into: () => Consumed): TableClient => {
  const send = client.send.bind(client) as unknown as (command: Metered) => Promise<Answered>;
  const metering = async (command: Metered): Promise<Answered> => {
    command.input.ReturnConsumedCapacity = "TOTAL";
    const answer = await send(command);
    const units = answer.ConsumedCapacity?.CapacityUnits;
    if (units === undefined) throw new TypeError(`${command.constructor.name} was answered without its consumed capacity`);
    const consumed = into();
    const table = command.input.TableName ?? "";
    if (WRITES.has(command.constructor.name)) {
      add(consumed.writeUnits, table, units);
      add(consumed.writes, table, 1);
    } else consumed.readUnits += units;
    return answer;
  };
  return { send: metering as unknown as TableClient["send"] };
};

const add = (sums: Map<string, number>, table: string, more: number): void => void sums.set(table, (sums.get(table) ?? 0) + more);
