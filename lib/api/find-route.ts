import type { CommandService, QueryService } from "../service/service.ts";
import { COMMAND_ROUTES } from "./command-routes.ts";
import { COMMAND_PATHS, METRICS_PATH, QUERY_PATHS } from "./paths.ts";
import { refusal } from "./problem.ts";
import { METRICS_ROUTE, QUERY_ROUTES } from "./query-routes.ts";
import type { ApiRequest } from "./request-and-answer.ts";
import type { Route } from "./route.ts";
import { ROUTE_SCOPES, type RouteScope } from "./route-scopes.ts";

/** A route, its kind and its scope, which say which rights it needs. */
export type FoundRoute = { readonly path: string; readonly scope: RouteScope } & (
  | { readonly kind: "reading"; readonly method: "GET"; readonly route: Route<QueryService> }
  | { readonly kind: "editing"; readonly method: "POST"; readonly route: Route<CommandService> }
);

const verbsOf = <Paths extends object>(paths: Paths): readonly (keyof Paths)[] => Object.keys(paths) as (keyof Paths)[];

/** All routes, in the order of the documentation. */
export const ALL_ROUTES: readonly FoundRoute[] = [
  ...verbsOf(QUERY_PATHS).map(
    (verb): FoundRoute => ({ kind: "reading", method: "GET", path: QUERY_PATHS[verb], scope: ROUTE_SCOPES[verb], route: QUERY_ROUTES[verb] }),
  ),
  { kind: "reading", method: "GET", path: METRICS_PATH, scope: ROUTE_SCOPES.series, route: METRICS_ROUTE },
  ...verbsOf(COMMAND_PATHS).map(
    (verb): FoundRoute => ({ kind: "editing", method: "POST", path: COMMAND_PATHS[verb], scope: ROUTE_SCOPES[verb], route: COMMAND_ROUTES[verb] }),
  ),
];

const BY_PATH: ReadonlyMap<string, FoundRoute> = new Map(ALL_ROUTES.map((route) => [route.path, route]));

/** Characters of the request that a message repeats. */
const SHOWN_CHARACTERS = 80;
const shown = (text: string): string => JSON.stringify(text.slice(0, SHOWN_CHARACTERS));

/** Throws `api.unknown-route` with the list of paths, and `api.method` with the method that the path takes. */
export const findRoute = ({ method, path }: Pick<ApiRequest, "method" | "path">): FoundRoute => {
  const route = BY_PATH.get(path);
  if (!route) throw refusal("api.unknown-route", `Cannot find ${shown(path)}: the paths are ${[...BY_PATH.keys()].join(", ")}`, { status: 404 });
  if (route.method === method) return route;
  throw refusal("api.method", `Cannot ${shown(method)} ${shown(path)}: it takes ${route.method}`, { status: 405, headers: { allow: route.method } });
};
