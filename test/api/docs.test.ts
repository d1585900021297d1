import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { APPLY_BODY_BYTES_MAX } from "../../lib/api/command-routes.ts";
import { ALL_ROUTES } from "../../lib/api/find-route.ts";
import { PAGE_LIMITS } from "../../lib/api/list-page.ts";
import { KEY_HEADER } from "../../lib/api/paths.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/api.md"), "utf8");

const takenBy = (takes: z.ZodType): string => {
  if (!("shape" in takes)) throw new Error("a route takes an object");
  const fields = Object.entries(takes.shape as Readonly<Record<string, z.ZodType>>);
  return fields.length === 0
    ? "–"
    : fields.map(([name, type]) => `\`${name}\`${type.safeParse(undefined).success || isOptional(type) ? "?" : ""}`).join(", ");
};
/** A field that may be absent, though not given as undefined. */
const isOptional = (type: z.ZodType): boolean => type._zod.optin === "optional";

describe("docs/api.md", () => {
  it("has every route, with what it takes and does", () => {
    const rows = ALL_ROUTES.map(({ method, path, route }) => `| \`${method} ${path}\` | ${takenBy(route.schema)} | ${route.summary} |`);
    const table = /\| route \| takes \| does \|\n\|---\|---\|---\|\n(.*?)\n\n/s.exec(page)?.[1] ?? "";
    expect(table.split("\n")).toEqual(rows);
  });

  it("names the limits and headers as they are", () => {
    expect(page).toContain(`${APPLY_BODY_BYTES_MAX / 1_000_000} MB`);
    expect(page).toContain(`${PAGE_LIMITS.bytes / 1_000_000} MB`);
    expect(page.toLowerCase()).toContain(`\`${KEY_HEADER}\``);
  });
});
