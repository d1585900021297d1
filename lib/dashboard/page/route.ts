/**
 * What is shown is named by the fragment of the address, which no server gets: `#/fleet?q=shop`,
 * `#/autoscaler/eu-1/shop/web/why?at=…`. A link that is copied opens what the sender saw.
 */
export interface Route {
  readonly page: PageName;
  /** The rest of the path: of an autoscaler its cluster, namespace, name and tab. */
  readonly path: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
}

export const PAGES = ["fleet", "clusters", "schedule", "changes", "autoscaler"] as const;
export type PageName = (typeof PAGES)[number];

/** The route of a fragment. What is not known is the fleet. */
export const routeOf = (fragment: string): Route => {
  const [path = "", query = ""] = divided(fragment.replace(/^#\/?/, ""));
  const [first = "", ...rest] = path.split("/").map(decoded);
  const page = PAGES.find((known) => known === first);
  const parameters = Object.fromEntries(new URLSearchParams(query));
  return page === undefined
    ? { page: "fleet", path: [], parameters: {} }
    : { page, path: rest.filter((part) => part !== ""), parameters };
};

/** The fragment of a route, without parameters that are empty. */
export const fragmentOf = ({
  page,
  path = [],
  parameters = {},
}: Pick<Route, "page"> & {
  readonly path?: readonly string[];
  readonly parameters?: Readonly<Record<string, string | undefined>>;
}): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, value] as const],
  );
  const query = given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given))}`;
  return `#/${[page, ...path].map(encodeURIComponent).join("/")}${query}`;
};

const divided = (text: string): readonly [string, string] => {
  const at = text.indexOf("?");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
};

/** A fragment is typed by people too: a half escape stays as it is. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The place of an autoscaler. */
export interface Place {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

export const autoscalerLink = (
  { cluster, namespace, name }: Place,
  parameters: Readonly<Record<string, string | undefined>> = {},
  tab?: string,
): string =>
  fragmentOf({
    page: "autoscaler",
    path: [cluster, namespace, name, ...(tab === undefined ? [] : [tab])],
    parameters,
  });
