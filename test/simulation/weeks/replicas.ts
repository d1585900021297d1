import {
  BatchGetItemCommand,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from "@aws-sdk/client-dynamodb";
import { memoryTables } from "../../contracts/memory-engine.ts";
import type { Random } from "../random.ts";
import type { Item } from "../watch/head.ts";

/** "A second behind as a rule" (docs/storage.md): no eventual read here is further behind. */
export const BEHIND_MS = 1_000;
const FOLLOWERS = 2;

/** A write that took effect. */
export interface Written {
  readonly atMs: number;
  readonly table: string;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

export interface ReplicatedTables {
  readonly execute: (command: unknown) => object;
  /** Everything that is stored, and how it is all put back to what it was. */
  readonly copy: () => () => void;
}

/**
 * Tables with followers, as DynamoDB has them: a strong read is answered by what was written last,
 * an eventual one by any of them. Each follower is behind by a time of its own, so that a later
 * read may be answered by what an earlier one had passed.
 */
export const replicatedTables = (
  nowMs: () => number,
  random: Random,
  onWrite: (written: Written) => void,
): ReplicatedTables => {
  const log: Written[] = [];
  const names = new Set<string>();
  const leader = memoryTables((table, before, after) => {
    const written = { atMs: nowMs(), table, before, after };
    names.add(table);
    log.push(written);
    onWrite(written);
  });
  const followers = Array.from({ length: FOLLOWERS }, () => newFollower(log));
  return {
    execute: (command) => {
      if (!isEventual(command)) return leader.execute(command);
      const at = random.int(0, FOLLOWERS);
      const follower = followers[at];
      if (!follower) return leader.execute(command);
      return follower(nowMs() - random.int(0, BEHIND_MS)).execute(command);
    },
    copy: () => {
      const itemsOf = (name: string): readonly Item[] =>
        [...leader.table(name).partitions.values()].flatMap((inside) => [...inside.values()]);
      const kept = [...names].map((name) => [name, itemsOf(name)] as const);
      return () => {
        for (const [name, items] of kept) {
          const keys = new Set(items.map(keyText));
          for (const item of itemsOf(name).filter((one) => !keys.has(keyText(one))))
            leader.execute(deletion(name, item));
          for (const item of items) leader.execute(insertion(name, item));
        }
      };
    },
  };
};

const newFollower = (log: readonly Written[]) => {
  const tables = memoryTables();
  let at = 0;
  /** The tables as they were at an instant, or later where an earlier read has gone further. */
  return (untilMs: number): Pick<ReturnType<typeof memoryTables>, "execute"> => {
    for (let next = log[at]; next && next.atMs <= untilMs; next = log[++at]) {
      const { table, before, after } = next;
      tables.execute(after ? insertion(table, after) : deletion(table, before ?? {}));
    }
    return tables;
  };
};

const insertion = (table: string, item: Item): PutItemCommand =>
  new PutItemCommand({ TableName: table, Item: { ...item } });

const deletion = (table: string, item: Item): DeleteItemCommand =>
  new DeleteItemCommand({
    TableName: table,
    Key: { pk: item["pk"] ?? { S: "" }, sk: item["sk"] ?? { S: "" } },
  });

const keyText = ({ pk, sk }: Item): string => `${pk?.S} ${sk?.S}`;

const isEventual = (command: unknown): boolean => {
  if (command instanceof GetItemCommand || command instanceof QueryCommand)
    return command.input.ConsistentRead !== true;
  return (
    command instanceof BatchGetItemCommand &&
    Object.values(command.input.RequestItems ?? {}).every((one) => one.ConsistentRead !== true)
  );
};
