import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inside } from "../cli/inside.ts";
import { imported } from "../manifest/import/keda-shapes/schema.ts";
import { HAS_MOTO, type Moto, motoServer } from "../source-client/moto.ts";
import { HAS_PROMETHEUS, scrapingPrometheus } from "../source-client/real-prometheus.ts";
import {
  GUEST,
  HAS_RABBITMQ,
  type RealRabbitmq,
  realRabbitmq,
} from "../source-client/real-rabbitmq.ts";
import { type QueueRun, queueRun } from "./queue-run.ts";

const METRIC = "http: { source: jobs, path: /api/queues/%2F/orders, pointer: /messages }";

describe.skipIf(!HAS_RABBITMQ)("a RabbitMQ of Debian", { timeout: 240_000 }, () => {
  let rabbitmq: RealRabbitmq;
  let account: Moto | undefined;
  let orders: QueueRun;
  beforeAll(async () => {
    rabbitmq = await realRabbitmq();
    account = HAS_MOTO ? await motoServer() : undefined;
    orders = queueRun(METRIC);
  }, 180_000);
  afterAll(async () => {
    vi.unstubAllEnvs();
    await account?.close();
    await rabbitmq.close();
    orders.remove();
  });

  /** The password of a source is in Secrets Manager, also of an embedded run. */
  const storeSecret = async (name: string, content: object): Promise<void> => {
    vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", account?.url ?? "");
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "a");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "b");
    const sdk = await import("@aws-sdk/client-secrets-manager");
    const client = new sdk.SecretsManagerClient({});
    await client.send(
      new sdk.CreateSecretCommand({ Name: name, SecretString: JSON.stringify(content) }),
    );
    client.destroy();
  };

  it.skipIf(!HAS_MOTO)("scales from zero by its management API, and back to zero", async () => {
    await rabbitmq.publish("orders", 0);
    await rabbitmq.counted("orders", 0);
    await orders.run(1);
    await storeSecret("local/source.jobs", { url: rabbitmq.url, ...GUEST });
    const put = await inside([
      ...["source", "put", "jobs", "--kind", "http", "--url", rabbitmq.url, "--private"],
      ...["--auth", "basic", "--secret", "local/source.jobs"],
      ...["--for-cluster", "*", "--for-namespace", "*", ...orders.data],
    ]);
    expect(put.out).toContain("Source jobs registered");
    const question = ["--path", "/api/queues/%2F/orders", "--pointer", "/messages"];
    const check = await inside(["source", "check", "jobs", ...question, ...orders.data]);
    expect(check.out).toMatch(/✓ +answer +the value 0 in /);
    expect(await orders.run(3)).toMatch(/shop\/orders \d+ → 0 applied/);

    await rabbitmq.publish("orders", 130);
    await rabbitmq.counted("orders", 130);
    const grown = await orders.run(3);
    expect(grown).toMatch(/shop\/orders 0 → 1 applied: Activated/);
    expect(grown).toMatch(/shop\/orders \d+ → 7 applied: MetricAboveTarget/);

    await rabbitmq.purge("orders");
    await rabbitmq.counted("orders", 0);
    expect(await orders.run(5)).toMatch(/shop\/orders \d+ → 0 applied/);
  });

  it.skipIf(!HAS_PROMETHEUS)("answers the query of a converted trigger by its plugin", async () => {
    await rabbitmq.publish("mail", 3);
    await rabbitmq.publish("mail-late", 4);
    const prometheus = await scrapingPrometheus({
      target: rabbitmq.metrics,
      path: "/metrics/per-object",
      everyMs: 500,
      host: "127.0.0.1",
    });
    try {
      const hosts = ["amqp://r:5672/", "http://r:15672/"];
      for (const trigger of [
        ...hosts.map((host) => ({ host, queueName: "mail" })),
        { host: hosts[1], queueName: "ail-l", useRegex: "true" },
      ]) {
        const { manifests } = imported("rabbitmq", trigger);
        const [metric] = (
          manifests[0] as unknown as { spec: { metrics: { prometheus: { query: string } }[] } }
        ).spec.metrics;
        const asked = new URL(`${prometheus.url}/api/v1/query`);
        asked.searchParams.set("query", metric?.prometheus.query ?? "");
        const value = async (): Promise<number> => {
          const answer = (await (await fetch(asked)).json()) as {
            data: { result: { value: [number, string] }[] };
          };
          return Number(answer.data.result[0]?.value[1]);
        };
        await expect
          .poll(value, { timeout: 20_000, interval: 300 })
          .toBe("useRegex" in trigger ? 4 : 3);
      }
    } finally {
      await prometheus.close();
    }
  });
});
