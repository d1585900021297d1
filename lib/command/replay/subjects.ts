import type { Service } from "../../answers/service/service.ts";
import { DEFAULT_NAMESPACE } from "../select/read-sources.ts";
import type { ReplaySubject } from "../commands/replay-history.ts";
import { filterOf } from "../options/scope-options.ts";
import { type ChoiceOptions, choiceOfQuery, chosenForQuery } from "../select/chosen-autoscalers.ts";
import { selectionOf } from "../select/selected-names.ts";
import { usage } from "../usage-error.ts";
import type { CandidatePolicy } from "./candidates.ts";

type Choose = (service: Service) => Promise<readonly ReplaySubject[]>;

/**
 * What is replayed: the autoscalers that are named or chosen, each with all manifests where there
 * is one, and else with the manifests of its name; without names the autoscalers of the manifests.
 * Wrong words are refused before anything is opened.
 */
export const chooserOf = (
  names: readonly string[],
  options: ChoiceOptions,
  candidates: readonly CandidatePolicy[],
  command = "replay",
): Choose => {
  const { selector, allNamespaces } = options;
  if (names.length === 0 && selector === undefined && !allNamespaces)
    return async () => ofManifests(options, candidates, command);
  const choice =
    names.length === 0 && selector === undefined
      ? { ...selectionOf([], filterOf(options)), command, options }
      : choiceOfQuery(command, names, options);
  return async (service) => {
    const chosen = await chosenForQuery(service, choice);
    if (chosen.length === 0) throw usage(`Cannot ${command}: there is no such autoscaler`);
    return chosen.map(({ version: _version, ...resource }) => ({
      resource,
      candidates:
        chosen.length === 1
          ? candidates
          : candidates.filter(
              ({ admitted: { metadata } }) =>
                metadata.name === resource.name &&
                (metadata.namespace ?? DEFAULT_NAMESPACE) === resource.namespace,
            ),
    }));
  };
};

const ofManifests = (
  options: ChoiceOptions,
  candidates: readonly CandidatePolicy[],
  command: string,
): readonly ReplaySubject[] => {
  if (candidates.length === 0)
    throw usage(
      `Cannot ${command}: give the name of an autoscaler, -A, ${command === "tune" ? "or a recorded load with --trace and a manifest with -f" : "manifests with -f, or a recorded load with --trace"}`,
    );
  const { namespace, ...filter } = filterOf(options);
  return candidates.map((candidate) => {
    const { metadata } = candidate.admitted;
    const inside = metadata.namespace ?? namespace ?? DEFAULT_NAMESPACE;
    return {
      resource: { ...filter, name: metadata.name, namespace: inside },
      candidates: [candidate],
    };
  });
};
