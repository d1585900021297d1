import type { ChangeView } from "../../../answers/views/change.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";
import { type ReadList, useList } from "../data/use-list.ts";
import { ChangeLine } from "../parts/change-line.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";

const DAYS_SHOWN = 30;
/** Edits are listed oldest first. */
const READ_MAX = 2_000;
const SHOWN_MAX = 200;

/** Who edited what, when and by which grant, the newest first. */
export const ChangesPage = () => {
  // From a midnight on, so that the question stays the same for a day.
  const today = Math.floor(useNow() / DAY_MS) * DAY_MS;
  const since = new Date(today - DAYS_SHOWN * DAY_MS).toISOString();
  const { value, failure } = useList<ChangeView>("/v1/changes", { since }, READ_MAX);
  return (
    <>
      <PageHead title="Changes" count={`edits of the last ${DAYS_SHOWN} days, the newest first`} />
      {failure && <FailureNotice failure={failure} />}
      {!value && !failure && <Loading />}
      {value && <Changes read={value} />}
    </>
  );
};

const Changes = ({ read: { items, isCut } }: { readonly read: ReadList<ChangeView> }) => {
  if (items.length === 0)
    return <Notice title={`Nothing was edited in the last ${DAYS_SHOWN} days`} />;
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
    </>
  );
};
