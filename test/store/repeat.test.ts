import { describe, expect, it } from "vitest";
import { isRefusal, isTransient, repeat } from "../../lib/stack/store/table/repeat.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";

const failing = (name: string, httpStatusCode = 400): Error =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

const clocked = (untilMs?: number) => {
  const waits: number[] = [];
  let nowMs = 0;
  const tables: Tables = {
    client: { send: (() => Promise.reject(new Error("not used"))) as Tables["client"]["send"] },
    stateTable: "",
    historyTable: "",
    clock: () => nowMs,
    wait: async (ms) => {
      waits.push(ms);
      nowMs += ms;
    },
    random: () => 0.5,
    token: () => "",
    ...(untilMs !== undefined && { untilMs }),
  };
  return { tables, waits };
};

/** Fails so many times, then answers. */
const failingFirst = (failures: number, error: Error) => {
  let calls = 0;
  return async (): Promise<string> => {
    if (++calls <= failures) throw error;
    return `answered at call ${calls}`;
  };
};

describe("repeat()", () => {
  it("answers at once when nothing fails", async () => {
    const { tables, waits } = clocked();
    expect(await repeat(tables, "do it", failingFirst(0, failing("x")))).toBe("answered at call 1");
    expect(waits).toEqual([]);
  });

  it("waits longer each time, with jitter, up to a second", async () => {
    const { tables, waits } = clocked();
    expect(await repeat(tables, "do it", failingFirst(7, failing("ThrottlingException")))).toBe(
      "answered at call 8",
    );
    expect(waits).toEqual([12.5, 25, 50, 100, 200, 400, 500]);
  });

  it("gives up after eight attempts, with the last failure as cause", async () => {
    const cause = failing("InternalServerError", 500);
    await expect(repeat(clocked().tables, "do it", failingFirst(8, cause))).rejects.toMatchObject({
      name: "TidemarkError",
      code: "store.unclear",
      message: "Cannot do it: no clear answer after 8 attempts",
      details: { action: "do it", attempts: 8 },
      cause,
    });
  });

  it.each([
    [36, 1],
    [37.5, 2],
  ])("starts no wait that would end after %d ms", async (untilMs, waited) => {
    const { tables, waits } = clocked(untilMs);
    await expect(
      repeat(tables, "do it", failingFirst(9, failing("TimeoutError"))),
    ).rejects.toMatchObject({ code: "store.unclear" });
    expect(waits).toHaveLength(waited);
  });

  it("passes on what will not get better", async () => {
    const error = failing("AccessDeniedException");
    await expect(repeat(clocked().tables, "do it", failingFirst(1, error))).rejects.toBe(error);
  });
});

describe("isTransient()", () => {
  it.each([
    [failing("ProvisionedThroughputExceededException"), true],
    [failing("RequestLimitExceeded"), true],
    [failing("anything", 503), true],
    [Object.assign(new Error("reset"), { code: "ECONNRESET" }), true],
    [failing("ConditionalCheckFailedException"), false],
    [failing("ValidationException"), false],
    [new TypeError("mine"), false],
    ["text", false],
    [null, false],
  ])("of %s is %s", (error, transient) => {
    expect(isTransient(error)).toBe(transient);
  });

  it("leaves a refused condition to isRefusal()", () => {
    expect([
      isRefusal(failing("ConditionalCheckFailedException")),
      isRefusal(failing("ValidationException")),
      isRefusal(undefined),
    ]).toEqual([true, false, false]);
  });
});
