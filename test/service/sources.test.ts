import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { SOURCES_PK } from "../../lib/stack/store/table/keys.ts";
import { type ServiceWorld, serviceWorld } from "./world/context.ts";

let world: ServiceWorld;
let ada: Service;
const prometheus = (name: string) =>
  ({
    name,
    kind: "prometheus",
    url: "https://prometheus.example.com",
    clusters: ["*"],
    namespaces: ["*"],
  }) as const;

beforeEach(async () => {
  world = await serviceWorld();
  ada = openService(world.context);
  await ada.putSource(prometheus("main"));
  await ada.putSource(prometheus("other"));
  // A field of a later version may be a limit that this version does not know, so that the record
  // is not used.
  await world.tables.client.send(
    new UpdateItemCommand({
      TableName: world.tables.stateTable,
      Key: { pk: { S: SOURCES_PK }, sk: { S: "main" } },
      UpdateExpression: "SET later = :later",
      ExpressionAttributeValues: { ":later": { S: "limit" } },
    }),
  );
});
afterEach(() => world.close());

it("a source whose record cannot be read is listed beside the others, with what to do", async () => {
  expect(await ada.sources()).toEqual([
    {
      name: "main",
      problem: expect.stringMatching(
        /^its record cannot be read: .*later.*; register it again, or delete it$/,
      ),
    },
    expect.objectContaining({ name: "other", kind: "prometheus" }),
  ]);
});

it("a source whose record cannot be read is replaced by registering it again", async () => {
  expect(await ada.putSource(prometheus("main"))).toMatchObject({ name: "main", changed: true });
  expect(await ada.sources()).toMatchObject([
    { name: "main", kind: "prometheus" },
    { name: "other" },
  ]);
});

it("a source whose record cannot be read can be deleted", async () => {
  await ada.deleteSource("main");
  expect(await ada.sources()).toMatchObject([{ name: "other" }]);
});
