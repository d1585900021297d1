import { mustAllow, type Rights, type Role } from "../../rules/model/access.ts";
import { TidemarkError } from "../../rules/model/errors.ts";

/**
 * What a route is about, and so what a grant must cover. A route without a scope does not compile:
 *
 * - `visible`: what the caller may look at. The service leaves out all else
 *   (lib/answers/service/context.ts), and an edit is checked for each autoscaler before anything
 *   is stored.
 * - `cluster`: all of the cluster that the field `name` begins with.
 * - `fleet`: all of the fleet.
 * - `caller`: the caller itself.
 * - `connect`: only the URL of `connect` decides. Its callers may give themselves any grant.
 */
export type RouteScope = "visible" | "cluster" | "fleet" | "caller" | "connect";

interface Asked {
  readonly scope: RouteScope;
  readonly role: Role;
  readonly input: object;
}

/**
 * Checks the rights of a caller before the route runs. Throws `service.no-grant`, and
 * `service.unknown` for a cluster of which the caller may see nothing: the same words whether there
 * is one of that name or not.
 */
export const mustBeGranted = (rights: Rights, { scope, role, input }: Asked): void => {
  if (!rights.limited) return;
  switch (scope) {
    case "caller":
    case "connect":
      return;
    case "fleet":
      mustAllow(rights, role, {});
      return;
    case "cluster":
      mustAllowCluster(rights, role, input);
      return;
    case "visible":
      // A caller that may edit nothing learns from no edit whether there is something of that name.
      if (!rights.grants.some((grant) => role === "view" || grant.role === "edit"))
        mustAllow(rights, role, {});
  }
};

const mustAllowCluster = (rights: Rights, role: Role, input: object): void => {
  const name: unknown = Reflect.get(input, "name");
  const [cluster = ""] = String(name).split("/");
  if (rights.allows(role, { cluster })) return;
  const isNew = "connection" in input && !rights.touches(cluster);
  if (rights.touches(cluster) || isNew) mustAllow(rights, role, { cluster });
  throw new TidemarkError(
    "service.unknown",
    `Cannot find cluster "${cluster}": no object has that name`,
    { name: cluster },
  );
};
