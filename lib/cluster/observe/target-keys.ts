import type { TargetRef } from "../../model/spec-common.ts";

type KeyOfTarget = (namespace: string, target: TargetRef) => string;

/**
 * Keeps the key of each target for as long as the target itself. The specs of a warm environment are the same objects in every sync, and each sync needs the keys of all of them several
 * times: a new text would have to be made, hashed and compared each time. Equal specs may share a target over namespaces, so that the namespace is compared.
 */
export const keptKeys = (keyOf: KeyOfTarget): KeyOfTarget => {
  const kept = new WeakMap<TargetRef, { readonly namespace: string; readonly key: string }>();
  return (namespace, target) => {
    const known = kept.get(target);
    if (known?.namespace === namespace) return known.key;
    const key = keyOf(namespace, target);
    kept.set(target, { namespace, key });
    return key;
  };
};
