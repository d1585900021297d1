import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import { type ServiceWorld, serviceWorld, tablesOnDisk } from "./world/context.ts";
import { documents, hpa } from "./world/manifests.ts";

let world: ServiceWorld;
beforeAll(async () => {
  // Pages end where those of a deployed stack do.
  world = await serviceWorld("ada", tablesOnDisk);
  await openService(world.context).addCluster({
    name: "eu-1",
    connection: { kind: "kubeconfig", path: "/kube/config" },
  });
});
afterAll(() => world.close());

/** Requests to the tables by kind while something is applied. */
const requests = async (text: string): Promise<string> => {
  const counts = new Map<string, number>();
  const { client } = world.tables;
  const send = client.send.bind(client);
  const counting = new Proxy(client, {
    get: (target, property) => {
      if (property !== "send") return Reflect.get(target, property);
      return (
        command: { readonly constructor: { readonly name: string } },
        ...rest: readonly unknown[]
      ) => {
        const kind = command.constructor.name.replace("Command", "");
        counts.set(kind, (counts.get(kind) ?? 0) + 1);
        return Reflect.apply(send, target, [command, ...rest]);
      };
    },
  });
  const service = openService({ ...world.context, tables: { ...world.tables, client: counting } });
  await service.apply([{ file: "a.yaml", text }], { cluster: "eu-1", dryRun: false });
  return [...counts]
    .toSorted()
    .map(([kind, times]) => `${times} ${kind}`)
    .join(", ");
};

const hundred = (max: number): string =>
  documents(...Array.from({ length: 100 }, (_, index) => hpa(`web-${index}`, { max })));

describe("the requests of apply(), as docs/api.md counts them (the inserts go by another client here)", () => {
  it.each([
    ["a new manifest", hpa("web"), "3 GetItem, 1 PutItem, 1 Query, 2 UpdateItem"],
    ["the same again", hpa("web"), "3 GetItem, 1 Query, 2 UpdateItem"],
    ["a change", hpa("web", { max: 20 }), "4 GetItem, 1 PutItem, 1 Query, 2 UpdateItem"],
    ["a hundred new ones", hundred(10), "3 GetItem, 100 PutItem, 1 Query, 2 UpdateItem"],
    ["a hundred without a change", hundred(10), "3 GetItem, 1 Query, 2 UpdateItem"],
  ])("are so many for %s", async (_, text, expected) =>
    expect(await requests(text)).toBe(expected),
  );
});
