import { afterAll, beforeAll, describe, it } from "vitest";
import { ensureTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import { TABLES } from "./alarm-stack.ts";
import { type Day, OWNERS, openDay, SCENES } from "./day.ts";
import { HAS_DYNOXIDE, startDynoxide } from "./lambda/dynoxide.ts";
import { sharedStack } from "./shared-stack.ts";

const closing: (() => Promise<void>)[] = [];
let day: Day;

beforeAll(async () => {
  if (!HAS_DYNOXIDE) return;
  const stack = await sharedStack();
  closing.push(stack.done);
  const dynoxide = await startDynoxide();
  closing.push(dynoxide.stop);
  const client = tablesClient(dynoxide.endpoint);
  closing.push(async () => client.destroy());
  await ensureTables(client, tableDefinitions(TABLES));
  day = await openDay({
    folder: stack.folder,
    stack,
    dynamodb: dynoxide.endpoint,
    client,
    tables: TABLES,
    parameters: OWNERS,
  });
  closing.push(day.close);
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

describe.skipIf(!HAS_DYNOXIDE)(
  "a day of the fleet, which needs the table engine @dynoxide/linux-x64",
  () => {
    it.each(Object.entries(SCENES))("%s", (_, scene) => scene(day), 120_000);
  },
);
