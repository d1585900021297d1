import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { type Folder, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples");
const FILES = readdirSync(EXAMPLES).filter((file) => file.endsWith(".yaml"));

let folder: Folder;
const run = (args: readonly string[], stdin = "") =>
  inside([...args, "--data", folder.data], { stdin });
const outcomes = (out: string): readonly string[] =>
  [...out.matchAll(/" (\w+)$/gm)].map(([, outcome = ""]) => outcome);

beforeAll(async () => {
  folder = await shopInMemory();
  const files = FILES.flatMap((file) => ["-f", join(EXAMPLES, file)]);
  const everywhere = ["--for-cluster", "*", "--for-namespace", "*"];
  const role = [
    "--role",
    "arn:aws:iam::123456789012:role/tidemark-prod-source-queues",
    "--external-id",
    "7f3c",
    "--aws-region",
    "eu-central-1",
  ];
  await run(["source", "put", "main", "--service", "monitoring/prometheus:9090", ...everywhere]);
  await run(["source", "put", "queues", "--kind", "sqs", ...role, "--queue", "*", ...everywhere]);
  const { code, err } = await run(["apply", ...files, "--cluster", "us-1"]);
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(
      /^warning: ".*queue\.yaml": AWS takes some \$0\.07 a month for "orders".*\n$/,
    ),
  ]);
});
afterAll(() => folder.remove());

it.each(["yaml", "json"])(
  "what get prints of every example as %s can be applied again, and changes nothing",
  async (format) => {
    const got = await run(["get", "--cluster", "us-1", "-o", format]);
    const { code, out, err } = await run(["apply", "-f", "-", "--cluster", "us-1"], got.out);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(outcomes(out).length).toBeGreaterThan(FILES.length);
    expect(new Set(outcomes(out))).toEqual(new Set(["unchanged"]));
  },
);

it("what describe prints of one autoscaler can be applied again, and changes nothing", async () => {
  const described = await run(["describe", "eu-1/shop/web", "-o", "yaml"]);
  expect(parse(described.out)).toMatchObject({ status: { windows: {} } });
  const { code, out } = await run(["apply", "-f", "-", "--cluster", "eu-1"], described.out);
  expect([code, outcomes(out)]).toEqual([0, ["unchanged"]]);
});

it("what get prints and a person changed is applied with the change alone", async () => {
  const got = await run(["get", "eu-1/shop/web", "-o", "yaml"]);
  const { out } = await run(
    ["apply", "-f", "-", "--cluster", "eu-1"],
    got.out.replace("\n  maxReplicas: 10", "\n  maxReplicas: 11"),
  );
  expect(outcomes(out)).toEqual(["configured"]);
  const { spec, metadata } = parse((await run(["get", "eu-1/shop/web", "-o", "yaml"])).out);
  expect([spec.maxReplicas, metadata.generation]).toEqual([11, 2]);
});
