import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { apiHandler } from "../../functions/api.ts";
import { COMMAND_PATHS, KEY_HEADER } from "../../lib/answers/api/paths.ts";
import { ask } from "../api/world.ts";
import { fillWith, kubernetes } from "../cluster/stand-in/kubernetes.ts";
import { startMemory } from "../contracts/engines.ts";
import { testTables } from "../sync/world.ts";
import type { Attack, Seen } from "./attack.ts";
import { checkoutOf } from "./checkout.ts";
import { subjectOn } from "./subject.ts";

const SECRET = "words-of-a-host-inside-the-vpc";

interface Asked {
  readonly posts: number;
  /** What the sync was answered, as text. */
  readonly answers: string;
}

/**
 * A sync of a WatermarkPodAutoscaler that `apply` stored, whose recommender is a host of the
 * network of the functions.
 */
const asked = async (
  folder: string,
  user: string,
  allowed: (port: number) => readonly string[],
): Promise<Asked> => {
  const server = await kubernetes();
  fillWith(server, [["shop", "web"]]);
  const owners = {
    ownerReferences: [{ kind: "ReplicaSet", name: "web-1", uid: "u-1", controller: true }],
  };
  for (const pod of server.collections.get("/api/v1/pods") ?? [])
    Object.assign(pod["metadata"] as object, owners);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
  let posts = 0;
  const host = createServer((_request, response) => {
    posts++;
    response.writeHead(500).end(SECRET);
  }).listen(0, "127.0.0.1");
  await once(host, "listening");
  const { port } = host.address() as AddressInfo;
  const recommender = {
    url: `http://${user}127.0.0.1:${port}/`,
    targetType: "cpu",
    highWatermark: "80",
    lowWatermark: "60",
  };
  const spec = {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 1,
    maxReplicas: 10,
    recommender,
  };
  const manifest = {
    apiVersion: "datadoghq.com/v1alpha1",
    kind: "WatermarkPodAutoscaler",
    metadata: { namespace: "shop", name: "web" },
    spec,
  };
  const answers: unknown[] = [];
  const subject = await subjectOn(await checkoutOf(folder), server, {
    record: { recommenderHosts: allowed(port) },
    manifests: [JSON.stringify(manifest)],
    client: (client) => ({
      ...client,
      recommend: async (...call) => {
        const answer = await client.recommend(...call);
        answers.push(answer);
        return answer;
      },
    }),
  });
  await subject.next();
  subject.client.close();
  host.close();
  await server.close();
  return { posts, answers: JSON.stringify(answers) };
};

const times = (posts: number): string => `the host inside the network was asked ${posts} times`;

/** An edit of the list of hosts by the URL that may not connect clusters. */
const lifted = async (folder: string): Promise<Seen> => {
  const code = await checkoutOf(folder);
  const made: { readonly apiHandler: typeof apiHandler } = await import(
    pathToFileURL(join(folder, "functions/api.ts")).href
  );
  const engine = await startMemory();
  const tables = testTables(engine.client, engine.tables, Date.now);
  const parts = {
    tables,
    insert: code.insertByStatement(tables),
    clock: Date.now,
    newUid: () => "uid-1",
    reporter: { line: () => {} },
  };
  const [edit, connect] = [
    { kind: "elsewhere", url: "https://connect.example/" } as const,
    { kind: "here" } as const,
  ].map((connecting) => made.apiHandler({ ...parts, connecting }));
  if (!edit || !connect) throw new TypeError("there are two functions");
  const cluster = { name: "eu-1", connection: { kind: "secret", secretId: "tidemark-prod/eu-1" } };
  const headers = (key: string) => ({
    [KEY_HEADER]: `key-of-the-attack-${key}`,
    "content-type": "application/json",
  });
  const added = await ask(connect, {
    path: COMMAND_PATHS.addCluster,
    headers: headers("1"),
    body: JSON.stringify(cluster),
  });
  const body = JSON.stringify({ name: "eu-1", recommenderHosts: ["*"] });
  const { status, text } = await ask(edit, {
    path: COMMAND_PATHS.replaceCluster,
    headers: headers("2"),
    body,
  });
  return {
    held: added.status === 200 && status !== 200,
    saw: `the cluster was added (${added.status}); the edit URL answered ${status}: ${text.slice(0, 160)}`,
  };
};

/** Point 1.5. */
export const ATTACKS: readonly Attack[] = [
  {
    name: "a recommender inside the network, in a manifest that is applied",
    play: async (folder) => {
      const { posts } = await asked(folder, "", () => []);
      return { held: posts === 0, saw: times(posts) };
    },
  },
  {
    name: "the answer of a recommender, to read a host inside the network",
    play: async (folder) => {
      const { posts, answers } = await asked(folder, "", (port) => [
        `http://127.0.0.1:${port}`,
        "127.0.0.1",
      ]);
      return {
        held: posts === 1 && !answers.includes(SECRET),
        saw: `${times(posts)}; the sync was answered ${answers}`,
      };
    },
  },
  {
    name: "a recommender with a user and a password in its URL",
    play: async (folder) => {
      const { posts, answers } = await asked(folder, "ada:s3cret@", (port) => [
        `http://127.0.0.1:${port}`,
        "127.0.0.1",
      ]);
      return {
        held: posts === 0 && !answers.includes("s3cret"),
        saw: `${times(posts)}; the sync was answered ${answers}`,
      };
    },
  },
  { name: "the list of recommender hosts, changed with the right to edit", play: lifted },
];
