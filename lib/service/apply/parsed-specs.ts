import { specOf } from "../../manifest/admit.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";

/** Text of remembered manifests: some thousand of ordinary size. */
export const CACHED_CHARACTERS_MAX = 4_000_000;

/**
 * `specOf` for who asks again and again for the same manifests: whoever applies one looks at all others of its namespace. Equal texts give equal specs, so that what is remembered
 * never grows old; past the limit all is forgotten. A text that is refused is read again, for its words tell where it stood.
 */
export const specCache = (convert: typeof specOf = specOf, charactersMax = CACHED_CHARACTERS_MAX): typeof specOf => {
  const known = new Map<string, AutoscalerSpec>();
  let characters = 0;
  return (manifest, where) => {
    const found = known.get(manifest);
    if (found) return found;
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
