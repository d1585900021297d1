import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { wpaHelp } from "../../lib/report/series-words.ts";

const FOLDER = join(import.meta.dirname, "../../examples/monitoring");
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

const rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })) });
const screen = z.object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })) });

const alerts = rules.parse(parse(read("alerts.yaml"))).groups.flatMap((group) => group.rules);
const panels = screen.parse(JSON.parse(read("dashboard.json"))).panels;
const expressions = [...alerts, ...panels.flatMap(({ targets }) => targets)].map(({ expr }) => expr);

const GENERIC: ReadonlySet<string> = new Set(["tidemark_current_replicas", "tidemark_desired_replicas", "tidemark_scaling_active"]);
/** `wpaHelp` names the series itself where it knows none of that name. */
const isServed = (series: string): boolean => {
  const name = series.replace(/^wpa_controller_/, "");
  return GENERIC.has(series) || (name !== series && !wpaHelp(name).startsWith("Series "));
};
const LABELS = new Set(["cluster", "namespace", "name", "wpa_namespace", "wpa_name"]);

describe("examples/monitoring", () => {
  it("names only series that /metrics serves, and their labels", () => {
    expect([alerts.length, panels.length]).toEqual([5, 9]);
    for (const expr of expressions) {
      const series = expr.match(/\b(?:tidemark|wpa_controller)_\w+/g) ?? [];
      expect([expr, series.length > 0, series.filter((each) => !isServed(each))]).toEqual([expr, true, []]);
      const labels = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = ""]) => names.split(", "));
      expect([expr, labels.filter((label) => !LABELS.has(label))]).toEqual([expr, []]);
    }
  });

  it("has a case that fires for every alert", () => {
    const fired = parse(read("alerts.test.yaml")).tests.flatMap(
      (each: { readonly alert_rule_test: readonly { alertname: string; exp_alerts: unknown[] }[] }) =>
        each.alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
    );
    expect(new Set(fired)).toEqual(new Set(alerts.map(({ alert }) => alert)));
  });
});

const { PATH: path = "" } = process.env;
const promtool = path.split(delimiter).some((folder) => existsSync(join(folder, "promtool")));
const run = promisify(execFile);

// Debian has it in the package prometheus.
describe.skipIf(!promtool)(`the rules of Prometheus${promtool ? "" : " (not run: there is no promtool; apt-get install prometheus)"}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-rules-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("pass promtool, and fire and stay silent as their test says", async () => {
    expect((await run("promtool", ["check", "rules", "alerts.yaml"], { cwd: FOLDER })).stdout).toContain("5 rules found");
    expect((await run("promtool", ["test", "rules", "alerts.test.yaml"], { cwd: FOLDER })).stdout).toContain("SUCCESS");
  });

  it("promtool reads every expression of the dashboard", async () => {
    const records = panels
      .flatMap(({ targets }) => targets)
      .map(({ expr }, at) => ({ record: `panel:${at}`, expr: expr.replaceAll(/\$\w+/g, ".*") }));
    writeFileSync(join(folder, "panels.yaml"), JSON.stringify({ groups: [{ name: "panels", rules: records }] }));
    expect((await run("promtool", ["check", "rules", "panels.yaml"], { cwd: folder })).stdout).toContain(`${records.length} rules found`);
  });
});
