import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderLayout, TABLE_NAMES } from "../../lib/embedded/layout.ts";
import { startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/embedded/tables/tables-client.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { itemKey, pageKey } from "../../lib/stack/store/table/keys.ts";
import { FOREIGN } from "../service/world/damaged.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "grace" });

beforeAll(async () => {
  folder = await shopFolder();
  const engine = await startTables(folderLayout(folder.data).tables);
  const client = tablesClient(engine.endpoint);
  const key = itemKey(pageKey({ cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER }, 1, 0));
  await client.send(
    new PutItemCommand({
      TableName: TABLE_NAMES.stateTable,
      Item: { ...key, epoch: { N: "2" }, body: { B: FOREIGN } },
    }),
  );
  client.destroy();
  await engine.close();
});
afterAll(() => folder.remove());

describe("tidemark partition", () => {
  it("shows what cannot be read, and which autoscalers stand still", async () => {
    const { code, out } = await run("partition", "describe", "eu-1/default");
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(
        "Holding because of page 0:\n  infra/web\n  shop/api\n  shop/late\n  shop/web\n",
      ),
    ]);
    expect(out).toMatch(/^ {2}0 +4 +\d+ +unreadable: RangeError: version 77 is not known$/m);
    expect(
      JSON.parse((await run("partition", "describe", "eu-1", "-o", "json")).out),
    ).toMatchObject({ pages: [{ held: { length: 4 } }] });
  });

  it("is named in the description of an autoscaler that stands still", async () => {
    const { out } = await run("describe", "shop/web");
    expect(out).toContain(
      '  windows page 0 of partition "default" cannot be read: RangeError: version 77 is not known; see tidemark partition describe\n',
    );
  });

  it("shows what a reset would replace, and changes nothing", async () => {
    const shown = {
      code: 0,
      out: [
        'A reset of "eu-1/default" replaces:',
        "  windows page 0, for which 4 autoscalers hold: RangeError: version 77 is not known",
        "What they say is lost. The autoscalers then go on as if each had just been scaled as far as its rules allow.",
        "Nothing was changed: tidemark partition reset eu-1/default --yes replaces it\n",
      ].join("\n"),
      err: "",
    };
    expect([
      await run("partition", "reset", "eu-1"),
      await run("partition", "reset", "eu-1"),
    ]).toEqual([shown, shown]);
  });

  it("refuses a partition that is not there", async () => {
    expect(await run("partition", "reset", "eu-1/nothing", "--yes")).toMatchObject({
      code: 1,
      out: "",
    });
  });

  it("resets what cannot be read once, says where its bytes are, and then has nothing to reset", async () => {
    const { code, out } = await run("partition", "reset", "eu-1", "--yes");
    expect([code, out]).toEqual([
      0,
      [
        'Windows page 0 of "eu-1/default" reset: 4 autoscalers go on as if each had just been scaled as far as its rules allow',
        "  infra/web\n  shop/api\n  shop/late\n  shop/web",
        `The history keeps the ${FOREIGN.length} unreadable bytes under "kept#eu-1#default", "001772366400000#page#1#0"\n`,
      ].join("\n"),
    ]);
    expect((await run("describe", "shop/web")).out).toContain(
      "Scale up rate 4 pods in 60s: 1000000000 added, 0 removed",
    );
    const nothing =
      'Nothing to reset in "eu-1/default": its pages and intents can be read, and no time is ahead of the clock\n';
    for (const yes of [[], ["--yes"]])
      expect(await run("partition", "reset", "eu-1", ...yes)).toEqual({
        code: 0,
        out: nothing,
        err: "",
      });
  });
});
