import { expect, it } from "vitest";
import { boundByText } from "../../lib/answers/words/bounds-words.ts";
import type { BoundSourceView } from "../../lib/answers/views/holds.ts";

it("names a bound that a later version has stored, and does not fail", () => {
  const later: unknown = JSON.parse('{ "kind": "budget", "id": "b-1" }');
  expect(boundByText(later as BoundSourceView)).toBe(
    'by "budget", which this version does not know',
  );
});
