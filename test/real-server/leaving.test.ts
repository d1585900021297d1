import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { inside } from "../cli/inside.ts";
import { MANIFESTS } from "./objects.ts";
import { onServer } from "./on-server.ts";
import { personKubeconfig, sessionOn } from "./person.ts";
import { until } from "./scene.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/migrating.md"), "utf8");
const BLOCK = /## Leaving\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? "";
/** The commands of the page, with the cluster, the kubeconfig and the folder of the test. */
const commandsFor = (kubeconfig: string, folder: string): readonly (readonly string[])[] =>
  BLOCK.split("\n")
    .filter((line) => line.startsWith("npx tidemark "))
    .map((line) =>
      line
        .replace("npx tidemark ", "")
        .replace(/ > .*/, "")
        .replaceAll("eu-1", "real")
        .replace("~/.kube/config", kubeconfig)
        .replace("-o audit", `-o ${join(folder, "audit")}`)
        .split(" "),
    );

onServer("leaving, as the page says", (newScene) => {
  it("gives every workload another controller or holds it, never moves a count, and forgets the cluster", {
    timeout: 120_000,
  }, async () => {
    const scene = await newScene("leaving");
    const { namespace, admin } = scene;
    const hpas = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
    const web = await scene.make("Deployment", "web", 2);
    const api = await scene.make("Deployment", "api", 2);
    await scene.running(web, 2);
    await scene.running(api, 2);
    await scene.metrics({ [`cpu ${namespace}/web`]: 200, [`cpu ${namespace}/api`]: 200 });
    await admin("POST", hpas, { ...MANIFESTS.hpa(web, "cpu"), metadata: { name: "web" } });
    await scene.apply(MANIFESTS.hpa(web, "cpu"), MANIFESTS.hpa(api, "cpu"));
    await until("the HPA decides", async () => {
      await scene.sync();
      return (await scene.service.get({ name: "web" })).state === "shadow";
    });
    const folder = mkdtempSync(join(tmpdir(), "tidemark-leaving-"));
    const person = personKubeconfig(scene);
    const open = sessionOn(scene);
    let over = false;
    const syncing = (async () => {
      while (!over) {
        await scene.sync();
        await wait(300);
      }
    })();
    try {
      const taken = await inside(["takeover", "web", "--kubeconfig", person], { open });
      expect(taken).toMatchObject({ code: 0, err: "" });
      const said: Record<string, string> = {};
      const commands = commandsFor(person, folder);
      expect(commands.map(([name]) => name)).toEqual([
        "handback",
        "pause",
        "get",
        "export",
        "delete",
        "cluster",
      ]);
      for (const words of commands) {
        if (words[0] === "delete") {
          // No sync decides beside what is deleted, as between two syncs.
          over = true;
          await syncing;
        }
        const { code, out, err } = await inside(words, { open });
        expect([words, code, err]).toEqual([words, 0, expect.not.stringContaining("error")]);
        said[words[0] ?? ""] = out;
      }
      const kept = parse(said["get"] ?? "") as {
        readonly items: readonly {
          readonly metadata: { readonly name: string };
          readonly spec: object;
        }[];
      };
      expect(kept.items.map(({ metadata }) => metadata.name).toSorted()).toEqual(["api", "web"]);
      // The API server takes the HPA of the file.
      const own = kept.items.find(({ metadata }) => metadata.name === "api");
      await admin("POST", hpas, {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "api" },
        spec: own?.spec ?? {},
      });
      const { items } = (await admin("GET", hpas)) as {
        readonly items?: readonly { readonly metadata: { readonly name: string } }[];
      };
      expect(items?.map(({ metadata }) => metadata.name).toSorted()).toEqual(["api", "web"]);
      expect(readFileSync(join(folder, "audit", "changes.csv"), "utf8")).toContain("handback");
      expect([await scene.replicas(web), await scene.replicas(api)]).toEqual([2, 2]);
      await expect(scene.service.cluster("real")).rejects.toThrow("real");
    } finally {
      over = true;
      await syncing;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
