import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import { HAS_MOTO, type Moto, motoServer } from "./moto.ts";
import { ask, keyOf, type PrometheusServer, prometheusServer, sourceRecord } from "./scene.ts";

/**
 * The secrets of sources in Secrets Manager of an emulated account, and a real server that gets
 * them.
 */
describe.skipIf(!HAS_MOTO)("the secret of a source", () => {
  let emulator: Moto;
  let server: PrometheusServer;
  let nowMs = Date.now();
  const secrets: Record<string, (text: string) => Promise<unknown>> = {};

  beforeAll(async () => {
    emulator = await motoServer();
    const { CreateSecretCommand, PutSecretValueCommand, SecretsManagerClient } = await import(
      "@aws-sdk/client-secrets-manager"
    );
    const client = new SecretsManagerClient({
      endpoint: emulator.url,
      region: "eu-central-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
    });
    for (const name of ["tidemark/source.main", "tidemark/source.other", "tidemark/eu-1"]) {
      await client.send(new CreateSecretCommand({ Name: name, SecretString: "{}" }));
      secrets[name] = async (text): Promise<unknown> =>
        client.send(new PutSecretValueCommand({ SecretId: name, SecretString: text }));
    }
  }, 60_000);
  afterAll(() => emulator.close());
  beforeEach(async () => {
    server = await prometheusServer();
    vi.stubEnv("AWS_ENDPOINT_URL", emulator.url);
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close();
  });

  const stored = (content: object, name = "tidemark/source.main") =>
    secrets[name]?.(JSON.stringify(content));
  const source = (auth: MetricSourceRecord["auth"]): MetricSourceRecord =>
    sourceRecord({ url: server.url, timeoutSeconds: 3, ...(auth && { auth }) });
  const bearer = source.bind(undefined, { kind: "bearer", secretId: "tidemark/source.main" });
  const asked = async (of: MetricSourceRecord) => {
    const client = sourceClient({ clock: () => nowMs, ownAddresses: true });
    const once = async () =>
      (await client.ask(of, [ask("up")], { cluster: "eu-1", leftMs: () => 10_000 })).get(
        keyOf("up"),
      );
    return { once, close: client.close };
  };
  const answerOf = async (of: MetricSourceRecord) => {
    const { once, close } = await asked(of);
    const answer = await once();
    close();
    return answer;
  };

  it.each<
    readonly [NonNullable<MetricSourceRecord["auth"]>, object, Readonly<Record<string, string>>]
  >([
    [
      { kind: "bearer", secretId: "tidemark/source.main" },
      { token: "abc" },
      { authorization: "Bearer abc" },
    ],
    [
      { kind: "basic", secretId: "tidemark/source.main" },
      { username: "u", password: "p" },
      { authorization: `Basic ${btoa("u:p")}` },
    ],
    [
      { kind: "headers", secretId: "tidemark/source.main" },
      { headers: { "dd-api-key": "k1", "dd-application-key": "k2" } },
      { "dd-api-key": "k1", "dd-application-key": "k2" },
    ],
    [
      { kind: "header", secretId: "tidemark/source.main", header: "x-api-key" },
      { value: "k-1" },
      { "x-api-key": "k-1" },
    ],
  ])("is sent as %j says", async (auth, credential, headers) => {
    await stored({ url: server.url, ...credential });
    expect(await answerOf(source(auth))).toMatchObject({ kind: "answered" });
    expect(server.seen.at(-1)?.headers).toMatchObject(headers);
  });

  it("gets a token for its client, again before the token ends", async () => {
    const tokens = await prometheusServer();
    let made = 0;
    tokens.answer = (_query, response) => {
      made++;
      response.end(
        JSON.stringify({ access_token: `t-${made}`, token_type: "Bearer", expires_in: 120 }),
      );
    };
    await stored({
      url: server.url,
      tokenUrl: `${tokens.url}/token`,
      clientId: "app",
      clientSecret: "hush",
    });
    const { once, close } = await asked(
      source({ kind: "oauth2", secretId: "tidemark/source.main" }),
    );
    for (const afterMs of [0, 59_000, 2_000]) {
      nowMs += afterMs;
      expect(await once()).toMatchObject({ kind: "answered" });
    }
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t-1",
      "Bearer t-1",
      "Bearer t-2",
    ]);
    tokens.answer = (_query, response) => void response.writeHead(401).end('{"error":"hush"}');
    nowMs += 61_000;
    const refused = JSON.stringify(await once());
    expect(refused).toContain("its token server answered 401");
    expect(refused).not.toContain("hush");
    expect(server.seen).toHaveLength(3);
    close();
    await tokens.close();
  });

  it.each(["authorization", "host", "X-Key", "x-forwarded-for"])(
    "with several headers sends no %s",
    async (header) => {
      await stored({ url: server.url, headers: { [header]: "hush" } });
      const answer = await answerOf(source({ kind: "headers", secretId: "tidemark/source.main" }));
      expect(answer).toMatchObject({ failure: { reason: "NoCredential" } });
      expect(JSON.stringify(answer)).toContain("has a header that a source may not send");
      expect(JSON.stringify(answer)).not.toContain("hush");
      expect(server.seen).toEqual([]);
    },
  );

  it("is read again after five minutes, and not before", async () => {
    await stored({ url: server.url, token: "first" });
    const { once, close } = await asked(bearer());
    const tokens: (string | undefined)[] = [];
    for (const later of [0, 60_000, 300_000]) {
      nowMs += later;
      await once();
      tokens.push(server.seen.at(-1)?.headers.authorization);
      await stored({ url: server.url, token: "second" });
    }
    close();
    expect(tokens).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  it.each<readonly [string, object | undefined, string, string]>([
    [
      "names another address",
      { url: "https://other.example.com", token: "hush" },
      "tidemark/source.main",
      "its url is not the address of the source",
    ],
    ["lacks its address", { token: "hush" }, "tidemark/source.main", "url must be text"],
    [
      "has a field of another kind",
      { url: "x", token: "hush", password: "hush" },
      "tidemark/source.main",
      "it has a field that is not allowed",
    ],
    [
      "belongs to another source",
      { url: "x", token: "hush" },
      "tidemark/source.other",
      "source.main",
    ],
    ["belongs to a cluster", { url: "x", token: "hush" }, "tidemark/eu-1", "source.main"],
    [
      "does not exist",
      undefined,
      "none/source.main",
      "Secrets Manager answered ResourceNotFoundException",
    ],
  ])(
    "that %s is not sent: its metric is missing, and nothing of it is shown",
    async (_what, content, secretId, words) => {
      if (content) await stored(content, secretId);
      const answer = await answerOf(source({ kind: "bearer", secretId }));
      expect(answer).toMatchObject({
        kind: "failed",
        failure: { reason: "NoCredential", message: expect.stringContaining(words) },
      });
      expect(JSON.stringify(answer)).not.toContain("hush");
      expect(server.seen).toEqual([]);
    },
  );
});
