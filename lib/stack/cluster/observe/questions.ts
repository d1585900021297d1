import type { AutoscalerUid, Namespace } from "../../../rules/model/ids.ts";
import {
  type Answer,
  type Answers,
  type ApiFailure,
  type QuestionKey,
  type MeasuredSamples,
  TENANT_OVER_SHARE,
} from "../../../rules/model/observation.ts";
import type { Watched } from "../cluster-client.ts";
import { byPlace, turnOf } from "../../turns/turns.ts";
import type { CallBudget } from "../transport/budget.ts";
import { askEach } from "./ask.ts";
import { QUESTIONS } from "./scopes.ts";
import { type NamespaceNeeds, needsOf } from "./needs.ts";
import { type Observing, type Scales, targetKey } from "./workloads.ts";

/**
 * The queries that are asked for single namespaces in one observation. Each different query of a
 * namespace is asked once, in the flow of the namespace.
 */
export interface AskedQuestions {
  /** Asks what the rules of autoscalers ask whose scale was read since. */
  readonly askLate: (scales: Scales) => Promise<void>;
  /** True where everything was asked that the autoscaler's rules ask, and is answered. */
  readonly areAnswered: (autoscaler: Pick<Watched, "uid" | "namespace">) => boolean;
  /** Why a query of the autoscaler was not asked; undefined where all were. */
  readonly overShare: (uid: AutoscalerUid, namespace: Namespace) => string | undefined;
  /** The answers of a namespace so far, in the order of the rules that ask. */
  readonly answersOf: (namespace: Namespace) => Answers;
  /** Remembers which namespaces have large answers. */
  readonly end: () => void;
}

interface Asked {
  readonly answers: Map<QuestionKey, Answer<MeasuredSamples>>;
  readonly questions: Set<QuestionKey>;
}

/**
 * Asks the queries of the first needs. `unread` are the autoscalers whose scale had not come then.
 */
export const askQueries = (
  observing: Observing,
  first: readonly NamespaceNeeds[],
  unread: readonly Watched[],
): AskedQuestions => {
  const { memory, limits } = observing;
  const asked = new Map<Namespace, Asked>();
  /** The keys of the queries of each autoscaler that has some. */
  const own = new Map<AutoscalerUid, readonly QuestionKey[]>();
  const ask = ({ namespace, queries, own: ofNamespace }: NamespaceNeeds): void => {
    for (const [uid, keys] of ofNamespace) own.set(uid, keys);
    if (queries.size === 0) return;
    const into = asked.get(namespace) ?? { answers: new Map(), questions: new Set() };
    asked.set(namespace, into);
    const questions = new Map([...queries].filter(([key]) => !into.questions.has(key)));
    for (const key of questions.keys()) into.questions.add(key);
    for (const [key, query] of inTurns(questions, ofNamespace, limits.round ?? 0)) {
      startOne(observing, namespace, async (budget) => {
        into.answers.set(key, await askEach(observing, namespace, query, budget));
      });
    }
  };
  for (const need of first) ask(need);
  const keysOf = (uid: AutoscalerUid): readonly QuestionKey[] => own.get(uid) ?? NONE;
  const answerOf = (namespace: Namespace, key: QuestionKey): Answer<MeasuredSamples> | undefined =>
    asked.get(namespace)?.answers.get(key);
  const waiting = new Map(unread.map((autoscaler) => [autoscaler.uid, autoscaler]));
  return {
    askLate: async (scales) => {
      const late = [...waiting.values()].filter(({ namespace, spec }) =>
        scales.has(targetKey({ namespace, target: spec.target })),
      );
      for (const need of await needsOf(late, scales)) ask(need);
      for (const { uid } of late) waiting.delete(uid);
    },
    areAnswered: ({ uid, namespace }) =>
      !waiting.has(uid) && keysOf(uid).every((key) => answerOf(namespace, key) !== undefined),
    overShare: (uid, namespace) => {
      for (const key of keysOf(uid)) {
        const answer = answerOf(namespace, key);
        const over = answer?.kind === "failed" ? overShareOf(answer) : undefined;
        if (over !== undefined) return over;
      }
      return undefined;
    },
    answersOf: (namespace) => {
      const { questions, answers } = asked.get(namespace) ?? NOTHING_ASKED;
      return inOrder(questions, answers);
    },
    end: () => {
      memory.heavy.learn(QUESTIONS, observing.calls.bytes(), "all");
    },
  };
};

const NONE: readonly QuestionKey[] = [];
const NOTHING_ASKED: Asked = { answers: new Map(), questions: new Set() };

/** The same answers, whatever the order in which they came. */
const inOrder = <Found>(
  keys: Iterable<string>,
  answers: ReadonlyMap<string, Found>,
): ReadonlyMap<string, Found> => {
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

/**
 * The questions autoscaler by autoscaler, so that those that have room are answered whole. Where
 * not all have room, another autoscaler is first in each sync, and of one that is larger than the
 * room another question.
 */
const inTurns = <Query>(
  questions: ReadonlyMap<QuestionKey, Query>,
  own: ReadonlyMap<AutoscalerUid, readonly QuestionKey[]>,
  round: number,
): ReadonlyMap<QuestionKey, Query> => {
  const keys = byPlace([...own], ([uid]) => uid, round).flatMap(([uid, ofOne]) => {
    const from = Math.floor(turnOf(uid, round) * ofOne.length);
    return [...ofOne.slice(from), ...ofOne.slice(0, from)];
  });
  const ordered = new Map<QuestionKey, Query>();
  for (const key of [...keys, ...questions.keys()]) {
    const query = questions.get(key);
    if (query !== undefined) ordered.set(key, query);
  }
  return ordered;
};

/**
 * Asks in the flow of the namespace. The questions of a heavy namespace begin after the questions
 * of the others.
 */
const startOne = (
  observing: Observing,
  namespace: Namespace,
  ask: (budget: CallBudget) => Promise<void>,
): void => {
  if (observing.memory.heavy.of(QUESTIONS).has(namespace)) observing.calls.askLate(namespace, ask);
  else observing.calls.ask(namespace, ask);
};
