import Table from "cli-table3";
import { shareOf } from "../conformance/converted.ts";

/**
 * Share of the safe conformance sequences that decide the same as PodAutoscalers, and of those
 * refused by each rule.
 */
export const run = async (): Promise<void> => {
  const table = new Table({
    head: ["sequences of", "outcome", "count", "share"],
    style: { head: [], border: [] },
    colAligns: ["left", "left", "right", "right"],
  });
  for (const dialect of ["hpa", "watermark"] as const) {
    const { sequences, same, refused, different } = shareOf(dialect);
    const row = (outcome: string, count: number): void =>
      void table.push([
        dialect,
        outcome,
        String(count),
        `${((100 * count) / sequences).toFixed(1)} %`,
      ]);
    row("decides the same", same);
    row("decides otherwise", different.length);
    for (const [rule, count] of refused) row(`refused: ${rule}`, count);
  }
  process.stdout.write(`${table.toString()}\n`);
};
