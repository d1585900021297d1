import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readRecommenderReply } from "../../lib/stack/cluster/recommender.ts";
import { FOREIGN_CHARACTERS_MAX } from "../../lib/rules/model/foreign-text.ts";
import { readExternalValues, readPodMetrics } from "../answers.ts";
import { budgetOf, transportTo } from "./stand-in/connected.ts";
import { type StandIn, standIn, status } from "./stand-in/server.ts";
import { readPods, readFailure } from "./read/answers.ts";

describe("what a hostile server says", () => {
  let server: StandIn;
  beforeEach(async () => {
    server = await standIn();
  });
  afterEach(() => server.close());
  const failure = async () => {
    const answer = await transportTo(server).get({ path: "/x", resource: "pods" }, budgetOf());
    if (answer.kind !== "failed") throw new Error("it was read");
    return answer.failure;
  };

  it("reaches a message cut and escaped, and its reason only where it is one word", async () => {
    server.answer = status(
      403,
      "Forbidden\u001b[31m",
      `${"x".repeat(50)}\n\u001b[2Jlevel=error ${"y".repeat(1_000_000)}`,
    );
    const { reason, message } = await failure();
    expect(reason).toBe("Forbidden");
    expect(message).toHaveLength(FOREIGN_CHARACTERS_MAX);
    expect(message).toContain(`${"x".repeat(50)}\\n\\u{1b}[2Jlevel=error`);
  });

  it("is not repeated at all where it is a page of HTML", async () => {
    server.answer = (_seen, response) =>
      response.writeHead(500, { "content-type": "text/html" }).end("<html>secret page</html>");
    expect(await failure()).toMatchObject({
      code: 500,
      reason: "InternalError",
      message: expect.not.stringContaining("secret"),
    });
  });
});

describe("what a hostile cluster calls its objects", () => {
  const HOSTILE = `x\u001b[2J\n${"y".repeat(100_000)}`;
  const shown = (text: string | undefined): void => {
    expect(text?.length).toBeLessThanOrEqual(FOREIGN_CHARACTERS_MAX);
    expect(text).toContain("x\\u{1b}[2J\\n");
  };

  it("is read as a name that messages can repeat, the same for a pod and its metrics", () => {
    const [pod] = readPods([
      { metadata: { name: HOSTILE }, spec: { containers: [{ name: HOSTILE }] } },
    ]);
    const [metrics] = readPodMetrics([
      { metadata: { name: HOSTILE }, containers: [{ name: HOSTILE }] },
    ]);
    for (const name of [pod?.name, pod?.containers[0]?.name, metrics?.containers[0]?.name])
      shown(name);
    expect(metrics?.name).toBe(pod?.name);
    const longest = "a".repeat(253);
    expect(readPods([{ metadata: { name: longest } }])[0]?.name).toBe(longest);
  });

  it("is quoted cut and escaped where it stands for a metric value, in a Status, or in the reply of a recommender", () => {
    const values = readExternalValues([{ value: HOSTILE }]);
    expect(values.kind === "failed" && values.failure.message.length).toBeLessThanOrEqual(
      FOREIGN_CHARACTERS_MAX + 60,
    );
    shown(readFailure({ code: 500, message: HOSTILE }).message);
    for (const reply of [{ [HOSTILE]: 1 }, { error: { code: 1, message: HOSTILE } }]) {
      const read = readRecommenderReply(reply);
      const message = read.kind === "failed" ? read.failure.message : "";
      expect(message.length).toBeLessThanOrEqual(FOREIGN_CHARACTERS_MAX + 60);
      expect(message).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe("credentials that no request can carry", () => {
  let server: StandIn;
  beforeEach(async () => {
    server = await standIn();
  });
  afterEach(() => server.close());

  it.each([
    ["a token with a line break", { headers: { authorization: "Bearer t0ken\n" } }],
    ["a client key that is none", { headers: {}, cert: "t0ken", key: "t0ken" }],
  ])("fail as a value, and are not quoted: %s", async (_name, credentials) => {
    const transport = transportTo(server, { credentials: async () => credentials });
    const read = await transport.get({ path: "/x", resource: "pods" }, budgetOf());
    expect(read).toMatchObject({ kind: "failed", failure: { code: 0, reason: "Unreachable" } });
    expect(JSON.stringify(read)).not.toContain("t0ken");
    const put = await transport.put({ path: "/x", resource: "pods", body: {} }, 1_000);
    expect(put).toMatchObject({ kind: "failed", sent: false });
    expect(server.seen).toEqual([]);
  });
});
