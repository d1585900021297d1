import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { kubeconfigOf, readImport } from "../../lib/command/commands/import.ts";
import { handback, takeover } from "../../lib/command/commands/takeover.ts";
import type { Printer, Session } from "../../lib/command/io.ts";
import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { type AskedServer, askedServer, KUBE_SYSTEM, look } from "../cluster/check/looked-at.ts";
import { kubeconfigText } from "../control-plane/kubeconfig.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { hpa } from "../service/world/manifests.ts";

const IDENTITY = "/api/v1/namespaces/kube-system";
const ANOTHER = "7f0b0f5e-6a53-4c57-8f41-4f6f7c7b1d20";

let world: ServiceWorld;
/** The cluster that was added, and the one that the kubeconfig of a person leads to. */
let server: AskedServer;
let other: AskedServer;
let service: Service;
let dir: string;
let kubeconfig: string;
let said: string[];

beforeEach(async () => {
  [world, server, other] = await Promise.all([serviceWorld(), askedServer(), askedServer()]);
  isA(other, ANOTHER);
  service = openService({ ...world.context, checkConnection: () => look(server) });
  await service.addCluster({ name: "eu-1", connection: { kind: "secret", secretId: "prod/eu-1" } });
  await service.apply([{ file: "web.yaml", text: hpa("web", { namespace: "shop" }) }], {
    cluster: "eu-1",
    dryRun: false,
  });
  dir = mkdtempSync(join(tmpdir(), "tidemark-other-"));
  kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(other, { token: "t" }), { mode: 0o600 });
  said = [];
});
afterEach(async () => {
  await Promise.all([server.close(), other.close(), world.close()]);
  rmSync(dir, { recursive: true, force: true });
});

const isA = ({ documents }: AskedServer, uid: string): void =>
  void documents.set(IDENTITY, { kind: "Namespace", metadata: { name: "kube-system", uid } });

const QUERY = { cluster: "eu-1", namespace: "shop", name: "web" };
const RIVAL = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { namespace: "shop", name: "web", uid: "u-1" },
  spec: {},
};

const printer = {
  print: async () => true,
  report: (line: string) => void said.push(line),
  progress: () => undefined,
} as unknown as Printer;
const task = () => ({
  filter: {},
  resources: [QUERY],
  options: { kubeconfig, batch: "1", maxFailures: "0", output: "text" as const },
});
/** The view of an autoscaler beside another controller, which is ready to be taken over. */
const inShadow: Service["get"] = async (query) => ({
  ...(await service.get(query)),
  state: "shadow",
  rivals: [{ kind: "HorizontalPodAutoscaler", name: "web", uid: "u-1" }],
  metrics: [],
  currentReplicas: 2,
  desiredReplicas: 2,
});
const failure = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: unknown) => (isTidemarkError(error) ? error.message : String(error)),
  );
const paths = (): readonly string[] => [...new Set(other.seen.map(({ url }) => url.pathname))];

describe("a command with a kubeconfig of another cluster", () => {
  it("hands nothing back: it asks which cluster it is, and changes nothing here and there", async () => {
    await service.takeOver({ ...QUERY, rival: RIVAL });
    const session = { service } as Session;
    expect(await failure(handback(session, { printer, io: {} }, task()))).toMatch(
      /^Cannot hand back "eu-1\/shop\/web": .*another cluster answers.*nothing was changed$/,
    );
    expect(paths()).toEqual([IDENTITY]);
    expect((await service.get(QUERY)).paused).toBeUndefined();
  });

  it("hands nothing back where the person may not read which cluster it is", async () => {
    other.documents.delete(IDENTITY);
    await service.takeOver({ ...QUERY, rival: RIVAL });
    const session = { service } as Session;
    expect(await failure(handback(session, { printer, io: {} }, task()))).toMatch(
      /its identity was known and cannot be read any more \(404\).*nothing was changed$/,
    );
    expect(paths()).toEqual([IDENTITY]);
    expect((await service.get(QUERY)).paused).toBeUndefined();
  });

  it("takes nothing over, and records no takeover", async () => {
    const session = { service: { ...service, get: inShadow } } as Session;
    expect(await failure(takeover(session, { printer, io: {} }, task()))).toMatch(
      /^Cannot take over "eu-1\/shop\/web": .*another cluster answers.*nothing was changed$/,
    );
    expect(paths()).toEqual([IDENTITY]);
    const changes = await Array.fromAsync(service.changes(QUERY));
    expect(changes.map(({ verb }) => verb)).toEqual(["apply"]);
  });

  it("imports nothing for the cluster that is named, and reads any cluster for none", async () => {
    const session = { service } as Session;
    const options = { kubeconfig, cluster: "eu-1", as: "same" as const };
    const named = await readImport(await kubeconfigOf(options, session), options);
    expect(named.manifests).toEqual([]);
    expect(named.unread.length).toBeGreaterThan(0);
    expect(named.unread.join()).toContain("another cluster answers");
    expect(paths()).toEqual([IDENTITY]);
    await readImport(await kubeconfigOf(options, undefined), options);
    expect(paths().length).toBeGreaterThan(1);
  });

  it.each(["v1alpha2", "v1alpha1"])("imports DatadogPodAutoscalers of %s", async (version) => {
    const names =
      version === "v1alpha2"
        ? { policy: "applyPolicy", objectives: "objectives" }
        : { policy: "policy", objectives: "targets" };
    const value = { type: "Utilization", utilization: 70 };
    other.collections.set(`/apis/datadoghq.com/${version}/datadogpodautoscalers`, [
      {
        metadata: { name: "web", namespace: "shop", uid: "u-2", resourceVersion: "7" },
        spec: {
          targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          owner: "Local",
          constraints: { minReplicas: 2, maxReplicas: 40 },
          [names.objectives]: [{ type: "PodResource", podResource: { name: "cpu", value } }],
        },
      },
    ]);
    const options = { kubeconfig, as: "native" as const };
    const { manifests, unread } = await readImport(await kubeconfigOf(options, undefined), options);
    expect(unread).toEqual([]);
    expect(manifests).toEqual([
      expect.objectContaining({
        kind: "PodAutoscaler",
        spec: expect.objectContaining({ minReplicas: 2, maxReplicas: 40 }),
      }),
    ]);
  });

  it("goes on where the cluster is the stored one", async () => {
    isA(other, KUBE_SYSTEM);
    const session = { service: { ...service, get: inShadow } } as Session;
    // It is asked for the right and for the object, which it does not have.
    expect(await failure(takeover(session, { printer, io: {} }, task()))).toContain(
      "is gone already",
    );
    expect(said).toEqual([]);
  });

  it("says that nothing compares it where no identity is stored", async () => {
    await service.replaceCluster({
      name: "eu-1",
      connection: { kind: "secret", secretId: "prod/eu-1" },
      force: true,
    });
    const session = { service: { ...service, get: inShadow } } as Session;
    await failure(takeover(session, { printer, io: {} }, task()));
    expect(said.join()).toContain('The identity of cluster "eu-1" is not stored');
  });
});
