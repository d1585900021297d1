import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tellOwner } from "../../lib/lambda/owner-topics.ts";
import { topicsOf } from "../../lib/lambda/owners.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import type { FleetProblem } from "../../lib/stack/report/problems.ts";
import { ownerNews, reportedToOwners } from "../../lib/stack/plan/count-problems.ts";
import { NOON } from "../noon.ts";

const TOPIC = "arn:aws:sns:eu-west-3:123456789012:payments";
let server: Server;
let statuses: number[];
let asked: { readonly authorization: string; readonly form: Readonly<Record<string, string>> }[];

beforeEach(async () => {
  [statuses, asked] = [[], []];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({
        authorization: String(request.headers.authorization),
        form: Object.fromEntries(new URLSearchParams(body)),
      });
      response
        .writeHead(statuses.shift() ?? 200)
        .end("<ErrorResponse><Message>Topic does not exist</Message></ErrorResponse>");
    });
  });
  vi.stubEnv("AWS_ENDPOINT_URL_SNS", await listenOnLoopback(server));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await closeServer(server);
});

const refused = (count: number, owners: Readonly<Record<string, number>>): FleetProblem => ({
  kind: "refused",
  key: "eu-1/default",
  count,
  first: "search/index",
  owners,
});
const SIGNER = {
  credentials: async () => ({ accessKeyId: "a", secretAccessKey: "b" }),
  region: async () => "eu-central-1",
  clock: () => NOON,
};
const tell = (news: readonly FleetProblem[]): Promise<void> =>
  tellOwner(SIGNER, "tidemark-prod", "payments", TOPIC, news);

describe("the topic of an owner", () => {
  it("gets what is new of the owner's autoscalers, and names no autoscaler of another owner", async () => {
    await tell([refused(2, { payments: 2 })]);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.authorization).toContain("/eu-west-3/sns/aws4_request");
    expect(asked[0]?.form).toMatchObject({
      Action: "Publish",
      TopicArn: TOPIC,
      Subject: "tidemark-prod: 2 autoscalers need a look",
    });
    expect(asked[0]?.form["Message"]).toContain(
      "2 autoscalers could not scale for 15 minutes: eu-1/default\n",
    );
    expect(asked[0]?.form["Message"]).not.toContain("search/index");
  });

  it("is asked three times, and an error names the owner, the topic and the right", async () => {
    statuses = [500, 500];
    await tell([refused(1, { payments: 1 })]);
    expect(asked).toHaveLength(3);
    statuses = [404, 404, 404];
    await expect(tell([refused(1, { payments: 1 })])).rejects.toThrow(
      `Cannot send to the owner "payments": SNS answered 404: Topic does not exist (sns:Publish on ${TOPIC} is needed)`,
    );
  });

  it("is found by the place of the owner in its list, and lists of different lengths are refused", () => {
    expect([...topicsOf("payments, search", `${TOPIC},arn:2`)]).toEqual([
      ["payments", TOPIC],
      ["search", "arn:2"],
    ]);
    expect(topicsOf("none", "none").size).toBe(0);
    expect(() => topicsOf("payments,search", TOPIC)).toThrow("there are 2 owners and 1 topics");
  });
});

describe("what an owner is told of", () => {
  it("is each problem once, and again when more of the owner's autoscalers have it", () => {
    let told = {};
    const counts = [1, 1, 3, 2, 3, 0, 1].map((count) => {
      const found = ownerNews(
        told,
        [refused(9, { payments: count, search: 6 })],
        ["payments"],
        NOON,
      );
      told = reportedToOwners(found);
      return found.flatMap(({ news }) => news.map((problem) => problem.count));
    });
    expect(counts).toEqual([[1], [], [2], [], [1], [], [1]]);
  });
});
