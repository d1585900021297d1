import { describe, expect, it } from "vitest";
import { CLIENTS_LEAST, clientsThatFit, clusterClients } from "../../lib/stack/cluster/connect.ts";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";

const opened = () => {
  const log: string[] = [];
  let failures = 0;
  const clients = clusterClients({ clock: () => 0 }, async ({ name, version }) => {
    log.push(`open ${name} ${version}`);
    if (failures-- > 0) throw new Error("secret not found");
    const client: Partial<ClusterClient> = { close: () => log.push(`close ${name} ${version}`) };
    return client as ClusterClient;
  });
  return { log, clients, failNext: () => (failures = 1) };
};
const record = (name: string, version = 1) =>
  ({
    name: clusterName(name),
    uid: `uid-of-${name}`,
    version,
    connection: { kind: "kubeconfig", path: "config" },
  }) as const;

describe("clusterClients()", () => {
  it("gives the same client for the same version, also to calls that come at once", async () => {
    const { clients, log } = opened();
    const [one, two] = await Promise.all([
      clients.clientFor(record("eu-1")),
      clients.clientFor(record("eu-1")),
    ]);
    expect(one).toBe(two);
    expect(log).toEqual(["open eu-1 1"]);
  });

  it("closes the client of an older version", async () => {
    const { clients, log } = opened();
    await clients.clientFor(record("eu-1", 1));
    await clients.clientFor(record("eu-1", 2));
    expect(log.toSorted()).toEqual(["close eu-1 1", "open eu-1 1", "open eu-1 2"]);
  });

  it("never gives the client of a cluster that was removed to another one that was added under its name", async () => {
    const { clients, log } = opened();
    const first = await clients.clientFor({ ...record("eu-1", 1), uid: "a" });
    const second = await clients.clientFor({ ...record("eu-1", 1), uid: "b" });
    expect(second).not.toBe(first);
    expect(log.toSorted()).toEqual(["close eu-1 1", "open eu-1 1", "open eu-1 1"]);
  });

  it("tries anew after a failure", async () => {
    const { clients, log, failNext } = opened();
    failNext();
    await expect(clients.clientFor(record("eu-1"))).rejects.toThrow("secret not found");
    await clients.clientFor(record("eu-1"));
    expect(log).toEqual(["open eu-1 1", "open eu-1 1"]);
  });

  it("keeps no more than it may: the one not used for longest goes", async () => {
    const { clients, log } = opened();
    for (let index = 0; index < CLIENTS_LEAST; index++)
      await clients.clientFor(record(`c-${index}`));
    await clients.clientFor(record("c-0"));
    await clients.clientFor(record("one-more"));
    expect(log.filter((line) => line.startsWith("close"))).toEqual(["close c-1 1"]);
  });

  it("closes every client that it gave", async () => {
    const { clients, log } = opened();
    await clients.clientFor(record("eu-1"));
    await clients.clientFor(record("us-1"));
    await clients.closeAll();
    expect(log.filter((line) => line.startsWith("close"))).toEqual([
      "close eu-1 1",
      "close us-1 1",
    ]);
  });
});

describe("clientsThatFit()", () => {
  it("follows the memory of the function, so that an environment that serves all clusters in turn opens each once", () => {
    expect([512, 640, 1_024].map(clientsThatFit)).toEqual([424, 680, 1_448]);
  });

  it("never gives less room than for 64 clients, also where the memory is small or not known", () => {
    expect([0, 128, 256, Number.NaN].map(clientsThatFit)).toEqual([64, 64, 64, 64]);
  });

  it("opens no client again while there is room for all clusters, and each of them in each round where there is not", async () => {
    const openedOf = async (clusters: number, most: number): Promise<number> => {
      let count = 0;
      const open = async (): Promise<ClusterClient> => {
        count++;
        return { close: () => undefined } as unknown as ClusterClient;
      };
      const { clientFor } = clusterClients({ clock: () => 0 }, open, most);
      for (let round = 0; round < 3; round++)
        for (let at = 0; at < clusters; at++) await clientFor(record(`c-${at}`));
      return count;
    };
    expect(await openedOf(100, clientsThatFit(512))).toBe(100);
    expect(await openedOf(100, CLIENTS_LEAST)).toBe(300);
  });
});
