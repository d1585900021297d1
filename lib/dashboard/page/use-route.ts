import { useEffect, useState } from "preact/hooks";
import { fragmentOf, type Route, routeOf } from "./route.ts";

/** The route of the address, as it changes. */
export const useRoute = (): Route => {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setFragment(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return routeOf(fragment);
};

/** Shows another route: a new entry of the history. */
export const open = (fragment: string): void => {
  location.hash = fragment;
};

/** Changes parameters of the route in place: Back does not lead through each letter of a search. */
export const setParameters = (
  route: Route,
  parameters: Readonly<Record<string, string | undefined>>,
): void => {
  const next = fragmentOf({ ...route, parameters: { ...route.parameters, ...parameters } });
  history.replaceState(null, "", next);
  dispatchEvent(new HashChangeEvent("hashchange"));
};
