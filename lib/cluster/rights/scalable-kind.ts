import type { ScalableKind } from "./rules.ts";

const KIND = /^([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/([a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/;

export const SCALABLE_KIND_WORDS = "give the API group and the plural of a custom resource, such as argoproj.io/rollouts";

/** Reads "argoproj.io/rollouts"; undefined for any other text. */
export const readScalableKind = (text: string): ScalableKind | undefined => {
  const [, group, plural] = KIND.exec(text) ?? [];
  return group === undefined || plural === undefined ? undefined : { group, plural };
};
