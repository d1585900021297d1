import { describe, expect, it } from "vitest";
import { clusterClients } from "../../lib/cluster/clients.ts";
import type { ClusterClient } from "../../lib/cluster/port.ts";
import { MAX_CLIENTS } from "../../lib/cluster/request-limits.ts";
import { clusterName } from "../../lib/model/ids.ts";

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
const record = (name: string, version = 1) => ({ name: clusterName(name), version, connection: { kind: "kubeconfig", path: "config" } }) as const;

describe("clusterClients()", () => {
  it("gives the same client for the same version, also to calls that come at once", async () => {
    const { clients, log } = opened();
    const [one, two] = await Promise.all([clients.clientFor(record("eu-1")), clients.clientFor(record("eu-1"))]);
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
    for (let index = 0; index < MAX_CLIENTS; index++) await clients.clientFor(record(`c-${index}`));
    await clients.clientFor(record("c-0"));
    await clients.clientFor(record("one-more"));
    expect(log.filter((line) => line.startsWith("close"))).toEqual(["close c-1 1"]);
  });

  it("closes every client that it gave", async () => {
    const { clients, log } = opened();
    await clients.clientFor(record("eu-1"));
    await clients.clientFor(record("us-1"));
    await clients.closeAll();
    expect(log.filter((line) => line.startsWith("close"))).toEqual(["close eu-1 1", "close us-1 1"]);
  });
});
