import { afterEach, describe, expect, it, vi } from "vitest";
import { ENVIRONMENT, environmentOf } from "../../lib/lambda/environment.ts";

afterEach(() => vi.unstubAllEnvs());

describe("environmentOf()", () => {
  it("gives the values of a function's variables", () => {
    for (const name of ENVIRONMENT.sync) vi.stubEnv(name, `value of ${name}`);
    expect(environmentOf(ENVIRONMENT.sync)).toEqual({
      TIDEMARK_STATE_TABLE: "value of TIDEMARK_STATE_TABLE",
      TIDEMARK_HISTORY_TABLE: "value of TIDEMARK_HISTORY_TABLE",
      TIDEMARK_CLUSTER_METRICS: "value of TIDEMARK_CLUSTER_METRICS",
      TIDEMARK_EXTERNAL_ID: "value of TIDEMARK_EXTERNAL_ID",
    });
  });

  it("names every variable that is missing or empty", () => {
    for (const name of ENVIRONMENT.schedule) vi.stubEnv(name, "");
    expect(() => environmentOf(ENVIRONMENT.schedule)).toThrow(
      new RangeError(
        "Cannot start: TIDEMARK_STATE_TABLE, TIDEMARK_SYNC_QUEUE_URL, TIDEMARK_ALARM_OWNERS, TIDEMARK_OWNER_TOPICS, TIDEMARK_ALARM_TOPIC, TIDEMARK_WITNESS_TABLE, TIDEMARK_TAKE_OVER_MINUTES must be set in the environment",
      ),
    );
  });
});
