import type { Editing, Reading } from "../service/service.ts";
import { EDITING_ROUTES } from "./editing-routes.ts";
import type { ApiRequest } from "./exchange.ts";
import { EDITING_PATHS, METRICS_PATH, READING_PATHS } from "./paths.ts";
import { refusal } from "./problem.ts";
import { METRICS_ROUTE, READING_ROUTES } from "./reading-routes.ts";
import type { Route } from "./route.ts";

/** A route that was found: what it is about tells which rights it needs. */
export type Found =
  | { readonly kind: "reading"; readonly method: "GET"; readonly path: string; readonly route: Route<Reading> }
  | { readonly kind: "editing"; readonly method: "POST"; readonly path: string; readonly route: Route<Editing> };

const verbsOf = <Paths extends object>(paths: Paths): readonly (keyof Paths)[] => Object.keys(paths) as (keyof Paths)[];

/** Every route there is, in the order of the documentation. */
export const ALL_ROUTES: readonly Found[] = [
  ...verbsOf(READING_PATHS).map((verb): Found => ({ kind: "reading", method: "GET", path: READING_PATHS[verb], route: READING_ROUTES[verb] })),
  { kind: "reading", method: "GET", path: METRICS_PATH, route: METRICS_ROUTE },
  ...verbsOf(EDITING_PATHS).map((verb): Found => ({ kind: "editing", method: "POST", path: EDITING_PATHS[verb], route: EDITING_ROUTES[verb] })),
];

const BY_PATH: ReadonlyMap<string, Found> = new Map(ALL_ROUTES.map((found) => [found.path, found]));

/** Characters of what was asked that a message repeats. */
const SHOWN_CHARACTERS = 80;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/** Throws `api.unknown-route` with what there is, `api.method` with the one that the path has. */
export const findRoute = ({ method, path }: Pick<ApiRequest, "method" | "path">): Found => {
  const found = BY_PATH.get(path);
  if (!found) throw refusal("api.unknown-route", `Cannot find ${shown(path)}: there are ${[...BY_PATH.keys()].join(", ")}`, { status: 404 });
  if (found.method === method) return found;
  throw refusal("api.method", `Cannot ${shown(method)} ${shown(path)}: it takes ${found.method}`, { status: 405, headers: { allow: found.method } });
};
