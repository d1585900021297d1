import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { journalPageOf, journalPages } from "../../lib/stack/store/pages/plan.ts";

const UIDS = Array.from({ length: 300 }, (_, at) => autoscalerUid(`0b0cf6ee-57de-4a07-8d6e-${at}`));

describe("the journal page of an autoscaler", () => {
  it.each([0, 1, 9, 10, 11, 84])(
    "is one of the journal pages of a partition with %d windows pages",
    (windowsPages) => {
      const pages = journalPages(Math.max(1, windowsPages));
      expect(pages).toHaveLength(Math.max(1, Math.ceil(windowsPages / 10)));
      for (const uid of UIDS) expect(pages).toContain(journalPageOf(uid, windowsPages));
    },
  );
});
