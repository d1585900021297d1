import type { ShadowView } from "../../../answers/views/over-time.ts";
import { useDocument } from "../data/use-document.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Sentence, Time } from "../parts/time.tsx";
import type { Place } from "../route.ts";
import { addressInstant } from "./range.ts";
import { Rows } from "./tabs.tsx";
import type { ShownPast } from "./past.ts";

const SHADOW = "/v1/autoscaler/shadow";

/** What Tidemark wanted beside another controller of the workload, in the stretch of the charts. */
export const CompareTab = ({
  place,
  past,
}: {
  readonly place: Place;
  readonly past: ShownPast | undefined;
}) => {
  const stretch = past && {
    since: addressInstant(past.sinceMs),
    until: addressInstant(past.untilMs),
  };
  const { value, failure } = useDocument<ShadowView>(
    stretch && SHADOW,
    { ...place, ...stretch },
    { once: true },
  );
  if (failure) return <FailureNotice failure={failure} />;
  if (!value) return <Loading lines={4} />;
  if (value.syncs === 0 && value.undecided === 0)
    return (
      <Notice title="No other controller was beside it in this stretch">
        <p>tidemark takeover says how one is compared before it is replaced.</p>
      </Notice>
    );
  return <Compared shadow={value} />;
};

const Compared = ({
  shadow: { syncs, agreed, agreedWithinPeriod, undecided, replicaHours, stretches, next },
}: {
  readonly shadow: ShadowView;
}) => (
  <>
    <ul class="about">
      <li>
        <b>{agreed}</b> of {syncs} syncs agreed
      </li>
      <li>{agreedWithinPeriod} within one sync</li>
      <li>{undecided} undecided</li>
      <li>
        {replicaHours.own.toFixed(1)} replica-hours, the other {replicaHours.rival.toFixed(1)}
      </li>
      {next !== undefined && (
        <li>
          compared until <Time at={next} />
        </li>
      )}
    </ul>
    <Rows heads={["From", "Count", "Tidemark wants", "The other wants", "Why"]}>
      {stretches
        .filter(({ difference }) => difference !== undefined)
        .map(({ at, current, own, rival, difference, reason, message }) => (
          <tr key={at}>
            <td>
              <Time at={at} />
            </td>
            <td class="number" data-head="Count">
              {current ?? "unknown"}
            </td>
            <td class="number" data-head="Tidemark wants">
              {own ?? "undecided"}
            </td>
            <td class="number" data-head="The other wants">
              {rival ?? "undecided"}
            </td>
            <td>
              {difference}: {reason}: <Sentence>{message}</Sentence>
            </td>
          </tr>
        ))}
    </Rows>
  </>
);
