import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOTHING_TRUSTED } from "../../lib/stack/cluster/access/access.ts";
import { connect } from "../../lib/stack/cluster/connect.ts";
import { newLogger, powertoolsReporter } from "../../lib/stack/report/reporter.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { type AwsEndpoint, awsEndpoint } from "../cluster/stand-in/aws.ts";
import { newDamaged } from "./world/damaged.ts";

/**
 * A sync whose cluster has a secret that cannot be used: everything that it leaves behind is looked
 * through for the token.
 */
const TOKEN = "Zq7Zq7Zq7Zq7Zq7";
const CA = Buffer.from("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").toString(
  "base64",
);

let aws: AwsEndpoint;
beforeAll(async () => {
  aws = await awsEndpoint();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await aws.close();
});

/** One sync with the real client; what the log, the views and the history say afterwards. */
const syncWith = async (content: string) => {
  const damaged = await newDamaged();
  const { name } = damaged.world.record;
  const secretId = `prod/${name}`;
  aws.answer = () => ({
    status: 200,
    type: "application/x-amz-json-1.1",
    body: JSON.stringify({ Name: secretId, SecretString: content }),
  });
  const lines: string[] = [];
  const logger = newLogger({ serviceName: "tidemark" });
  const told = (text: string): number => lines.push(text);
  Object.assign(logger, { console: { info: told, warn: told, error: told } });
  const trusted = { ...NOTHING_TRUSTED, ownAddresses: true };
  const before = damaged.replicas();
  const report = await damaged.sync(
    damaged.worker({
      connect: () =>
        connect(
          { name, kubeSystemUid: undefined, connection: { kind: "secret", secretId } },
          { clock: Date.now, trusted },
        ),
    }),
  );
  vi.spyOn(process.stdout, "write").mockImplementationOnce((text) => told(String(text)) > 0);
  powertoolsReporter({ logger }).sync(report);
  const service = openService(damaged.context());
  const described = await service.describe({ name: "shop/web" });
  const views = [
    described,
    await service.explain({ name: "shop/web" }),
    await service.cluster(name),
    await Array.fromAsync(service.autoscalers({})),
    await service.series(),
  ];
  return {
    report,
    output: lines.join("\n") + JSON.stringify(views),
    described,
    before,
    after: damaged.replicas(),
  };
};

const short = (more: object): string =>
  JSON.stringify(
    { server: "https://127.0.0.1:1", caData: CA, token: TOKEN, ...more },
    undefined,
    2,
  );

describe("a sync whose secret", () => {
  it.each([
    ["lacks a brace", short({}).slice(0, -1), "line 5, column"],
    ["has an open quote", short({}).replace(`${TOKEN}"`, TOKEN), "is neither JSON nor YAML"],
    ["is YAML with a tab", `users:\n- name: me\n  user:\n\t token: ${TOKEN}\n`, "line 4, column"],
    [
      "has a token over two lines",
      short({ token: `${TOKEN}\n${TOKEN}` }),
      "token must be printable ASCII",
    ],
    [
      "has a key that is none",
      short({
        token: undefined,
        clientCertData: CA,
        clientKeyData: Buffer.from(TOKEN).toString("base64"),
      }),
      "its CA is no certificate in PEM",
    ],
    [
      "would run a program",
      `clusters: []\ncontexts: []\nusers:\n- name: me\n  user: { exec: { command: ${TOKEN} } }\n`,
      'users[0].user has "exec", which would run a program',
    ],
  ])(
    "%s holds with a reason that people see, and quotes nothing of it in log, views and history",
    async (_name, content, words) => {
      const { report, output, described, before, after } = await syncWith(content);
      expect(report).toMatchObject({ kind: "completed", failed: 2 });
      expect(after).toEqual(before);
      expect(JSON.stringify(described)).toContain(JSON.stringify(words).slice(1, -1));
      expect(output).not.toContain("Zq7");
      expect(output).not.toContain(Buffer.from(TOKEN).toString("base64"));
    },
  );
});
