import type { TableClient } from "./faults.ts";

/** Capacity that the engine says was consumed, and calls, by table. */
export interface Consumed {
  readonly writeUnits: Map<string, number>;
  readonly writes: Map<string, number>;
  readUnits: number;
}

export const nothingConsumed = (): Consumed => ({
  writeUnits: new Map(),
  writes: new Map(),
  readUnits: 0,
});

/** Calls that change a table; all others are reads. */
const WRITES = new Set([
  "PutItemCommand",
  "UpdateItemCommand",
  "DeleteItemCommand",
  "BatchExecuteStatementCommand",
]);

interface Metered {
  readonly constructor: { readonly name: string };
  readonly input: { ReturnConsumedCapacity?: string; readonly TableName?: string };
}
interface Capacity {
  readonly TableName?: string;
  readonly CapacityUnits?: number;
}
interface Answered {
  /** Of a batch of statements one for each. */
  readonly ConsumedCapacity?: Capacity | readonly Capacity[];
}

/**
 * A client that asks for the consumed capacity of every call and adds it up in what `into` gives.
 * An answer without it would hide a cost, and throws.
 */
export const metered = (client: TableClient, into: () => Consumed): TableClient => {
  const send = client.send.bind(client) as unknown as (command: Metered) => Promise<Answered>;
  const metering = async (command: Metered): Promise<Answered> => {
    command.input.ReturnConsumedCapacity = "TOTAL";
    const answer = await send(command);
    const capacities = [answer.ConsumedCapacity ?? []].flat();
    if (capacities.length === 0)
      throw new TypeError(`${command.constructor.name} was answered without its consumed capacity`);
    const consumed = into();
    for (const {
      TableName: table = command.input.TableName ?? "",
      CapacityUnits: units = Number.NaN,
    } of capacities) {
      if (WRITES.has(command.constructor.name)) {
        add(consumed.writeUnits, table, units);
        add(consumed.writes, table, 1);
      } else consumed.readUnits += units;
    }
    return answer;
  };
  return { send: metering as unknown as TableClient["send"] };
};

const add = (sums: Map<string, number>, table: string, more: number): void =>
  void sums.set(table, (sums.get(table) ?? 0) + more);
