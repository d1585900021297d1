import { clauseOf } from "../../../lib/rules/fields/problem.ts";
import { admit } from "../../../lib/rules/manifest/admit.ts";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import { autoscalerName, namespace } from "../../../lib/rules/model/ids.ts";
import type { AutoscalerSpec } from "../../../lib/rules/model/spec.ts";
import { NEW_WINDOWS, type Windows } from "../../../lib/rules/model/windows.ts";
import { decide } from "../../../lib/rules/policy/decide.ts";
import { afterWrite } from "../../../lib/rules/policy/dialects.ts";
import { PURE_PART } from "../../../lib/stack/sync/pure-part.ts";
import type { Difference } from "../differences.ts";
import { throughStore } from "../hpa/through-store.ts";
import type { CaseRunner } from "../registry.ts";
import { type CountsCase, type CountsStep, readCase } from "./case.ts";
import { observe } from "./observed.ts";

/** The instant of step 0. */
const START_MS = Date.parse("2026-01-01T00:00:00Z");
const SECOND_MS = 1000;

/**
 * One autoscaler of any form, followed by its count alone: admission → observation → decide → PUT →
 * after the write, windows through the store's codec in between.
 */
const runCounts: CaseRunner = (vector) => {
  const read = attempt(() => readCase(vector));
  if ("why" in read)
    return [{ field: "case", expected: "a case of the kind counts", actual: read.why }];
  const admitted = admittedSpec(read);
  if ("why" in admitted)
    return [{ field: "manifest", expected: "a manifest that is accepted", actual: admitted.why }];
  return followed(read, admitted);
};

export const COUNTS_KINDS: Readonly<Record<string, CaseRunner>> = { counts: runCounts };

const attempt = <Result extends object>(read: () => Result): Result | { readonly why: string } => {
  try {
    return read();
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
};

interface Subject {
  readonly spec: AutoscalerSpec;
  readonly namespace: string;
  readonly name: string;
}

/** The spec as each sync gets it, from the manifest as it is stored. */
const admittedSpec = ({ manifest, settings }: CountsCase): Subject | { readonly why: string } => {
  const admission = admit(manifest, { syncPeriodSeconds: settings.syncPeriodMs / SECOND_MS });
  if (!admission.ok)
    return {
      why: admission.problems.map((problem) => `${clauseOf(problem)}; ${problem.fix}`).join("\n"),
    };
  const stored = PURE_PART.specOf(JSON.stringify(manifest));
  if (stored.kind === "invalid") return { why: stored.message };
  const { metadata } = admission;
  return { spec: stored.spec, namespace: metadata.namespace, name: metadata.name };
};

const followed = (
  { steps, replicas: start, settings }: CountsCase,
  { spec, ...subject }: Subject,
): readonly Difference[] => {
  let replicas = start;
  let windows: Windows = NEW_WINDOWS;
  return steps.flatMap((step, index) => {
    replicas = step.set ?? replicas;
    const nowMs = START_MS + Math.round(step.at * SECOND_MS);
    const observation = observe({ spec, namespace: subject.namespace, replicas }, step, nowMs);
    const [ownNamespace, name] = [namespace(subject.namespace), autoscalerName(subject.name)];
    const decision = decide({
      namespace: ownNamespace,
      name,
      spec,
      settings,
      observation,
      windows: throughStore(windows),
      nowMs,
    });
    windows = windowsAfter(spec, decision, index, nowMs);
    replicas = decision.kind === "scale" ? decision.to : replicas;
    return compared(step, index, replicas, decision);
  });
};

/** Every PUT is applied at once. */
const windowsAfter = (
  spec: AutoscalerSpec,
  decision: Decision,
  index: number,
  nowMs: number,
): Windows => {
  if (decision.kind === "hold") return decision.windows;
  const answer = {
    outcome: { kind: "applied" },
    atMs: nowMs,
    earliestMs: nowMs,
    eventId: `vector:${index}`,
  } as const;
  return afterWrite({ spec, decision, ...answer }).windows;
};

const compared = (
  { at, expect }: CountsStep,
  index: number,
  replicas: number,
  { because }: Decision,
): readonly Difference[] => {
  if (expect === undefined || expect === null || expect === replicas) return [];
  return [
    {
      field: `steps[${index}] at ${at} s`,
      expected: expect,
      actual: `${replicas}, because ${because.reason}: ${because.message}`,
    },
  ];
};
