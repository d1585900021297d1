import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import Table from "cli-table3";
import * as z from "zod";
import { buildTemplate } from "../../../build/template.ts";
import { packageStack } from "../packaged.ts";
import { ACCEPTED, type Accepted } from "./accepted.ts";
import { CHECK_PACKAGES, printedBy, pythonPrograms } from "./tools.ts";

/**
 * `npm run prove -- infra`: compiles the template and checks it with cfn-lint and checkov. Ends
 * with 1 for a finding that is not in `accepted.ts`, for an entry there that is not found any more,
 * and when a program cannot run.
 */
interface Finding {
  readonly tool: Accepted["tool"];
  readonly rule: string;
  readonly resource: string;
  readonly message: string;
}

const lintFindings = z.array(
  z.object({
    Rule: z.object({ Id: z.string() }),
    Message: z.string(),
    Location: z.object({ Path: z.array(z.union([z.string(), z.number()])).nullable() }),
  }),
);
const checkovFindings = z.object({
  summary: z.object({ passed: z.number(), parsing_errors: z.literal(0) }),
  results: z.object({
    failed_checks: z.array(
      z.object({ check_id: z.string(), check_name: z.string(), resource: z.string() }),
    ),
  }),
});

const lint = async (programs: string, template: string): Promise<readonly Finding[]> => {
  const printed = await printedBy(join(programs, "python3"), join(programs, "cfn-lint"), [
    "--format",
    "json",
    template,
  ]);
  return lintFindings.parse(JSON.parse(printed)).map(({ Rule, Message, Location }) => ({
    tool: "cfn-lint",
    rule: Rule.Id,
    resource: String(Location.Path?.[1] ?? ""),
    message: Message,
  }));
};

const scan = async (
  programs: string,
  template: string,
): Promise<{ readonly findings: readonly Finding[]; readonly passed: number }> => {
  const args = [
    "--file",
    template,
    "--framework",
    "cloudformation",
    "--compact",
    "--quiet",
    "--output",
    "json",
  ];
  const printed = await printedBy(join(programs, "python3"), join(programs, "checkov"), args);
  const { summary, results } = checkovFindings.parse(JSON.parse(printed));
  const findings = results.failed_checks.map(({ check_id, check_name, resource }) => ({
    tool: "checkov" as const,
    rule: check_id,
    resource: resource.slice(resource.lastIndexOf(".") + 1),
    message: check_name,
  }));
  return { findings, passed: summary.passed };
};

const accepts = ({ tool, rule, resources }: Accepted, finding: Finding): boolean =>
  tool === finding.tool &&
  rule === finding.rule &&
  (resources === undefined || resources.includes(finding.resource));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** One row for each rule. */
const print = (findings: readonly Finding[]): void => {
  const table = new Table({
    head: ["program", "rule", "finding", "resources", "accepted because"],
    style: { head: [], border: [] },
    colWidths: [10, 13, 40, 28, 60],
    wordWrap: true,
  });
  for (const same of Map.groupBy(findings, ({ rule }) => rule).values()) {
    const [first] = same;
    if (first === undefined) continue;
    const reasons = new Set(
      same.map(
        (finding) =>
          ACCEPTED.find((accepted) => accepts(accepted, finding))?.reason ?? "not accepted",
      ),
    );
    table.push([
      first.tool,
      first.rule,
      first.message,
      same.map(({ resource }) => resource).join(" "),
      [...reasons].join("; "),
    ]);
  }
  say(table.toString());
};

const programs = await pythonPrograms(CHECK_PACKAGES, say);
const stack = await packageStack();
try {
  const template = join(stack.folder, "template.json");
  await writeFile(template, stack.packaged.text);
  buildTemplate(stack.folder);
  const ofOtherTools = await lint(programs, join(stack.folder, "dist/stack/template.json"));
  const [linted, { findings, passed }] = await Promise.all([
    lint(programs, template),
    scan(programs, template),
  ]);
  const all = [...linted, ...ofOtherTools, ...findings];
  print(all);
  const refused = all.filter((finding) => !ACCEPTED.some((accepted) => accepts(accepted, finding)));
  const stale = ACCEPTED.filter((accepted) => !all.some((finding) => accepts(accepted, finding)));
  for (const { tool, rule } of stale)
    say(`${tool} ${rule} is accepted and not found any more: remove it from accepted.ts`);
  say(
    `checkov passed ${passed} checks; ${all.length - refused.length} findings are accepted, ${refused.length} are not`,
  );
  if (refused.length + stale.length > 0) process.exitCode = 1;
} finally {
  await stack.done();
}
