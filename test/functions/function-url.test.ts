import type { LambdaFunctionURLEvent } from "aws-lambda";
import { afterEach, describe, expect, it, vi } from "vitest";
import { handler as api } from "../../functions/api.ts";
import { handler as connect } from "../../functions/connect.ts";
import { ENVIRONMENT } from "../../lib/lambda/environment.ts";
import { functionUrlHandler } from "../../lib/lambda/function-url.ts";
import { handler as view } from "../../functions/view.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import type { QueryService } from "../../lib/answers/service/service.ts";
import { ADA, eventOf, openTo } from "../api/world.ts";

afterEach(() => vi.unstubAllEnvs());

const FLEET = eventOf({ path: "/v1/fleet" });
/** A service of which one verb is asked. */
const reading = { fleet: async () => ({}) } as Partial<QueryService> as QueryService;

describe("the handlers behind a URL", () => {
  it.each([
    ["api", api],
    ["connect", connect],
    ["view", view],
  ] as const)("%s cannot start without its variables, and names them", async (name, handler) => {
    const variables = ENVIRONMENT[name];
    for (const variable of variables) vi.stubEnv(variable, "");
    const start = async (): Promise<unknown> => handler(FLEET);
    await expect(start()).rejects.toThrow(
      new RangeError(`Cannot start: ${variables.join(", ")} must be set in the environment`),
    );
  });

  it("answer in the shape of payload format 2.0", async () => {
    const lines: LogLine[] = [];
    const handler = functionUrlHandler({
      ...openTo(reading),
      clock: () => 0,
      log: (line) => void lines.push(line),
    });
    expect(await handler(FLEET)).toEqual({
      statusCode: 200,
      headers: {
        "content-type": "application/json",
        "cache-control": "no-store",
        etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      },
      body: "{}",
    });
    expect(lines).toMatchObject([
      { fields: { by: ADA, path: "/v1/fleet", requestId: FLEET.requestContext.requestId } },
    ]);
  });

  it("read a body that came as base64, and know no caller where the platform names none", async () => {
    const handler = functionUrlHandler({ ...openTo(reading), clock: () => 0, log: () => {} });
    const posted = await handler(eventOf({ path: "/v1/fleet/thaw", body: Buffer.from("{}") }));
    expect(posted).toMatchObject({
      statusCode: 403,
      body: expect.stringContaining("api.read-only"),
    });
    const { requestContext, ...event } = eventOf({ path: "/v1/fleet" });
    for (const authorizer of [undefined, {}, { iam: {} }, { jwt: { claims: { userArn: ADA } } }]) {
      const unverified = {
        ...event,
        requestContext: { ...requestContext, authorizer },
      } as unknown as LambdaFunctionURLEvent;
      expect(await handler(unverified)).toMatchObject({
        statusCode: 403,
        body: expect.stringContaining("api.no-identity"),
      });
    }
  });
});
