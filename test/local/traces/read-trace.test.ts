import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  readShippedTrace,
  readTrace,
  shippedTracePath,
} from "../../../lib/embedded/traces/read-trace.ts";
import { SHIPPED_TRACES } from "../../../lib/embedded/traces/trace.ts";
import { spanMs } from "../../../lib/embedded/traces/trace.ts";
import { TidemarkError } from "../../../lib/rules/model/errors.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-traces-"));
});
afterAll(() => rm(folder, { recursive: true }));

const written = async (text: string): Promise<string> => {
  const path = join(folder, "trace.csv");
  await writeFile(path, text);
  return path;
};

const failure = async (path: string): Promise<TidemarkError> => {
  const error = await readTrace(path).catch((cause: unknown) => cause);
  if (!(error instanceof TidemarkError))
    throw new TypeError(`Expected a TidemarkError, got ${String(error)}`);
  return error;
};

describe("readTrace()", () => {
  it("reads samples, unit and usual step", async () => {
    const path = await written(
      '# source: a, "b"; unit: calls per 5 min; resolution: 300 s\ntimestamp,value\n300,1\n600,2.25\n1200,3\n1500,0\n',
    );
    expect(await readTrace(path)).toEqual({
      points: [
        { atMs: 300_000, value: 1 },
        { atMs: 600_000, value: 2.25 },
        { atMs: 1_200_000, value: 3 },
        { atMs: 1_500_000, value: 0 },
      ],
      unit: "calls per 5 min",
      stepMs: 300_000,
    });
  });

  it("reads a file without a comment, with Windows line ends and a byte order mark", async () => {
    const path = await written("\uFEFFtimestamp,value\r\n60,7\r\n");
    expect(await readTrace(path)).toEqual({
      points: [{ atMs: 60_000, value: 7 }],
      unit: "units",
      stepMs: 60_000,
    });
  });

  it("makes no error for each row below a comment with commas", async () => {
    const stacks = vi.spyOn(Error, "captureStackTrace");
    const rows = Array.from({ length: 100 }, (_, at) => `${60 * (at + 1)},${at}\n`);
    expect(
      (
        await readTrace(
          await written(`# source: a, b, c; unit: d\ntimestamp,value\n${rows.join("")}`),
        )
      ).points,
    ).toHaveLength(100);
    expect(stacks.mock.calls.length).toBeLessThan(10);
    stacks.mockRestore();
  });

  it("reads times in milliseconds and of RFC 3339, by what they look like", async () => {
    const points = [
      { atMs: 1_767_600_000_000, value: 1 },
      { atMs: 1_767_600_060_000, value: 2 },
    ];
    for (const [one, other] of [
      ["1767600000", "1767600060"],
      ["1767600000000", "1767600060000"],
      ["2026-01-05T08:00:00Z", "2026-01-05T09:01:00+01:00"],
    ])
      expect(
        (await readTrace(await written(`timestamp,value\n${one},1\n${other},2\n`))).points,
      ).toEqual(points);
  });

  it.each([
    ["of Grafana", '"Time","sum(rate(a{b=""c"", d=""e""}[1m]))"\n2026-01-05 08:00:00,1.5\n'],
    ["of a spreadsheet", 'Time;sum(rate(a{b="c", d="e"}[1m]))\n2026-01-05 08:00;1.5\n'],
    ["with tabs", 'date\tsum(rate(a{b="c", d="e"}[1m]))\n"2026-01-05T08:00:00"\t"1.5"\n'],
  ])(
    "reads a file %s: what the header names is the unit, a time without zone UTC",
    async (_, text) => {
      expect(await readTrace(await written(text))).toEqual({
        points: [{ atMs: 1_767_600_000_000, value: 1.5 }],
        unit: 'sum(rate(a{b="c", d="e"}[1m]))',
        stepMs: 60_000,
      });
    },
  );

  it("reads a file without a header; a row without a value is left out", async () => {
    expect(
      (await readTrace(await written("60,1\n120,\n180,null\n240,NaN\n300,2\n"))).points,
    ).toEqual([
      { atMs: 60_000, value: 1 },
      { atMs: 300_000, value: 2 },
    ]);
  });

  const rangeQuery = (...result: readonly object[]): string =>
    JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
  const series = (...values: readonly (readonly [number, string])[]) => ({
    metric: { __name__: "http_requests", job: "web" },
    values,
  });

  it("reads the JSON of a range query of Prometheus; values that are no number are left out", async () => {
    const path = await written(
      rangeQuery(series([60, "1"], [75.5, "2.5"], [90, "NaN"], [91, "+Inf"], [105, "4"])),
    );
    expect(await readTrace(path)).toEqual({
      points: [
        { atMs: 60_000, value: 1 },
        { atMs: 75_500, value: 2.5 },
        { atMs: 105_000, value: 4 },
      ],
      unit: "http_requests",
      stepMs: 15_500,
    });
  });

  it.each([
    [rangeQuery(), "it has no series: the query found nothing in its time; mend the query"],
    [
      rangeQuery(series([60, "1"]), series([60, "1"])),
      "it has 2 series, and one is played: make the query a sum(…)",
    ],
    [rangeQuery(series()), "it has no samples"],
    [
      rangeQuery(series([60, "1"], [60, "2"])),
      "the sample at 60 is negative, above 1000000000000000, or not after the one before it",
    ],
    [
      rangeQuery(series([60, "-1"])),
      "the sample at 60 is negative, above 1000000000000000, or not after the one before it",
    ],
    [
      rangeQuery(series([60, "1e300"])),
      "the sample at 60 is negative, above 1000000000000000, or not after the one before it",
    ],
    [
      '{"status":"success","data":{"resultType":"vector","result":[]}}',
      "it begins as JSON and is not the answer of a range query of Prometheus (resultType matrix)",
    ],
    ['{"status":', "it is not JSON: "],
    [
      '{"status":"error","errorType":"bad_data","error":"parse \\u001b error"}',
      'it is an error of Prometheus, "parse \\u{1b} error": mend the query, and ask again',
    ],
  ])("refuses the JSON %j", async (text, what) => {
    const path = await written(text);
    const { code, message } = await failure(path);
    expect(code).toBe("trace.invalid");
    expect(message).toContain(`Cannot read trace "${path}": ${what}`);
  });

  it.each([
    [
      "timestamp,value\n60,1\n60,2\n",
      3,
      "timestamp 60 is not after 60; sort the lines by time, and keep one of each time",
    ],
    [
      "timestamp,value\n120,1\n60,2\n",
      3,
      "timestamp 60 is not after 120; sort the lines by time, and keep one of each time",
    ],
    [
      "# c\ntimestamp,value\n60,1\n\n120,-2\n",
      5,
      'value "-2" is not a number of at least 0: write it such as 218.69, without a unit',
    ],
    [
      "timestamp,value\n60,1e18\n",
      2,
      'value "1e18" is above 1000000000000000, the most that is read',
    ],
    [
      "t,v\n2026-10-25T00:00:00Z,1\n2026-10-25T00:00:00Z,1\n",
      3,
      "timestamp 2026-10-25T00:00:00Z is not after 2026-10-25T00:00:00Z; sort the lines by time, and keep one of each time",
    ],
    [
      "t,v\n2026-10-25 02:59:00,1\n2026-10-25 02:00:00,1\n",
      3,
      "timestamp 2026-10-25 02:00:00 is not after 2026-10-25 02:59:00; a time without a zone is read as UTC, where no hour comes twice: export it in UTC",
    ],
    [
      "timestamp;value\n60;218,69\n",
      2,
      'value "218,69" is not a number of at least 0: write it such as 218.69, without a unit',
    ],
    ["timestamp,value\n60,\n", 1, "it has no samples"],
    [
      "timestamp,value\n120,\n60,NaN\n",
      3,
      "timestamp 60 is not after 120; sort the lines by time, and keep one of each time",
    ],
    [
      "timestamp,value\n2026-02-30 08:00:00,1\n",
      2,
      'timestamp "2026-02-30 08:00:00" is no time: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds or milliseconds since 1970',
    ],
    [
      "timestamp,value\nnoon,1\n",
      2,
      'timestamp "noon" is no time: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds or milliseconds since 1970',
    ],
    [
      "timestamp,value\n60,1,2\n",
      2,
      "expected 2 columns, found 3; one series is played: keep the time and one column",
    ],
    [
      "time;web;api\n60;1;2\n",
      1,
      "expected 2 columns, found 3; one series is played: keep the time and one column",
    ],
    ["the load of May\n60,1\n", 1, 'expected a time, a comma and a value, found "the load of May"'],
    [
      "time,load\ntime,load\n",
      2,
      'timestamp "time" is no time: write RFC 3339, such as 2026-03-01T12:00:00Z, or seconds or milliseconds since 1970',
    ],
    ["timestamp,value\n", 1, "it has no samples"],
    ["", 1, "it has no samples"],
  ])("refuses %j with its line", async (text, line, what) => {
    const path = await written(text);
    const error = await failure(path);
    expect(error.code).toBe("trace.invalid");
    expect(error.message).toBe(`Cannot read trace "${path}", line ${line}: ${what}`);
    expect(error.details).toEqual({ path, line });
  });

  it("refuses a file that is not there", async () => {
    const path = join(folder, "absent.csv");
    const error = await failure(path);
    expect(error.code).toBe("trace.unreadable");
    expect(error.message).toBe(
      `Cannot read trace "${path}": there is no such file or folder (ENOENT)`,
    );
  });
});

describe("the shipped traces", () => {
  it.each([
    ["azurefn-diurnal-1m", 1440, 60, 420],
    ["azurefn-ramps-zero-1m", 1440, 60, 1834],
    ["azurefn-squarewave-1m", 1440, 60, 797],
    ["azurefn-steps-1m", 1440, 60, 210],
    ["nab-ec2-cpu-noisy-5m", 4032, 300, 68],
    ["nasa-http-launch-week-1m", 10_080, 60, 405],
  ] as const)("%s has %i samples of %i s up to %i", async (name, samples, stepSeconds, highest) => {
    const trace = await readShippedTrace(name);
    expect(trace.points).toHaveLength(samples);
    expect(trace.stepMs).toBe(stepSeconds * 1000);
    expect(spanMs(trace)).toBe(samples * stepSeconds * 1000);
    expect(Math.floor(Math.max(...trace.points.map(({ value }) => value)))).toBe(highest);
  });

  it("are each named in the NOTICE", async () => {
    const notice = await readFile(
      join(shippedTracePath("azurefn-steps-1m"), "..", "NOTICE"),
      "utf8",
    );
    expect(SHIPPED_TRACES).toHaveLength(6);
    for (const name of SHIPPED_TRACES) expect(notice).toContain(`${name}.csv`);
  });
});
