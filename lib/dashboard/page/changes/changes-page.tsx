import type { ChangeView, FieldChange } from "../../../answers/views/change.ts";
import { changedObjectText, fieldLine } from "../../../answers/words/change-words.ts";
import { DAY_MS } from "../../../rules/model/time-text.ts";
import { useNow } from "../data/facts.ts";
import { useList } from "../data/use-list.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Ago, Sentence, Time } from "../parts/time.tsx";

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
  if (!value) return failure ? <FailureNotice failure={failure} /> : <Loading />;
  if (value.items.length === 0)
    return <Notice title={`Nothing was edited in the last ${DAYS_SHOWN} days`} />;
  return (
    <>
      <div class="head">
        <h1>Changes</h1>
        <span class="count">edits of the last {DAYS_SHOWN} days, the newest first</span>
      </div>
      {failure && <FailureNotice failure={failure} />}
      {value.isCut && (
        <p class="quiet">The newest of them are not read: tidemark changes lists every one.</p>
      )}
      <ol class="changes">
        {value.items
          .toReversed()
          .slice(0, SHOWN_MAX)
          .map((change) => (
            <Change key={change.id} change={change} />
          ))}
      </ol>
    </>
  );
};

const Change = ({ change }: { readonly change: ChangeView }) => {
  const { at, by, verb, grant, made, fields } = change;
  return (
    <li>
      <p>
        <b>{verb}</b> {changedObjectText(change)}
        {made === false && <b class="bad"> was not made</b>}
      </p>
      <p class="quiet">
        <Time at={at} /> (<Ago at={at} />) by {by}
        {grant === undefined ? "" : `, by the grant ${grant}`}
      </p>
      {fields.length > 0 && (
        <ul class="fields">
          {fields.map((field) => (
            <li key={field.path} class={kindOf(field)}>
              <Sentence>{fieldLine(field)}</Sentence>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
};

const kindOf = (field: FieldChange): string =>
  "before" in field ? ("after" in field ? "changed" : "removed") : "added";
