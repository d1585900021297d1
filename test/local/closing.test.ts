import { expect, it } from "vitest";
import { closing } from "../../lib/embedded/host/closing.ts";

it("what was opened is closed from the last to the first, and what lets requests in before all of it", async () => {
  const closed: string[] = [];
  const closer = closing();
  closer.addDoor(() => closed.push("page"));
  closer.add(() => closed.push("tables"));
  closer.addDoor(() => closed.push("series"));
  closer.add(() => closed.push("queue"));
  await closer.closeAll();
  expect(closed).toEqual(["series", "page", "queue", "tables"]);
  await closer.closeAll();
  expect(closed).toHaveLength(4);
});

it("a step that fails keeps no other from closing, and the first failure is thrown", async () => {
  const closed: string[] = [];
  const closer = closing();
  closer.add(() => closed.push("tables"));
  closer.add(() => Promise.reject(new Error("the queue is stuck")));
  closer.addDoor(() => {
    throw new Error("the page is stuck");
  });
  await expect(closer.closeAll()).rejects.toThrow("the page is stuck");
  expect(closed).toEqual(["tables"]);
});
