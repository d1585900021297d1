import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningCluster, runCluster, workload } from "./running-cluster.ts";

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const names = ["ant", "bee", "cat", "dog", "eel"];
let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await runCluster({ workloads: names.map((name) => workload({ name, startupMs: { min: 30_000, max: 30_000 } })) });
});
afterAll(() => cluster.remove());

const list = async (query: string): Promise<List> => (await cluster.fetch(`/apis/apps/v1/deployments?${query}`)).json as List;
const namesOf = ({ items }: List) => items.map(({ metadata }) => metadata.name);
const scale = (name: string, replicas: number) =>
  cluster.fetch(`/apis/apps/v1/namespaces/shop/deployments/${name}/scale`, { method: "PUT", body: { spec: { replicas } } });

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
    expect((await list("fieldSelector=metadata.name%3Dbee")).items[0]).toMatchObject({ spec: { replicas: 7 } });
  });

  it("are refused with 410 once the list is forgotten, with a token for the rest as it now is", async () => {
    const first = await list("limit=3");
    for (let replicas = 10; replicas < 30; replicas++) {
      await scale("dog", replicas);
      await list("limit=1");
    }
    const late = await cluster.fetch(`/apis/apps/v1/deployments?continue=${first.metadata.continue}`);
    expect(late.code).toBe(410);
    expect(late.json).toMatchObject({ kind: "Status", reason: "Expired", code: 410 });
    const { metadata } = late.json as List;
    const rest = await list(`continue=${metadata.continue}`);
    expect(namesOf(rest)).toEqual(["dog", "eel"]);
    expect(rest.items[0]).toMatchObject({ spec: { replicas: 29 } });
  });

  it.each(["nonsense", "e30", "bnVsbA"])("are refused with 400 for the made-up token %s", async (token) => {
    const answer = await cluster.fetch(`/apis/apps/v1/deployments?continue=${token}`);
    expect(answer.json).toMatchObject({ kind: "Status", code: 400, reason: "BadRequest" });
  });

  it("are refused with 400 for a limit that is no number", async () => {
    expect((await cluster.fetch("/apis/apps/v1/deployments?limit=few")).code).toBe(400);
  });
});
