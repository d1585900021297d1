import { specOf } from "../../rules/manifest/admit.ts";
import { isTidemarkError } from "../../rules/model/errors.ts";
import type { AutoscalerRecord } from "../../rules/model/records.ts";
import type { AutoscalerSpec } from "../../rules/model/spec.ts";

/** The spec of a stored manifest, or why this release cannot read it. */
export const storedSpec = ({ manifest, namespace, name }: AutoscalerRecord): StoredSpec => {
  try {
    return { kind: "spec", spec: cachedSpecOf(manifest, `${namespace}/${name}`) };
  } catch (error) {
    if (!isTidemarkError(error, "manifest")) throw error;
    return { kind: "problem", message: error.message };
  }
};

/** The spec of a stored manifest; undefined where this release cannot read it. */
export const readableSpec = (record: AutoscalerRecord): AutoscalerSpec | undefined => {
  const stored = storedSpec(record);
  return stored.kind === "spec" ? stored.spec : undefined;
};

export type StoredSpec =
  | { readonly kind: "spec"; readonly spec: AutoscalerSpec }
  | { readonly kind: "problem"; readonly message: string };

/** Limit of the cache: the text of some thousand ordinary manifests. */
const CACHED_CHARACTERS_MAX = 4_000_000;

/**
 * Caches `specOf` by the text of the manifest, because applying one manifest reads all others of
 * its namespace. Equal texts give equal specs, so an entry never becomes stale. At the limit the
 * cache is emptied. An error is not cached, because its message names the place.
 */
export const specCache = (
  convert: typeof specOf = specOf,
  charactersMax = CACHED_CHARACTERS_MAX,
): typeof specOf => {
  const known = new Map<string, AutoscalerSpec>();
  let characters = 0;
  return (manifest, where) => {
    const cached = known.get(manifest);
    if (cached) return cached;
    const spec = convert(manifest, where);
    if (characters + manifest.length > charactersMax) {
      known.clear();
      characters = 0;
    }
    characters += manifest.length;
    known.set(manifest, spec);
    return spec;
  };
};

const cachedSpecOf = specCache();
