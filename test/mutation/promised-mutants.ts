/** A small change of the code around the rules, and the test that must notice it. */
export interface PromisedMutant {
  /** What the change breaks. */
  readonly breaks: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: string;
  /** The name of the test that notices it, or the beginning. */
  readonly noticedBy: string;
}

/** Each breaks a promise of docs/protocol.md. */
export const MUTANTS: readonly PromisedMutant[] = [
  {
    breaks: "an uncounted scale stays in the head while its page cannot be read",
    file: "lib/stack/sync/scale/settle-earlier.ts",
    from: 'pageOfUid(loaded, uid)?.kind !== "unreadable"',
    to: "true || uid",
    test: "test/sync/waves.played.test.ts",
    noticedBy: "is followed by one that keeps them in the head while their page cannot be read",
  },
  {
    breaks: "two versions of one API are one workload",
    file: "lib/stack/sync/load/open-intents.ts",
    from: "groupOf(apiVersion) ?? apiVersion",
    to: "apiVersion",
    test: "test/sync/open-work.test.ts",
    noticedBy: "is found whatever version of the API a target names",
  },
  {
    breaks: "clock and deadline are checked before every PUT",
    file: "lib/stack/sync/scale/act.ts",
    from: "const late = notSent(ports, untilMs);",
    to: "const late = attempt === 1 ? notSent(ports, untilMs) : undefined;",
    test: "test/sync/open-work.test.ts",
    noticedBy: "is repeated after a conflict only before the deadline",
  },
  {
    breaks: "an autoscaler with a new target waits for the scale of the old one",
    file: "lib/stack/sync/decide/holds.ts",
    from: "intentOfWorkload.get(key) ?? intentOfUid.get(record.uid)",
    to: "intentOfWorkload.get(key)",
    test: "test/sync/open-work.test.ts",
    noticedBy: "keeps an autoscaler that has another target now from writing there",
  },
  {
    breaks: "a sync is not before the time of an uncounted scale",
    file: "lib/stack/sync/load/load.ts",
    from: "for (const { settledMs } of head.uncounted) latest = Math.max(latest, settledMs);",
    to: "",
    test: "test/sync/waves.played.test.ts",
    noticedBy: "is followed by one that is not before its scales, though its clock is an hour late",
  },
  {
    breaks: "a cluster that is being removed gets no new autoscalers",
    file: "lib/stack/sync/specs/store-findings.ts",
    from: "cluster.removing || writes.length === 0",
    to: "writes.length === 0",
    test: "test/sync/specs/storing.test.ts",
    noticedBy: "are none where the cluster is being removed",
  },
  {
    breaks: "an autoscaler whose changed object is not stored does not act by its old record",
    file: "lib/stack/sync/specs/compare.ts",
    from: "comparison.notStored.get(record.uid) ??\n",
    to: "",
    test: "test/sync/specs/tenants.test.ts",
    noticedBy: "that use the bytes of their namespace",
  },
  {
    breaks: "a repeated change has its copy under the cluster",
    file: "lib/stack/store/history/changes.ts",
    from: "if (isDeepStrictEqual(stored, change))",
    to: 'if (outcome?.kind !== "duplicate")',
    test: "test/contracts/tables.test.ts",
    noticedBy:
      "stores the copy under the cluster of a change whose first insert an earlier attempt has made",
  },
  {
    breaks: "a division waits for scales that no windows count yet",
    file: "lib/answers/service/partitions/leases.ts",
    from: "intents.length + uncounted.length + unreadable.length",
    to: "intents.length + 0 * uncounted.length + unreadable.length",
    test: "test/service/partitions.test.ts",
    noticedBy: "waits for a settled scale that no windows count yet",
  },
  {
    breaks: "a removal looks for autoscalers before it takes their scales out of the heads",
    file: "lib/answers/service/edits/removal.ts",
    from: "        await mustBeEmpty(context, before);\n        await settleForRemoval(context, leases);",
    to: "        await settleForRemoval(context, leases);\n        await mustBeEmpty(context, before);",
    test: "test/service/removal-settles.test.ts",
    noticedBy: "keeps the scale in the head where an autoscaler came meanwhile",
  },
  {
    breaks: "a removal leaves no uncounted scale in a head",
    file: "lib/answers/service/edits/removal.ts",
    from: "[...head.intents, ...head.uncounted]",
    to: "[...head.intents]",
    test: "test/service/removal-settles.test.ts",
    noticedBy: "leaves no settled scale in the head",
  },
  {
    breaks: "a reset decides a move that was given up",
    file: "lib/answers/service/partitions/leases.ts",
    from: "now && (await decidedCluster(context.tables, now, leased.head))",
    to: "now",
    test: "test/service/reset-time.test.ts",
    noticedBy: "decides a move that was given up",
  },
  {
    breaks: "a key that comes again with another body is refused",
    file: "lib/answers/api/idempotency.ts",
    from: "if (begun.asked !== own.asked)",
    to: 'if (begun.asked === "")',
    test: "test/api/idempotency.test.ts",
    noticedBy: "is refused when it asks for something else than before",
  },
  {
    breaks: "the autoscaler is paused before the other controller goes on",
    file: "lib/command/takeover/take-over-one.ts",
    from: "  await ports.service.handBack({ ...query, rival: kept });\n  if (!watched.beside) await until(ports, query, periodSeconds, isHeld);\n  const again = await switching.goOn(ports.api, kept);",
    to: "  const again = await switching.goOn(ports.api, kept);\n  await ports.service.handBack({ ...query, rival: kept });\n  if (!watched.beside) await until(ports, query, periodSeconds, isHeld);",
    test: "test/service/takeovers.test.ts",
    noticedBy: "keeps the other controller before it is deleted",
  },
  {
    breaks: "the manifest of the other controller is kept before it is deleted",
    file: "lib/command/takeover/take-over-one.ts",
    from: '    await ports.service.takeOver({ cluster, namespace, name, rival: kept });\n    if ((await restKept(ports, switched, { live, kept })) === "rested") return kept;',
    to: '    const end = await restKept(ports, switched, { live, kept });\n    await ports.service.takeOver({ cluster, namespace, name, rival: kept });\n    if (end === "rested") return kept;',
    test: "test/service/takeovers.test.ts",
    noticedBy: "keeps the other controller before it is deleted",
  },
];

/** True where the code still has the changed place once. */
export const isApplicable = (code: string, { from }: PromisedMutant): boolean =>
  code.split(from).length === 2;
