import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inKeyOrder, Pages } from "../../../lib/embedded/cluster/list-answer.ts";
import { type RunningCluster, runCluster, workload } from "./running-cluster.ts";

interface List {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const names = ["ant", "bee", "cat", "dog", "eel"];
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster({
    workloads: names.map((name) => workload({ name, startupMs: { min: 30_000, max: 30_000 } })),
  });
});
afterAll(() => cluster.remove());

const list = async (query: string): Promise<List> =>
  (await cluster.fetch(`/apis/apps/v1/deployments?${query}`)).json as List;
const namesOf = ({ items }: List) => items.map(({ metadata }) => metadata.name);
const scale = (name: string, replicas: number) =>
  cluster.fetch(`/apis/apps/v1/namespaces/shop/deployments/${name}/scale`, {
    method: "PUT",
    body: { spec: { replicas } },
  });

describe("pages of a list", () => {
  it("follow each other without loss", async () => {
    const first = await list("limit=2");
    expect(namesOf(first)).toEqual(["ant", "bee"]);
    expect(first.metadata.remainingItemCount).toBe(3);
    const second = await list(`limit=2&continue=${first.metadata.continue}`);
    expect(namesOf(second)).toEqual(["cat", "dog"]);
    const third = await list(`limit=2&continue=${second.metadata.continue}`);
    expect(namesOf(third)).toEqual(["eel"]);
    expect(third.metadata.continue).toBeUndefined();
  });

  it.each([5, 6, 0, -1])("are one page with limit %i", async (limit) => {
    const whole = await list(`limit=${limit}`);
    expect(namesOf(whole)).toEqual(names);
    expect(whole.metadata.continue).toBeUndefined();
  });

  it("are one page at resourceVersion 0, whatever the limit", async () => {
    expect(namesOf(await list("limit=2&resourceVersion=0"))).toEqual(names);
  });

  it("show the list as of its first page while the cluster moves", async () => {
    const first = await list("limit=1");
    await scale("bee", 7);
    const second = await list(`continue=${first.metadata.continue}`);
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(second.items[0]).toMatchObject({ metadata: { name: "bee" }, spec: { replicas: 2 } });
    expect((await list("fieldSelector=metadata.name%3Dbee")).items[0]).toMatchObject({
      spec: { replicas: 7 },
    });
  });

  it("are refused with 410 once the list is forgotten, with a token for the rest as it now is", async () => {
    const first = await list("limit=3");
    for (let replicas = 10; replicas < 30; replicas++) {
      await scale("dog", replicas);
      await list("limit=1");
    }
    const late = await cluster.fetch(
      `/apis/apps/v1/deployments?continue=${first.metadata.continue}`,
    );
    expect(late.code).toBe(410);
    expect(late.json).toMatchObject({ kind: "Status", reason: "Expired", code: 410 });
    const { metadata } = late.json as List;
    const rest = await list(`continue=${metadata.continue}`);
    expect(namesOf(rest)).toEqual(["dog", "eel"]);
    expect(rest.items[0]).toMatchObject({ spec: { replicas: 29 } });
  });

  it.each(["nonsense", "e30", "bnVsbA"])(
    "are refused with 400 for the made-up token %s",
    async (token) => {
      const answer = await cluster.fetch(`/apis/apps/v1/deployments?continue=${token}`);
      expect(answer.json).toMatchObject({ kind: "Status", code: 400, reason: "BadRequest" });
    },
  );

  it("are refused with 400 for a limit that is no number", async () => {
    expect((await cluster.fetch("/apis/apps/v1/deployments?limit=few")).code).toBe(400);
  });
});

describe("the pages of a list that is kept", () => {
  const object = (namespace: string, name: string) => ({ metadata: { namespace, name } });
  // "-" sorts before "/", so that the namespace with the longer name is first.
  const NAMESPACES = ["team", "team-1", "team0"];
  const objects = inKeyOrder(
    NAMESPACES.flatMap((namespace) => names.map((name) => object(namespace, name))),
  );

  it.each([1, 2, 3, 7, 14, 15])(
    "have all objects in the order of their keys, %i on each, and the objects of the cluster are gathered once",
    (limit) => {
      const pages = new Pages();
      let gathered = 0;
      const items = () => {
        gathered++;
        return objects;
      };
      const found: unknown[] = [];
      let token: string | undefined = "";
      while (token !== undefined) {
        const query: URLSearchParams = new URLSearchParams({
          limit: String(limit),
          ...(token !== "" && { continue: token }),
        });
        const page = pages.page({ of: "/pods", version: 7, items }, query);
        found.push(...page.items);
        token = page.metadata.continue;
      }
      expect(found).toEqual(objects);
      expect(found[0]).toEqual(object("team-1", "ant"));
      expect(gathered).toBe(1);
    },
  );
});
