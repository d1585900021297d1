import { describe, expect, it, vi } from "vitest";
import { planLine, requestLine } from "../../lib/stack/report/function-lines.ts";
import { logLines } from "../../lib/stack/report/log-lines.ts";
import { newLogger, powertoolsReporter } from "../../lib/stack/report/reporter.ts";
import { event } from "../store/records.ts";
import { completed, dropped, NOON } from "./reports.ts";

const words = (report: Parameters<typeof logLines>[0]): readonly string[] =>
  logLines(report).map(({ level, message }) => `${level}: ${message}`);

describe("logLines()", () => {
  it("says a steady sync in one line at the level of debugging, whatever the number of autoscalers", () => {
    expect(logLines(completed())).toEqual([
      {
        level: "debug",
        message: 'Synced "eu-1/default": 3 of 3 autoscalers evaluated, 0 scales settled, 0 failed',
        fields: {
          cluster: "eu-1",
          partition: "default",
          due: "2026-03-01T12:00:00.000Z",
          lagMs: 300,
          tookMs: 1_000,
          outcome: "completed",
          epoch: 7,
          autoscalers: 3,
          evaluated: 3,
          failed: 0,
          scales: 0,
          openIntents: 0,
          calls: 4,
          bytes: 1_000,
          pagesWritten: 0,
          journalPages: 1,
          phasesMs: { load: 5 },
        },
      },
    ]);
  });

  it("shows real milliseconds beside virtual ones, where the clock of a sync stands still", () => {
    const [line] = logLines(
      completed({ phasesMs: { load: 0 }, real: { tookMs: 12.34, phasesMs: { load: 2.06 } } }),
    );
    expect(line?.fields).toMatchObject({
      phasesMs: { load: 0 },
      realMs: 12.3,
      realPhasesMs: { load: 2.1 },
    });
  });

  it("adds a line per scale, and one line for all changed conditions", () => {
    const events = [
      event(),
      event({ outcome: "refused", detail: "the object has been modified" }),
      event({ outcome: "unknown", detail: "the workload is gone" }),
    ];
    const changed = [
      {
        namespace: "shop",
        name: "web",
        reason: "ScaleUpLimit",
        message: "the desired count is above the limit",
      },
    ];
    expect(words(completed({ events, changed })).slice(1)).toEqual([
      'info: Scaled "shop/web" in cluster "eu-1" from 2 to 5: cpu resource utilization above target',
      'warn: Could not scale "shop/web" in cluster "eu-1" from 2 to 5: the object has been modified',
      'warn: It is not known whether Tidemark scaled "shop/web" in cluster "eu-1" from 2 to 5: the workload is gone',
      'info: Conditions of 1 autoscaler of "eu-1/default" changed: "shop/web": the desired count is above the limit',
    ]);
  });

  it("names the first ten of a thousand autoscalers whose conditions changed, and counts the rest in the same line", () => {
    const changed = Array.from({ length: 1_000 }, (_, at) => ({
      namespace: "shop",
      name: `web-${at}`,
      reason: at < 990 ? "FailedGetScale" : "ScaleUpLimit",
      message: "the server is not reachable",
    }));
    const [, line, ...more] = logLines(completed({ changed }));
    expect(more).toEqual([]);
    expect(line?.message).toMatch(
      /^Conditions of 1000 autoscalers of "eu-1\/default" changed: "shop\/web-0": .*"shop\/web-9": the server is not reachable; and 990 more$/,
    );
    expect(line?.fields).toMatchObject({
      changed: 1_000,
      changedFirst: changed.slice(0, 10),
      reasons: { FailedGetScale: 990, ScaleUpLimit: 10 },
    });
  });

  it("warns of failed evaluations, and calls what cannot be read an error, naming the first five", () => {
    expect(words(completed({ failed: 1 }))[0]).toMatch(/^warn: /);
    const unreadable = Array.from({ length: 7 }, (_, at) => ({
      namespace: "shop",
      name: `web-${at}`,
      reason: "InvalidSpec",
      message: "",
    }));
    const [line] = logLines(completed({ unreadable }));
    expect(line).toMatchObject({
      level: "error",
      fields: { unreadable: 7, unreadableFirst: unreadable.slice(0, 5) },
    });
  });

  it("says why nothing was scaled, and how many would have been", () => {
    const stopped = { reason: "FleetFrozen", message: "the fleet was frozen by ann: game day" };
    const [line] = logLines(completed({ heldBack: 2, stopped }));
    expect(line).toMatchObject({
      level: "info",
      message:
        'Synced "eu-1/default" without a scale, 2 held back: the fleet was frozen by ann: game day; 3 of 3 autoscalers evaluated, 0 scales settled, 0 failed',
      fields: { stopped: "FleetFrozen", heldBack: 2 },
    });
  });

  it("counts what was not told to the objects of the cluster, and nothing where all was", () => {
    const whole = { written: 4, failed: 0, left: 0 };
    const partly = { written: 0, failed: 1, left: 3 };
    expect(logLines(completed({ writtenBack: whole }))[0]?.fields).not.toHaveProperty(
      "writtenBack",
    );
    expect(logLines(completed({ writtenBack: partly }))[0]?.fields).toMatchObject({
      writtenBack: partly,
    });
  });

  it.each([
    ["stale", "warn", "the message is older than three periods"],
    ["done", "info", "a sync of this due time or a later one has completed"],
    ["held", "warn", "another sync holds the lease"],
    ["removed", "info", "the partition does not exist any more"],
    [
      "early",
      "error",
      "it is due in the future: the clock of its sender or of this machine is wrong",
    ],
    ["clock", "error", "the clock of this machine is wrong by more than two seconds"],
    [
      "newer",
      "error",
      "a later release has claimed the partition, and this release does not know its rules; deploy the later release again",
    ],
    ["lost", "warn", "another sync claimed the partition in the meantime"],
  ] as const)("says why a message was dropped: %s", (why, level, reason) => {
    expect(words(dropped(why))).toEqual([`${level}: Dropped a sync of "eu-1/default": ${reason}`]);
  });
});

describe("planLine()", () => {
  const report = {
    fromMs: NOON,
    untilMs: NOON + 60_000,
    missed: [],
    clusters: 2,
    sent: 8,
    skipped: 0,
    unreadable: [],
  };
  it.each([
    [report, "info"],
    [{ ...report, skipped: 1 }, "warn"],
    [{ ...report, unreadable: [{ name: "eu-2", message: "x" }] }, "error"],
  ])("tells what was planned, and how bad it is", (given, level) => {
    expect(planLine(given)).toMatchObject({
      level,
      message: "Planned 8 syncs of 2 clusters",
      fields: { from: "2026-03-01T12:00:00.000Z", sent: 8 },
    });
  });

  it("names the minutes that no call had planned", () => {
    expect(planLine({ ...report, missed: [NOON - 60_000] }).fields).toMatchObject({
      missed: ["2026-03-01T11:59:00.000Z"],
    });
    expect(planLine(report).fields).not.toHaveProperty("missed");
  });
});

describe("a printed log line", () => {
  /** Escape, C1 and DEL, an override of the direction, line separators, zero width. */
  const HOSTILE = "\u001b[2J\u009b2J\u007f\u202e\u2028\u200b\r\nforged line";

  it("has no character that a viewer executes or hides, whatever a cluster, a message of the queue, a caller or an error says", () => {
    const printed: string[] = [];
    const logger = newLogger({ serviceName: "tidemark", logLevel: "DEBUG" });
    const print = (text: string): number => printed.push(text);
    Object.assign(logger, { console: { debug: print, info: print, warn: print, error: print } });
    const reporter = powertoolsReporter({ logger });
    const scaled = {
      ...event({ detail: HOSTILE }),
      outcome: "refused",
      message: HOSTILE,
      reason: HOSTILE,
    } as const;
    for (const line of [
      ...logLines(
        completed({
          events: [scaled],
          unreachable: true,
          error: HOSTILE,
          unreadable: [HOSTILE],
        } as object),
      ),
      planLine({
        fromMs: 0,
        untilMs: 60_000,
        clusters: 1,
        sent: 0,
        skipped: 0,
        missed: [],
        unreadable: [{ name: HOSTILE, message: HOSTILE }],
      }),
      requestLine({
        method: HOSTILE,
        path: `/${HOSTILE}`,
        status: 400,
        tookMs: 1,
        bytes: 1,
        requestId: "r",
        by: HOSTILE,
        error: new Error(HOSTILE),
      }),
    ])
      reporter.line(line);
    vi.spyOn(process.stdout, "write").mockImplementationOnce(() => true);
    reporter.failed(new Error(HOSTILE, { cause: new Error(HOSTILE) }), { body: HOSTILE });
    expect(printed.filter((text) => text.includes("forged line")).length).toBeGreaterThan(4);
    expect(printed.filter((text) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text))).toEqual([]);
  });
});
