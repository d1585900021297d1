import { type Clause, HOLDER_WRITES } from "./clauses.ts";

/** Why a clause is kept that few seeds need: the test that fails without it, or what implies it. */
interface Reason extends Clause {
  readonly why: string;
}

const HEAD = "`test/contracts/head.contract.ts`";
const RECORDS = "`test/contracts/records.contract.ts`";
const PAGES = "`test/contracts/pages.contract.ts`";
const SUMMARIES = "`test/contracts/summaries.contract.ts`";

const MARKED =
  "a record is marked as gone once, and not where it was replaced, is no copy any more, or was deleted";

const COUNTED =
  "the bytes of a namespace move only from what was read: a sync that was overtaken, and a late copy, count nothing";

const named = (file: string, test: string): string => `${file}, "${test}"`;

/**
 * The epoch of a holder's write: a claim raises the write number as well, so that the other clause
 * implies this one.
 */
const IMPLIED =
  "implied by the write number, which every claim raises; it is kept as the rule that the protocol states";

const REASONS: readonly Reason[] = [
  ...["attribute_not_exists(dueMs)", "dueMs = :before"].map(
    (clause): Reason => ({
      ...{ write: "mark a wake", clause, becomes: "true" },
      why: named(
        "`test/contracts/wakes.contract.ts`",
        "of one instant in ten processes send two syncs, five seconds apart",
      ),
    }),
  ),
  ...["attribute_not_exists(pk)", "version = :version"].map(
    (clause): Reason => ({
      ...{ write: "write a lease of the fleet", clause, becomes: "true" },
      why: named(
        "`test/service/fleet-leases.test.ts`",
        "are found unsafe, where a lease is written without its condition",
      ),
    }),
  ),
  {
    ...{ write: "claim", clause: "#protocol >= :term", becomes: "true" },
    why: named(
      "`test/service/standby.test.ts`",
      "is held by what it wrote over the other one: that partition waits until a person moves the fleet there once more",
    ),
  },
  {
    write: "claim",
    clause: "releasedEpoch = epoch",
    becomes: "never",
    why: "redundant: a release and a giving back also set the lease to 0, which has run out",
  },
  {
    write: "claim",
    clause: "leaseUntilMs > :leaseLast",
    becomes: "never",
    why: named(
      "`test/service/reset-time.test.ts`",
      "keeps no sync away: the holder's clock was wrong",
    ),
  },
  {
    write: "claim",
    clause: "#protocol <= :protocol",
    becomes: "true",
    why: named(
      HEAD,
      "is refused to code that does not know the rules of the code that claimed it last",
    ),
  },
  {
    write: "write a summary",
    clause: "attribute_not_exists(epoch)",
    becomes: "never",
    why: named(
      SUMMARIES,
      "refuses a late write of an earlier holder, and takes a repeat of the last one",
    ),
  },
  {
    write: "write a summary",
    clause: "epoch <= :epoch",
    becomes: "true",
    why: named(
      SUMMARIES,
      "refuses a late write of an earlier holder, and takes a repeat of the last one",
    ),
  },
  ...HOLDER_WRITES.map(
    (write): Reason => ({ write, clause: "epoch = :epoch", becomes: "true", why: IMPLIED }),
  ),
  {
    write: "store intents",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: named(
      HEAD,
      "refuses an intent under a write that is not the last, and stores a repeated one once",
    ),
  },
  {
    write: "release",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: named(
      HEAD,
      "is released in one update: intents cleared but those that stay, pages named, due time done",
    ),
  },
  {
    write: "give back",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: "a late copy under the same epoch ends a lease early, on which nothing rests",
  },
  {
    write: "withdraw intents",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: "a late copy under the same epoch removes what is removed already",
  },
  {
    write: "mark a move",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: "a late copy marks a version that the cluster has no more, and a sync goes by the mark only while it has that version",
  },
  {
    write: "name moved pages",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: named(
      "`test/contracts/moving.contract.ts`",
      "names the pages of a new generation and keeps its lease",
    ),
  },
  {
    write: "lower the times",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: named(HEAD, "lowers its times only under the holder's epoch and last write"),
  },
  {
    write: "raise the epoch",
    clause: "writeNumber = :seen",
    becomes: "true",
    why: "a late copy under the same epoch finds another epoch: the first copy has raised it",
  },
  {
    write: "write a page",
    clause: "epoch = :read",
    becomes: "true",
    why: named(PAGES, "refuses a late write of an earlier holder"),
  },
  {
    write: "delete an old page",
    clause: "epoch < :epoch",
    becomes: "true",
    why: named(PAGES, "is deleted when no head names it, unless it is of a later epoch"),
  },
  {
    write: "create a record",
    clause: "attribute_exists(deletedMs)",
    becomes: "true",
    why: named(RECORDS, "are not created over a record that is there, whatever its generation"),
  },
  {
    write: "edit a record",
    clause: "uid = :uid",
    becomes: "true",
    why: named(
      RECORDS,
      "are not removed by a late copy of a deletion, once they were created again",
    ),
  },
  {
    write: "edit a record",
    clause: "attribute_not_exists(uid)",
    becomes: "true",
    why: named(
      RECORDS,
      "of a cluster without uid are not the record that has one, nor its tombstone",
    ),
  },
  {
    write: "edit a record",
    clause: "attribute_not_exists(deletedMs)",
    becomes: "true",
    why: named(
      RECORDS,
      "of a cluster without uid are not the record that has one, nor its tombstone",
    ),
  },
  {
    write: "raise a cluster's version",
    clause: "version = :expected",
    becomes: "true",
    why: named(
      RECORDS,
      "of a cluster never let its version fall: a raise from a version that is past changes nothing",
    ),
  },
  {
    write: "mark a gone object",
    clause: "uid = :uid",
    becomes: "true",
    why: named(RECORDS, MARKED),
  },
  {
    write: "mark a gone object",
    clause: "attribute_exists(#origin)",
    becomes: "true",
    why: named(RECORDS, MARKED),
  },
  {
    write: "mark a gone object",
    clause: "attribute_not_exists(deletedMs)",
    becomes: "true",
    why: "redundant: a tombstone has neither the uid nor an object; it is kept as the rule that no deleted record is written",
  },
  {
    write: "count stored bytes",
    clause: "attribute_not_exists(repaidMs)",
    becomes: "true",
    why: named(RECORDS, COUNTED),
  },
  {
    write: "count stored bytes",
    clause: "repaidMs = :from",
    becomes: "true",
    why: named(RECORDS, COUNTED),
  },
  {
    write: "insert into history",
    clause: "attribute_not_exists(pk)",
    becomes: "true",
    why: named(
      "`test/contracts/history.contract.ts`",
      "gives the item that was first to every later insert of its key",
    ),
  },
];

export const reasonOf = ({ write, clause, becomes }: Clause): string | undefined =>
  REASONS.find((one) => one.write === write && one.clause === clause && one.becomes === becomes)
    ?.why;
