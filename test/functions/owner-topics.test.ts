import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tellOwner, tellPeople } from "../../lib/lambda/owner-topics.ts";
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

describe("the topic of the alarms", () => {
  it("gets the name of each cluster and autoscaler, since when, and the command that looks at it", async () => {
    await tellPeople(SIGNER, "tidemark-prod", TOPIC, [
      { kind: "unreachable", key: "eu-1", count: 1, sinceMs: NOON },
      { kind: "undecided", key: "eu-2", count: 1, sinceMs: NOON },
      refused(1, {}),
      { kind: "overShare", key: "eu-1/default", count: 1, first: "attack" },
      { kind: "late", key: "us-1/default", count: 1, sinceMs: NOON },
    ]);
    expect(asked[0]?.form).toMatchObject({
      TopicArn: TOPIC,
      Subject: "tidemark-prod: eu-1, eu-2, eu-1/default, us-1/default",
    });
    expect(asked[0]?.form["Message"]).toBe(
      [
        "1 partition was not synced for three periods: us-1/default since 2026-03-01T12:00:00.000Z",
        "1 cluster cannot be read for 5 minutes: eu-1 since 2026-03-01T12:00:00.000Z",
        "1 cluster fails again and again, so that too few of its due syncs decide: eu-2 since 2026-03-01T12:00:00.000Z",
        "1 autoscaler could not scale for 15 minutes: eu-1/default (search/index)",
        "1 namespace is over its share for 5 minutes: eu-1/default (attack)",
        "",
        "tidemark cluster check eu-1 --stack tidemark-prod",
        "tidemark cluster check eu-2 --stack tidemark-prod",
        "tidemark doctor index -n search --cluster eu-1 --stack tidemark-prod",
        "tidemark get -n attack --cluster eu-1 --stack tidemark-prod",
        "tidemark cluster describe us-1 --stack tidemark-prod",
        "tidemark status --stack tidemark-prod names what goes on.",
      ].join("\n"),
    );
  });

  it("has a subject that SNS takes, however many there are", async () => {
    const many = Array.from(
      { length: 40 },
      (_, at): FleetProblem => ({
        ...{ kind: "unreachable", key: `cluster-${at}`, count: 1 },
      }),
    );
    await tellPeople(SIGNER, "tidemark-prod", TOPIC, many);
    expect(asked[0]?.form["Subject"]).toHaveLength(100);
    expect(asked[0]?.form["Message"]).toContain("40 clusters cannot be read for 5 minutes");
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
