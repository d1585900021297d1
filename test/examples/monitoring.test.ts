import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { wpaHelp } from "../../lib/answers/service/series/autoscaler-series.ts";

const FOLDER = join(import.meta.dirname, "../../examples/monitoring");
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

const rules = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});
const screen = z.object({
  panels: z.array(
    z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) }),
  ),
});

const alerts = rules.parse(parse(read("alerts.yaml"))).groups.flatMap((group) => group.rules);
const panels = screen.parse(JSON.parse(read("dashboard.json"))).panels;
const expressions = [...alerts, ...panels.flatMap(({ targets }) => targets)].map(
  ({ expr }) => expr,
);

const GENERIC: ReadonlySet<string> = new Set([
  "tidemark_current_replicas",
  "tidemark_desired_replicas",
  "tidemark_scaling_active",
  "tidemark_due_syncs_decided_ratio",
]);
/** `wpaHelp` names the series itself where it knows none of that name. */
const isServed = (series: string): boolean => {
  const name = series.replace(/^wpa_controller_/, "");
  return GENERIC.has(series) || (name !== series && !wpaHelp(name).startsWith("Series "));
};
const LABELS = new Set(["cluster", "namespace", "name", "wpa_namespace", "wpa_name"]);

describe("examples/monitoring", () => {
  it("names only series that /metrics serves, and their labels", () => {
    expect([alerts.length, panels.length]).toEqual([6, 9]);
    for (const expr of expressions) {
      const series = expr.match(/\b(?:tidemark|wpa_controller)_\w+/g) ?? [];
      expect([expr, series.length > 0, series.filter((each) => !isServed(each))]).toEqual([
        expr,
        true,
        [],
      ]);
      const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = ""]) =>
        names.split(", "),
      );
      expect([expr, labels.filter((label) => !LABELS.has(label))]).toEqual([expr, []]);
    }
  });

  it("has a case that fires for every alert", () => {
    const fired = parse(read("alerts.test.yaml")).tests.flatMap(
      (each: {
        readonly alert_rule_test: readonly { alertname: string; exp_alerts: unknown[] }[];
      }) =>
        each.alert_rule_test
          .filter(({ exp_alerts }) => exp_alerts.length > 0)
          .map(({ alertname }) => alertname),
    );
    expect(new Set(fired)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  });
});

const { PATH: path = "" } = process.env;
const promtool = path.split(delimiter).some((folder) => existsSync(join(folder, "promtool")));
const run = promisify(execFile);

// Debian has it in the package prometheus.
describe.skipIf(!promtool)(
  `the rules of Prometheus${promtool ? "" : " (not run: there is no promtool; apt-get install prometheus)"}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-rules-"));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it("pass promtool, and fire and stay silent as their test says", async () => {
      expect(
        (await run("promtool", ["check", "rules", "alerts.yaml"], { cwd: FOLDER })).stdout,
      ).toContain("6 rules found");
      expect(
        (await run("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: FOLDER })).stdout,
      ).toContain("SUCCESS");
    });

    it("promtool reads every expression of the dashboard", async () => {
      const records = panels
        .flatMap(({ targets }) => targets)
        .map(({ expr }, at) => ({ record: `panel:${at}`, expr: expr.replaceAll(/\$\w+/g, ".*") }));
      writeFileSync(
        join(folder, "panels.yaml"),
        JSON.stringify({ groups: [{ name: "panels", rules: records }] }),
      );
      expect(
        (await run("promtool", ["check", "rules", "panels.yaml"], { cwd: folder })).stdout,
      ).toContain(`${records.length} rules found`);
    });
  },
);

describe("examples/monitoring/cloudwatch-cluster.sh", () => {
  /** The arguments that it gives to the AWS command line. */
  const given = (cluster: string): readonly string[] => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-aws-"));
    writeFileSync(join(folder, "aws"), '#!/bin/sh\nprintf "%s\\0" "$@"\n', { mode: 0o755 });
    const env = { PATH: `${folder}${delimiter}${process.env["PATH"]}`, AWS_REGION: "eu-central-1" };
    const { status, stdout, stderr } = spawnSync(
      "bash",
      [join(FOLDER, "cloudwatch-cluster.sh"), "tidemark-prod", cluster],
      {
        env,
        encoding: "utf8",
      },
    );
    rmSync(folder, { recursive: true, force: true });
    expect([status, stderr]).toEqual([0, ""]);
    return stdout.split("\0");
  };

  it("puts a screen of the cluster, whose questions name metrics that syncs send", () => {
    const words = given("eu-1");
    expect(words.slice(0, 4)).toEqual([
      "cloudwatch",
      "put-dashboard",
      "--dashboard-name",
      "tidemark-prod-eu-1",
    ]);
    const body = z.object({
      widgets: z.array(
        z.object({ x: z.number(), y: z.number(), properties: z.object({ query: z.string() }) }),
      ),
    });
    const { widgets } = body.parse(JSON.parse(words[5] ?? ""));
    expect(new Set(widgets.map(({ x, y }) => `${x} ${y}`)).size).toBe(6);
    const page = readFileSync(join(FOLDER, "../../docs/monitoring.md"), "utf8");
    for (const { properties } of widgets) {
      expect(properties.query).toMatch(
        /^SOURCE '\/aws\/lambda\/tidemark-prod-sync' \| filter cluster = 'eu-1' \| /,
      );
      for (const [metric] of properties.query.matchAll(/\b[A-Z][a-z]+[A-Z][A-Za-z]+\b/g))
        expect(page).toContain(`\`${metric}\``);
    }
  });
});
