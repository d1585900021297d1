import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { ON_THIS_MACHINE } from "../../lib/stack/cluster/access/kubeconfig-file.ts";
import { clusterName } from "../../lib/rules/model/ids.ts";
import type { MetricSourceRecord } from "../../lib/rules/model/metric-source.ts";
import { type CheckedSource, askOnce } from "../../lib/stack/source-client/check-source.ts";
import { type Kubernetes, kubernetes } from "../cluster/stand-in/kubernetes.ts";
import { json } from "../cluster/stand-in/server.ts";
import { awsServer } from "./aws-server.ts";
import { oneSeries, type PrometheusServer, prometheusServer, sourceRecord } from "./scene.ts";

let server: PrometheusServer;
beforeEach(async () => {
  server = await prometheusServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

const look = async (
  source: MetricSourceRecord,
  more: Partial<CheckedSource> = {},
  ownAddresses = true,
) => {
  const target = { source, cluster: { name: clusterName("eu-1") }, question: {}, ...more };
  const { usable, checks } = await askOnce(target, {
    clock: Date.now,
    trusted: ON_THIS_MACHINE,
    ownAddresses,
  });
  return {
    usable,
    checks: checks.map(
      ({ check, result, message, fix = "" }) => `${result} ${check}: ${message} > ${fix}`,
    ),
  };
};

type Failing = (response: ServerResponse) => unknown;

describe("a check of a source", () => {
  it("asks a question that each Prometheus can answer, and says its value", async () => {
    expect(await look(sourceRecord({ url: server.url }))).toEqual({
      usable: true,
      checks: [expect.stringMatching(/^passed answer: the value 1 in \d+ ms/)],
    });
    expect(server.seen.map(({ url }) => url.searchParams.get("query"))).toEqual(["vector(1)"]);
    await look(sourceRecord({ url: server.url }), { question: { query: "sum(up)" } });
    expect(server.seen.at(-1)?.url.searchParams.get("query")).toBe("sum(up)");
  });

  it.each<readonly [string, Failing, RegExp]>([
    [
      "wants a credential",
      (response) => response.writeHead(401).end(),
      /status 401, 0 bytes\) > register it with --auth and --secret/,
    ],
    [
      "redirects",
      (response) => response.writeHead(302, { location: "http://x" }).end(),
      /302.* > register the address to which the server redirects/,
    ],
    [
      "has another path",
      (response) => response.writeHead(404).end("<html>"),
      /404.* > correct the path in --url/,
    ],
    [
      "is ill",
      (response) => response.writeHead(503).end(),
      /503.* > look at the log of the server/,
    ],
    [
      "is no Prometheus",
      (response) => response.writeHead(200).end("<html>"),
      /not one of a Prometheus.* > register the address of a server of this kind/,
    ],
    [
      "hangs",
      () => undefined,
      /no answer within 1000 ms > let the server answer faster, or raise --timeout-seconds/,
    ],
    [
      "gives no finite number",
      (response) => oneSeries("NaN")("", response),
      /the value is NaN.* > divide only by what is above 0/,
    ],
    [
      "gives a part",
      (response) =>
        response
          .writeHead(200)
          .end(JSON.stringify({ status: "success", warnings: ["no store"], data: {} })),
      /has warnings.* > let every store answer; .* --partial-answers/,
    ],
    [
      "refuses",
      (response) =>
        response
          .writeHead(422)
          .end(JSON.stringify({ status: "error", errorType: "execution", error: "bad" })),
      /> correct the query/,
    ],
  ])("says what to do about a server that %s", async (_what, answer, words) => {
    server.answer = (_query, response) => void answer(response);
    const { usable, checks } = await look(sourceRecord({ url: server.url }));
    expect([usable, checks]).toEqual([false, [expect.stringMatching(words)]]);
  });

  it.each<readonly [Partial<MetricSourceRecord>, boolean, RegExp]>([
    [{ url: "http://127.0.0.1:9" }, true, /nothing listens .* > correct the port/],
    [
      { url: "https://127.0.0.1:9" },
      false,
      /an address of this machine|one of this machine, .* > register an address outside of this machine/,
    ],
    [
      { url: "https://prometheus.invalid" },
      false,
      /does not resolve.* > correct the name in --url/,
    ],
    [
      { url: "https://p.example.com", auth: { kind: "bearer", secretId: "t/other" } },
      false,
      /^failed secret: .*must be named .* > store the secret/,
    ],
  ])("says what to do about %j", async (where, ownAddresses, words) => {
    expect((await look(sourceRecord(where), {}, ownAddresses)).checks).toEqual([
      expect.stringMatching(words),
    ]);
  });

  it("asks an http source for the number that is named, and nothing without a name", async () => {
    server.answer = (_query, response) => void response.writeHead(200).end('{"depth": "1500m"}');
    const source = sourceRecord({ kind: "http", url: server.url });
    expect(await look(source)).toEqual({
      usable: true,
      checks: ["skipped answer: nothing was asked: give --path and --pointer of a number > "],
    });
    expect(
      (await look(source, { question: { path: "/queue", pointer: "/depth" } })).checks,
    ).toEqual([expect.stringMatching(/^passed answer: the value 1500m in/)]);
    expect((await look(source, { question: { path: "/queue", pointer: "/none" } })).usable).toBe(
      false,
    );
  });
});

const AWS = {
  region: "eu-central-1",
  roleArn: "arn:aws:iam::123456789012:role/tidemark-prod-source-main",
  externalId: "of-shop",
};

describe("a check of a source of AWS", () => {
  it("assumes its role, and says what AWS refuses", async () => {
    const aws = await awsServer();
    vi.stubEnv("AWS_ENDPOINT_URL", aws.url);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIAFUNCTION");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret-of-the-function");
    const numbers = {
      ApproximateNumberOfMessages: "2",
      ApproximateNumberOfMessagesNotVisible: "1",
      ApproximateNumberOfMessagesDelayed: "0",
    };
    aws.answer = () => [200, { Attributes: numbers }];
    const queues = sourceRecord({ kind: "sqs", aws: { ...AWS, queues: ["orders-*", "mail"] } });
    expect((await look(queues)).checks).toEqual([
      "passed role: it was assumed > ",
      expect.stringMatching(/^passed answer: the value 3 in/),
    ]);
    expect(aws.calls.at(-1)?.body).toContain("/123456789012/mail");
    expect((await look({ ...queues, aws: { ...AWS, queues: ["orders-*"] } })).checks).toEqual([
      expect.stringMatching(/^skipped answer: .* give --queue/),
    ]);
    aws.answer = () => [403, { __type: "AccessDeniedException" }];
    const refused = await look(queues);
    expect([refused.usable, refused.checks[1]]).toEqual([
      false,
      expect.stringMatching(/sqs:GetQueueAttributes.* > correct the Region, the queue/),
    ]);
    aws.answer = () => [
      200,
      {
        MetricDataResults: [
          { Id: "q0", Label: "q0", StatusCode: "Complete", Values: [], Timestamps: [] },
        ],
      },
    ];
    const metrics = sourceRecord({
      kind: "cloudwatch",
      aws: { ...AWS, metricNamespaces: ["AWS/*"] },
    });
    expect((await look(metrics)).checks[1]).toMatch(/^passed answer: CloudWatch answers in/);
    await aws.close();
    expect((await look(queues)).checks).toEqual([
      expect.stringMatching(/^failed role: .*cannot be assumed .* > make the role/),
    ]);
  });
});

describe("a check of a service of a cluster", () => {
  let cluster: Kubernetes;
  let folder: string;
  beforeEach(async () => {
    cluster = await kubernetes();
    folder = mkdtempSync(join(tmpdir(), "check-source-"));
  });
  afterEach(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true });
  });
  const SERVICE = {
    namespace: "monitoring",
    name: "prometheus",
    port: "9090",
    scheme: "http",
    path: "",
  } as const;
  const lookAt = (server_ = cluster.url) => {
    const path = join(folder, "config");
    const named = {
      name: "one",
      cluster: {
        server: server_,
        "certificate-authority-data": Buffer.from(cluster.ca).toString("base64"),
      },
    };
    const context = { name: "main", context: { cluster: "one", user: "me" } };
    const users = [{ name: "me", user: { token: "abc" } }];
    writeFileSync(
      path,
      stringify({
        apiVersion: "v1",
        kind: "Config",
        "current-context": "main",
        clusters: [named],
        users,
        contexts: [context],
      }),
      {
        mode: 0o600,
      },
    );
    return look(sourceRecord({ service: SERVICE }), {
      reached: { connection: { kind: "kubeconfig", path } },
    });
  };
  const PROXY = /^\/api\/v1\/namespaces\/monitoring\/services\/http:prometheus:9090\/proxy\//;
  const answering = (status: number, body: object): void => {
    cluster.overrides.push({
      match: ({ url }) => PROXY.test(decodeURIComponent(url.pathname)),
      answer: json(status, body),
    });
  };

  it("goes through its API server, with the connection of the cluster", async () => {
    answering(200, { status: "success", data: { resultType: "scalar", result: [1, "1"] } });
    expect(await lookAt()).toEqual({
      usable: true,
      checks: [expect.stringMatching(/^passed answer in eu-1: the value 1 in/)],
    });
  });

  it.each<readonly [number, RegExp]>([
    [403, /let the cluster allow it: tidemark cluster rbac --source main \| kubectl apply -f -/],
    [404, /kubectl -n monitoring get service prometheus/],
    [503, /no pod of the service is ready: kubectl -n monitoring get endpoints prometheus/],
  ])("says what to do about the status %i", async (status, words) => {
    answering(status, { kind: "Status", status: "Failure", message: "words", code: status });
    expect(await lookAt()).toEqual({ usable: false, checks: [expect.stringMatching(words)] });
  });

  it("says of a cluster that cannot be reached to look at that", async () => {
    const { usable, checks } = await lookAt("https://127.0.0.1:9");
    expect([usable, checks.join()]).toEqual([
      false,
      expect.stringMatching(
        /^failed answer in eu-1: .*nothing listens.* > the API server of the cluster cannot be reached: tidemark cluster check/,
      ),
    ]);
  });
});
