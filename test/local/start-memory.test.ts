import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const MAKES_GARBAGE = `
const youngBytes = () => require("node:v8").getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size;
let [kept, most] = [[], 0];
for (let at = 0; at < 6_000_000; at++) {
  kept.push({ at });
  if (kept.length < 400_000) continue;
  kept = [];
  most = Math.max(most, youngBytes());
}
process.stdout.write(String(most));
`;
const youngBytes = (flags: readonly string[]): number =>
  Number(execFileSync(process.execPath, [...flags, "-e", MAKES_GARBAGE], { encoding: "utf8" }));

it("npm start keeps the young generation of its heap at a fraction of what Node would take", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  const flags = scripts.start.split(" ").filter((word: string) => word.startsWith("--"));
  expect(youngBytes(flags) / youngBytes([])).toBeLessThan(0.5);
});
