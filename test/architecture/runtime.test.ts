import { expect, it } from "vitest";

it("runs on the pinned Node, whatever Node the machine has", () => {
  expect(process.versions.node).toMatch(/^24\./);
});
