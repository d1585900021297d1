import { COMMAND_PATHS, QUERY_PATHS } from "../../answers/api/paths.ts";
import type { CommandService } from "../../answers/service/service.ts";

/** What the page may edit where edits are allowed. Nothing else of the edit URL is passed on. */
export const EDITS = [
  "pause",
  "resume",
  "freeze",
  "thaw",
  "setOverride",
  "extendOverride",
  "clearOverride",
] as const satisfies readonly (keyof CommandService)[];

export type EditPath = (typeof COMMAND_PATHS)[(typeof EDITS)[number]];

/** What the page must know of the server itself (facts.ts). */
export const FACTS_PATH = "/v1/dashboard";

/** The header that carries the token of the URL's fragment. */
export const TOKEN_HEADER = "x-tidemark-token";

/**
 * The fixed list of what is answered from the API, with the method of each path. A path is compared
 * as a whole, so that no other spelling of it reaches anything.
 */
export const API_METHODS: ReadonlyMap<string, "GET" | "POST"> = new Map([
  [FACTS_PATH, "GET"],
  ...Object.values(QUERY_PATHS).map((path) => [path, "GET"] as const),
  ...EDITS.map((verb) => [COMMAND_PATHS[verb], "POST"] as const),
]);

/** The files of the page by their path, with their type. Each is named here or not served. */
export const PAGE_FILES: ReadonlyMap<string, { readonly file: string; readonly type: string }> =
  new Map([
    ["/", { file: "index.html", type: "text/html; charset=utf-8" }],
    ["/page.js", { file: "page.js", type: "text/javascript; charset=utf-8" }],
    ["/page.css", { file: "page.css", type: "text/css; charset=utf-8" }],
    ["/icon.svg", { file: "icon.svg", type: "image/svg+xml" }],
  ]);
