import type { AutoscalerUid, Namespace } from "../../model/ids.ts";
import type { ApiFailure, MetricAnswers } from "../../model/observation.ts";
import type { CustomQuery, ExternalQuery } from "../../model/query.ts";
import type { Watched } from "../port.ts";
import type { CallBudget } from "../transport/budget.ts";
import { TENANT_OVER_SHARE } from "./flows.ts";
import { QUESTIONS } from "./heavy-namespaces.ts";
import { askCustom, askExternal, type CustomAnswer, type ExternalAnswer } from "./metrics.ts";
import { type NamespaceNeeds, needsOf } from "./needs.ts";
import { type Observing, type Scales, targetKey } from "./workloads.ts";

/** The queries of custom and external metrics that are asked in one observation. Each different query of a namespace is asked once, in the flow of the namespace. */
export interface AskedQuestions {
  /** Asks what the rules of autoscalers ask whose scale was read since. */
  readonly askLate: (scales: Scales) => Promise<void>;
  /** True where everything was asked that the autoscaler's rules ask, and is answered. */
  readonly areAnswered: (autoscaler: Pick<Watched, "uid" | "namespace">) => boolean;
  /** Why a query of the autoscaler was not asked; undefined where all were. */
  readonly overShare: (uid: AutoscalerUid, namespace: Namespace) => string | undefined;
  /** The answers of a namespace so far, in the order of the rules that ask. */
  readonly answersOf: (namespace: Namespace) => Pick<MetricAnswers, "custom" | "external">;
  /** Remembers with which question the next sync begins. */
  readonly end: () => void;
}

interface Asked {
  readonly custom: Map<string, CustomAnswer>;
  readonly external: Map<string, ExternalAnswer>;
  readonly questions: Set<string>;
}

/** Asks the queries of the first needs. `unread` are the autoscalers whose scale had not come then. */
export const askingOf = (observing: Observing, first: readonly NamespaceNeeds[], unread: readonly Watched[]): AskedQuestions => {
  const { memory } = observing;
  const asked = new Map<Namespace, Asked>();
  /** The keys of the queries of each autoscaler that has some. */
  const own = new Map<AutoscalerUid, readonly string[]>();
  const ask = ({ namespace, custom, external, own: ofNamespace }: NamespaceNeeds): void => {
    for (const [uid, keys] of ofNamespace) own.set(uid, keys);
    if (custom.size + external.size === 0) return;
    const into = asked.get(namespace) ?? { custom: new Map(), external: new Map(), questions: new Set() };
    asked.set(namespace, into);
    const questions = [...[...custom].map(([key, query]) => ({ key, query })), ...[...external].map(([key, query]) => ({ key, query }))].filter(
      ({ key }) => !into.questions.has(key),
    );
    for (const { key } of questions) into.questions.add(key);
    for (const question of turned(questions, memory.turns.get(namespace) ?? 0)) startOne(observing, namespace, { ...question, into });
  };
  for (const need of first) ask(need);
  const keysOf = (uid: AutoscalerUid): readonly string[] => own.get(uid) ?? NONE;
  const answerOf = (namespace: Namespace, key: string): CustomAnswer | ExternalAnswer | undefined =>
    asked.get(namespace)?.custom.get(key) ?? asked.get(namespace)?.external.get(key);
  const waiting = new Map(unread.map((autoscaler) => [autoscaler.uid, autoscaler]));
  return {
    askLate: async (scales) => {
      const late = [...waiting.values()].filter(({ namespace, spec }) => scales.has(targetKey({ namespace, target: spec.target })));
      for (const need of await needsOf(late, scales)) ask(need);
      for (const { uid } of late) waiting.delete(uid);
    },
    areAnswered: ({ uid, namespace }) => !waiting.has(uid) && keysOf(uid).every((key) => answerOf(namespace, key) !== undefined),
    overShare: (uid, namespace) => {
      for (const key of keysOf(uid)) {
        const answer = answerOf(namespace, key);
        const over = answer?.kind === "failed" ? overShareOf(answer) : undefined;
        if (over !== undefined) return over;
      }
      return undefined;
    },
    answersOf: (namespace) => {
      const { questions, custom, external } = asked.get(namespace) ?? NOTHING_ASKED;
      return { custom: inOrder(questions, custom), external: inOrder(questions, external) };
    },
    end: () => {
      memory.heavy.learn(QUESTIONS, observing.flows.bytes(), "all");
      for (const [namespace, { custom, external, questions }] of asked) {
        const left = [...custom.values(), ...external.values()].filter(
          (answer) => answer.kind === "failed" && overShareOf(answer) !== undefined,
        ).length;
        if (left === 0) memory.turns.delete(namespace);
        else memory.turns.set(namespace, ((memory.turns.get(namespace) ?? 0) + questions.size - left) % questions.size);
      }
    },
  };
};

const NONE: readonly string[] = [];
const NOTHING_ASKED: Asked = { custom: new Map(), external: new Map(), questions: new Set() };

/** The same answers, whatever the order in which they came. */
const inOrder = <Found>(keys: Iterable<string>, answers: ReadonlyMap<string, Found>): ReadonlyMap<string, Found> => {
  if (answers.size === 0) return answers;
  const ordered = new Map<string, Found>();
  for (const key of keys) {
    const answer = answers.get(key);
    if (answer !== undefined) ordered.set(key, answer);
  }
  return ordered;
};

/** The words of a failure of a namespace that has used its share. */
export const overShareOf = ({ failure }: { readonly failure: ApiFailure }): string | undefined =>
  failure.reason === TENANT_OVER_SHARE ? failure.message : undefined;

/** The same list, beginning at another place: what had no room in the last sync is asked first in this one. */
const turned = <Item>(items: readonly Item[], from: number): readonly Item[] => [...items.slice(from), ...items.slice(0, from)];

const startOne = (
  observing: Observing,
  namespace: Namespace,
  { key, query, into }: { readonly key: string; readonly query: CustomQuery | ExternalQuery; readonly into: Asked },
): void => {
  const ask = async (budget: CallBudget): Promise<void> => {
    if (query.for === "external") into.external.set(key, await askExternal(observing, namespace, query, budget));
    else into.custom.set(key, await askCustom(observing, namespace, query, budget));
  };
  if (observing.memory.heavy.of(QUESTIONS).has(namespace)) observing.flows.startLate(namespace, ask, "questions");
  else observing.flows.start(namespace, ask);
};
