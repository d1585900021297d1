import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderLayout } from "../../lib/local/folder/layout.ts";
import { TABLE_NAMES } from "../../lib/local/run/names.ts";
import { startTables } from "../../lib/local/tables/embedded-tables.ts";
import { tablesClient } from "../../lib/local/tables/tables-client.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/model/ids.ts";
import { itemKey, pageKey } from "../../lib/store/table/keys.ts";
import { FOREIGN } from "../service/world/damaged.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data], { by: "grace" });

beforeAll(async () => {
  folder = await shopFolder();
  const engine = await startTables(folderLayout(folder.data).tables);
  const client = tablesClient(engine.endpoint);
  const key = itemKey(pageKey({ cluster: clusterName("eu-1"), partition: WHOLE_CLUSTER }, 1, 0));
  await client.send(new PutItemCommand({ TableName: TABLE_NAMES.stateTable, Item: { ...key, epoch: { N: "2" }, body: { B: FOREIGN } } }));
  client.destroy();
  await engine.close();
});
afterAll(() => folder.remove());

describe("tidemark partition", () => {
  it("shows what cannot be read, and which autoscalers stand still", async () => {
    const { code, out } = await run("partition", "describe", "eu-1/default");
    expect([code, out]).toEqual([0, expect.stringContaining("Holding because of page 0:\n  infra/web\n  shop/api\n  shop/late\n  shop/web\n")]);
    expect(out).toMatch(/^ {2}0 +4 +\d+ +unreadable: RangeError: version 77 is not known$/m);
    expect(JSON.parse((await run("partition", "describe", "eu-1", "-o", "json")).out)).toMatchObject({ pages: [{ held: { length: 4 } }] });
  });

  it("is named in the description of an autoscaler that stands still", async () => {
    const { out } = await run("describe", "shop/web");
    expect(out).toContain(
      '  windows page 0 of partition "default" cannot be read: RangeError: version 77 is not known; see tidemark partition describe\n',
    );
  });

  it.each([
    [
      ["reset-windows", "eu-1", "--page", "0"],
      1,
      'Cannot reset windows page 0 of "eu-1": the history of its windows is lost; check it with tidemark partition describe, then add --yes',
    ],
    [["reset-windows", "eu-1", "--page", "x", "--yes"], 1, 'Cannot read --page "x": give the number of a page from tidemark partition describe'],
    [
      ["reset-intent", "eu-1", "--intent", "a:1"],
      1,
      'Cannot reset intent "a:1" of "eu-1": its content is lost; check it with tidemark partition describe, then add --yes',
    ],
    [
      ["reset-intent", "eu-1", "--intent", "a:1", "--yes"],
      1,
      'Cannot reset intent "a:1" of "eu-1/default": no open intent has this id; see tidemark partition describe',
    ],
    [
      ["reset-time", "eu-1"],
      1,
      'Cannot reset the time of "eu-1": what autoscalers did whose windows have a time ahead of the clock is forgotten; check it with tidemark partition describe, then add --yes',
    ],
    [["reset-windows", "us-1", "--page", "0", "--yes"], 1, 'Cannot reset windows page 0 of "us-1/default": it has no pages yet'],
  ])("refuses %j", async (args, code, message) => {
    expect(await run("partition", ...args)).toEqual({ code, out: "", err: `error: ${message}\n` });
  });

  it("resets a page once, and says where its bytes are", async () => {
    const { code, out } = await run("partition", "reset-windows", "eu-1", "--page", "0", "--yes");
    expect([code, out]).toEqual([
      0,
      [
        'Windows page 0 of "eu-1/default" reset: 4 autoscalers go on as if each had just been scaled as far as its rules allow',
        "  infra/web\n  shop/api\n  shop/late\n  shop/web",
        `The history keeps the ${FOREIGN.length} unreadable bytes under "kept#eu-1#default", "001772366400000#page#1#0"\n`,
      ].join("\n"),
    ]);
    expect((await run("describe", "shop/web")).out).toContain("Scale up rate 4 pods in 60s: 1000000000 added, 0 removed");
    expect(await run("partition", "reset-windows", "eu-1", "--page", "0", "--yes")).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot reset windows page 0 of "eu-1/default": it can be read, so no reset is needed\n',
    });
  });
});
