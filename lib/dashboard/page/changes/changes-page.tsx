import { useEffect, useState } from "preact/hooks";
import type { ChangeView } from "../../../answers/views/change.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";
import { type ReadList, useList } from "../data/use-list.ts";
import { ChangeLine } from "../parts/change-line.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { plural } from "../parts/plural.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";

/** Edits are listed oldest first: where a stretch has too many, a shorter one has the newest. */
const STRETCHES_DAYS = [30, 7, 1] as const;
const READ_MAX = 2_000;
const SHOWN_MAX = 200;

/** Who edited what, when and by which grant, the newest first. */
export const ChangesPage = () => {
  const [stretch, setStretch] = useState(0);
  const days = STRETCHES_DAYS[stretch] ?? 1;
  // From a midnight on, so that the question stays the same for a day.
  const today = Math.floor(useNow() / DAY_MS) * DAY_MS;
  const since = new Date(today - days * DAY_MS).toISOString();
  const { value, failure } = useList<ChangeView>("/v1/changes", { since }, READ_MAX);
  const goesOn = value?.isCut === true && stretch < STRETCHES_DAYS.length - 1;
  useEffect(() => {
    if (goesOn) setStretch(stretch + 1);
  }, [goesOn, stretch]);
  return (
    <>
      <PageHead
        title="Changes"
        count={`edits of the last ${plural(days, "day")}, the newest first`}
      />
      {failure && <FailureNotice failure={failure} />}
      {(goesOn || (!value && !failure)) && <Loading />}
      {value && !goesOn && <Changes read={value} days={days} />}
    </>
  );
};

const Changes = ({
  read: { items, isCut },
  days,
}: {
  readonly read: ReadList<ChangeView>;
  readonly days: number;
}) => {
  if (items.length === 0)
    return <Notice title={`Nothing was edited in the last ${plural(days, "day")}`} />;
  return (
    <>
      {isCut && (
        <p class="quiet">The newest of them are not read: tidemark changes lists every one.</p>
      )}
      <ol class="changes">
        {items
          .toReversed()
          .slice(0, SHOWN_MAX)
          .map((change) => (
            <ChangeLine key={change.id} change={change} />
          ))}
      </ol>
      {items.length > SHOWN_MAX && (
        <p class="quiet">
          And {items.length - SHOWN_MAX} before these: tidemark changes lists every one.
        </p>
      )}
    </>
  );
};
