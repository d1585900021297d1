import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterClient } from "../../lib/stack/cluster/cluster-client.ts";
import { PROTOBUF } from "../../lib/stack/cluster/wire/answer.ts";
import { partsOf } from "../answers.ts";
import { type Kubernetes, kubernetes, pod, podMetrics, workload } from "./stand-in/kubernetes.ts";
import type { Answer } from "./stand-in/server.ts";
import { clientTo, WHOLE, watch } from "./stand-in/watched.ts";
import { published } from "./wire/published.ts";

const GROUP = "/apis/metrics.k8s.io";
const { encode } = published();

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/apps/v1/deployments", [workload("shop", "web")]);
  server.collections.set("/api/v1/pods", [pod("shop", "web")]);
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** Serves metrics.k8s.io in these versions alone. The group prefers the last of them. */
const serve = (...versions: readonly string[]): void => {
  for (const version of ["v1", "v1beta1"]) {
    if (versions.includes(version))
      server.collections.set(`${GROUP}/${version}/pods`, [podMetrics("shop", "web")]);
    else server.collections.delete(`${GROUP}/${version}/pods`);
  }
  const preferred = versions.at(-1);
  if (preferred === undefined) server.documents.delete(GROUP);
  else
    server.documents.set(GROUP, {
      versions: versions.map((version) => ({ version })),
      preferredVersion: { version: preferred },
    });
};

/** Answers PodMetrics of this version as metrics-server does: protobuf where it is accepted. */
const answerProtobuf = (version: string): void => {
  const answer: Answer = (seen, response) => {
    const accepts = String(seen.headers.accept).includes(PROTOBUF);
    const json = {
      kind: "PodMetricsList",
      apiVersion: `metrics.k8s.io/${version}`,
      metadata: {},
      items: [podMetrics("shop", "web")],
    };
    const bytes = encode(
      "k8s.io.metrics.pkg.apis.metrics.v1beta1.PodMetricsList",
      { metadata: {}, items: json.items },
      json.apiVersion,
    );
    response
      .writeHead(200, { "content-type": accepts ? PROTOBUF : "application/json" })
      .end(accepts ? bytes : JSON.stringify(json));
  };
  server.overrides.push({
    match: ({ url }) => url.pathname.startsWith(`${GROUP}/${version}/`),
    answer,
  });
};

const web = watch("shop", "web");
const measured = async (): Promise<readonly string[]> => {
  const { observations } = await client.observe([web], WHOLE);
  const answer = partsOf(observations.get(web.uid)?.observation.answers).resource;
  if (answer?.kind === "answered") return answer.items.all.map(({ name }) => name);
  return [answer?.kind === "failed" ? `${answer.failure.code} ${answer.failure.message}` : "none"];
};
const asked = (): readonly string[] => {
  const paths = server.paths().filter((path) => path.includes("metrics.k8s.io"));
  server.seen.length = 0;
  return paths;
};
const LIST = (version: string): string => `GET ${GROUP}/${version}/namespaces/shop/pods`;
const DISCOVERY = `GET ${GROUP}`;

describe("the version of metrics.k8s.io", () => {
  it.each([
    [["v1beta1"], "v1beta1"],
    [["v1"], "v1"],
    [["v1", "v1beta1"], "v1"],
    [["v2", "v1beta1"], "v1beta1"],
  ])(
    "is the newest that is served and known, also where the group prefers another one: of %j it is %s",
    async (versions, newest) => {
      serve(...versions);
      expect(await measured()).toEqual(["web-0"]);
      expect(asked()).toEqual([DISCOVERY, LIST(newest)]);
    },
  );

  it.each(["v1", "v1beta1"])(
    "%s is read from protobuf where its server has it",
    async (version) => {
      serve(version);
      answerProtobuf(version);
      expect(await measured()).toEqual(["web-0"]);
      expect(
        server.seen.some(
          ({ url, headers }) =>
            url.pathname.includes(version) && String(headers.accept).startsWith(PROTOBUF),
        ),
      ).toBe(true);
    },
  );

  it("is noticed once for a warm client", async () => {
    serve("v1");
    await measured();
    asked();
    for (let sync = 0; sync < 3; sync++) await measured();
    expect(asked()).toEqual([LIST("v1"), LIST("v1"), LIST("v1")]);
  });

  it("is noticed again after 404, in the same sync: an upgrade of its server loses no measurement", async () => {
    serve("v1beta1");
    await measured();
    serve("v1");
    asked();
    expect(await measured()).toEqual(["web-0"]);
    expect(asked()).toEqual([LIST("v1beta1"), DISCOVERY, LIST("v1")]);
  });

  it("stays a failed metric where no version is served, without a storm of questions", async () => {
    serve();
    for (let sync = 0; sync < 2; sync++) {
      expect(await measured()).toEqual([
        "404 the server could not find the requested resource (get pods.metrics.k8s.io)",
      ]);
    }
    expect(asked()).toEqual([DISCOVERY, LIST("v1beta1"), LIST("v1beta1")]);
  });

  it("is the oldest one while discovery fails, so that metrics that are there are read", async () => {
    serve("v1beta1", "v1");
    server.overrides.push({
      match: ({ url }) => url.pathname === GROUP,
      answer: (_seen, response) => response.writeHead(503).end(),
    });
    expect(await measured()).toEqual(["web-0"]);
    expect(asked()).toEqual([DISCOVERY, LIST("v1beta1")]);
  });
});
