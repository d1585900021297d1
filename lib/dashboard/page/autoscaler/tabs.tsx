import type { ComponentChildren } from "preact";
import type { Description } from "../../../answers/views/autoscaler.ts";
import { windowLines } from "../../../answers/words/window-words.ts";
import { ChangeLine } from "../parts/change-line.tsx";
import { Notice } from "../parts/notice.tsx";
import { Ago, Sentence, Time } from "../parts/time.tsx";
import { Lines } from "./instant.tsx";
import { countReading, loadReading } from "./reading.ts";
import type { ShownPast } from "./past.ts";

/** The manifest as it was given. JSON is YAML, too. */
export const ManifestTab = ({ described }: { readonly described: Description }) => (
  <>
    {described.problem !== undefined && <Notice title={described.problem} tone="bad" />}
    <p class="when">
      Generation {described.generation}, by {described.updatedBy} <Ago at={described.updatedAt} />
    </p>
    <pre class="manifest">{JSON.stringify(described.manifest, null, 2)}</pre>
  </>
);

export const WindowsTab = ({
  described,
  nowMs,
}: {
  readonly described: Description;
  readonly nowMs: number;
}) => <Lines lines={windowLines(described.windows, nowMs)} />;

export const ConditionsTab = ({
  described: { conditions },
}: {
  readonly described: Description;
}) =>
  conditions.length === 0 ? (
    <Notice title="No sync has evaluated it yet" />
  ) : (
    <Rows heads={["Condition", "Is", "Since", "Why"]}>
      {conditions.map(({ type, status, reason, message, since }) => (
        <tr key={type}>
          <th scope="row">{type}</th>
          <td>{status}</td>
          <td>
            <Ago at={since} />
          </td>
          <td>
            {reason}: <Sentence>{message}</Sentence>
          </td>
        </tr>
      ))}
    </Rows>
  );

/** Scales and edits of the stretch that the charts show, the newest first. */
export const EventsTab = ({ past: { events } }: { readonly past: ShownPast }) =>
  events.length === 0 ? (
    <Notice title="Nothing was scaled in this stretch" />
  ) : (
    <Rows heads={["When", "Count", "Outcome", "Why"]}>
      {events.toReversed().map(({ id, at, from, to, outcome, by, reason, message }) => (
        <tr key={id}>
          <td>
            <Time at={at} />
          </td>
          <td class="number">
            {from} → {to}
          </td>
          <td>{by === undefined ? outcome : `${outcome}, by ${by}`}</td>
          <td>
            {reason}: <Sentence>{message}</Sentence>
          </td>
        </tr>
      ))}
    </Rows>
  );

export const EditsTab = ({ past: { changes } }: { readonly past: ShownPast }) =>
  changes.length === 0 ? (
    <Notice title="Nobody edited it in this stretch">
      <p>A longer stretch, chosen above, reaches further back.</p>
    </Notice>
  ) : (
    <ol class="changes">
      {changes.toReversed().map((change) => (
        <ChangeLine key={change.id} change={change} />
      ))}
    </ol>
  );

/** The charts as a table. */
export const PointsTab = ({ past: { points } }: { readonly past: ShownPast }) =>
  points.length === 0 ? (
    <Notice title="Nothing was evaluated in this stretch" />
  ) : (
    <Rows heads={["When", "Load", "Replicas", "Reason"]}>
      {points.toReversed().map((point) => (
        <tr key={point.at}>
          <td>
            <Time at={point.at} />
          </td>
          <td>{loadReading(point)}</td>
          <td>{countReading(point)}</td>
          <td>{point.reason}</td>
        </tr>
      ))}
    </Rows>
  );

/** A long stretch has more rows than anybody reads. */
const ROWS_MAX = 200;

/** A table of the newest rows. */
export const Rows = ({
  heads,
  children,
}: {
  readonly heads: readonly string[];
  readonly children: readonly ComponentChildren[];
}) => (
  <>
    <table class="rows">
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children.slice(0, ROWS_MAX)}</tbody>
    </table>
    {children.length > ROWS_MAX && (
      <p class="when">
        And {children.length - ROWS_MAX} more: a shorter stretch, chosen above, shows them.
      </p>
    )}
  </>
);
