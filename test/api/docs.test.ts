import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { APPLY_BODY_BYTES_MAX } from "../../lib/answers/api/command-routes.ts";
import { ALL_ROUTES } from "../../lib/answers/api/answer-request.ts";
import { PAGE_LIMITS } from "../../lib/answers/api/list-page.ts";
import { IF_MATCH_HEADER, KEY_HEADER } from "../../lib/answers/api/paths.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");

const takenBy = (takes: z.ZodType): string => {
  if (!("shape" in takes)) throw new Error("a route takes an object");
  const fields = Object.entries(takes.shape as Readonly<Record<string, z.ZodType>>);
  return fields.length === 0
    ? "–"
    : fields
        .map(
          ([name, type]) =>
            `\`${name}\`${type.safeParse(undefined).success || isOptional(type) ? "?" : ""}`,
        )
        .join(", ");
};
/** A field that may be absent, though not given as undefined. */
const isOptional = (type: z.ZodType): boolean => type._zod.optin === "optional";

describe("docs/api.md", () => {
  it("has every route, with what it takes and does", () => {
    const rows = ALL_ROUTES.map(
      ({ method, path, route }) =>
        `| \`${method} ${path}\` | ${takenBy(route.schema)} | ${route.summary} |`,
    );
    const table =
      /\| route \| takes \| does \|\n\|---\|---\|---\|\n(.*?)\n\n/s.exec(page)?.[1] ?? "";
    expect(table.split("\n")).toEqual(rows);
  });

  it("names the routes that take If-Match", () => {
    const conditional = ALL_ROUTES.filter(({ route }) => route.conditional).map(
      ({ path }) => `\`${path}\``,
    );
    const sentence = `${conditional.slice(0, -1).join(", ")} and ${conditional.at(-1)} take \`If-Match\``;
    expect(page).toContain(sentence.replace("`/", "`POST /"));
  });

  it("names the limits and headers as they are", () => {
    expect(page).toContain(`${APPLY_BODY_BYTES_MAX / 1_000_000} MB`);
    expect(page).toContain(`${PAGE_LIMITS.bytes / 1_000_000} MB`);
    for (const header of [KEY_HEADER, IF_MATCH_HEADER])
      expect(page.toLowerCase()).toContain(`\`${header}\``);
  });
});
