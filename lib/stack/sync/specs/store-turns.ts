import { hasDictionaries, packed } from "../../store/table/compressed.ts";
import { type DueTime, inFairTurns, roundOf } from "../../turns/turns.ts";
import { manifestBytes, type Finding } from "./finding.ts";

/**
 * Bytes of a store beside manifests: a change under two keys and a record, each of which takes a
 * write unit of 1 KB at least.
 */
const BYTES_OF_WRITES = 3_000;

/** The bytes that storing a finding writes, for its place in the order.  */
const roughBytes = (finding: Finding): number =>
  BYTES_OF_WRITES +
  manifestBytes("manifest" in finding ? finding.manifest : finding.spec?.record.manifest);

/** A change holds the manifest before and after, each under two keys. */
const COPIES = { ofEdit: 4, ofNew: 2 } as const;

/**
 * The bytes that storing a finding writes, or somewhat more: the record is written whole, its
 * change as a difference.
 */
export const writtenBytes = (finding: Finding): number => {
  const rough = roughBytes(finding);
  if (finding.kind !== "store") return rough;
  const before =
    finding.spec && hasDictionaries() ? Buffer.from(finding.spec.record.manifest) : undefined;
  return (
    rough +
    packed(Buffer.from(finding.manifest), before).length *
      (finding.spec ? COPIES.ofEdit : COPIES.ofNew)
  );
};

export const namespaceOf = (finding: Finding): string =>
  finding.spec?.record.namespace ?? ("object" in finding ? finding.object.namespace : "");

/** When the object was stored last. A new one was never. */
const storedMsOf = ({ spec }: Finding): number => spec?.record.origin?.storedMs ?? 0;

/**
 * The findings in the order in which they are stored, where there may not be room for all: the
 * order of a LIST keeps no namespace waiting. Within a namespace the object comes first that has
 * waited longest. A large object of a small namespace is among the first.
 */
export const inStoreTurns = <Each extends Finding>(
  findings: readonly Each[],
  message: DueTime,
): readonly Each[] =>
  inFairTurns(
    findings.toSorted((one, other) => storedMsOf(one) - storedMsOf(other)),
    { flowOf: namespaceOf, costOf: roughBytes, round: roundOf(message), by: "start" },
  );
