import type { ComponentChildren } from "preact";
import type { Explanation } from "../../../answers/views/autoscaler.ts";
import type { MetricView } from "../../../answers/views/event.ts";
import { boundsRows } from "../../../answers/words/bounds-words.ts";
import {
  outcomeText,
  shownText,
  stepRow,
  withoutHoldText,
} from "../../../answers/words/decision-words.ts";
import { windowLines } from "../../../answers/words/window-words.ts";
import { podsText, UNKNOWN, valueText } from "../../../stack/report/metric-reading.ts";
import { useDocument } from "../data/use-document.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { LoadBar } from "../parts/measure.tsx";
import { Ago, Sentence, Time } from "../parts/time.tsx";
import type { Place } from "../route.ts";
import { addressInstant } from "./range.ts";

/** Why the count is what it is: now, or at the chosen instant. */
export const Instant = ({
  place,
  isEvaluated,
  atMs,
  onNow,
}: {
  readonly place: Place;
  /** Undefined until it is known. What no sync has evaluated has no explanation. */
  readonly isEvaluated: boolean | undefined;
  readonly atMs: number | undefined;
  readonly onNow: () => void;
}) => {
  const at = atMs === undefined ? undefined : addressInstant(atMs);
  const { value, failure } = useDocument<Explanation>(
    at !== undefined || isEvaluated ? "/v1/autoscaler/explanation" : undefined,
    { ...place, at },
    { once: at !== undefined },
  );
  return (
    <aside class="instant" aria-label="Explanation">
      <header>
        <h2>{at === undefined ? "Why, now" : "Why, then"}</h2>
        {at !== undefined && (
          <button type="button" class="button" onClick={onNow}>
            Show now
          </button>
        )}
      </header>
      {failure && <FailureNotice failure={failure} />}
      {at === undefined && isEvaluated === false ? (
        <Notice title="No sync has evaluated it yet">
          <p>The next sync of its cluster does, and says here why the count is what it is.</p>
        </Notice>
      ) : (
        !value && !failure && <Loading lines={9} />
      )}
      {value && <Why explanation={value} />}
    </aside>
  );
};

const Why = ({ explanation }: { readonly explanation: Explanation }) => {
  const { decision, outside, bounds, windows, otherwise, steps, metrics } = explanation;
  const atMs = Date.parse(decision.at);
  return (
    <div class="why">
      <p
        class={`outcome ${decision.failed || decision.refused !== undefined ? "bad" : decision.kind}`}
      >
        {outcomeText(explanation)}
      </p>
      <p class="when">
        <Time at={decision.at} />, <Ago at={decision.at} />
        {explanation.beforeSeconds !== undefined &&
          (explanation.beforeSeconds > 0 || explanation.stored !== "evaluation") &&
          ` · ${shownText(explanation.stored, explanation.beforeSeconds)}`}
      </p>
      <p class="message">
        <strong>{decision.reason}</strong> <Sentence>{decision.message}</Sentence>
      </p>
      {decision.withoutHold && (
        <p class="message">
          <strong>Without the hold</strong>{" "}
          <Sentence>{withoutHoldText(decision.withoutHold, decision.from)}</Sentence>
        </p>
      )}
      {outside && (
        <p class="message">
          <strong>From outside</strong> <Sentence>{outside.message}</Sentence>
        </p>
      )}
      <Part title="What was measured">
        {metrics.length === 0 ? <p>Nothing was evaluated.</p> : metrics.map(metricBox)}
      </Part>
      <Part title="Step by step">
        {steps.length === 0 ? (
          <p>No step was taken.</p>
        ) : (
          <ol class="steps">
            {steps.map((one) => {
              const [name = "", count = "", words = ""] = stepRow(one, atMs);
              return (
                <li key={name} class={one.limit ? "cut" : undefined}>
                  <span class="step">{name}</span>{" "}
                  <span class="count">{count.replace("->", "→")}</span>
                  {words !== "" && words !== "unchanged" && (
                    <span class="words">
                      <Sentence>{words}</Sentence>
                    </span>
                  )}
                </li>
              );
            })}
          </ol>
        )}
      </Part>
      {otherwise.length > 0 && (
        <Part title="For another outcome">
          <ul class="sentences">
            {otherwise.map((line) => (
              <li key={line}>
                <Sentence>{line}</Sentence>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {bounds && (
        <Part title="Bounds">
          <ul class="sentences">
            {boundsRows(bounds, atMs).map(([what, replicas, by, end]) => (
              <li key={`${what} ${by}`}>
                {what} <b>{replicas}</b>{" "}
                <Sentence>{[by, end].filter((part) => part !== "").join(", ")}</Sentence>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Part title="Windows">
        <Lines lines={windowLines(windows, atMs)} />
      </Part>
    </div>
  );
};

/** Lines of words; those that begin with blanks belong to the one before. */
export const Lines = ({ lines }: { readonly lines: readonly string[] }) =>
  lines.length === 0 ? (
    <p>None.</p>
  ) : (
    <ul class="sentences">
      {lines.map((line, at) => (
        <li key={at} class={line.startsWith(" ") ? "under" : undefined}>
          <Sentence>{line.trim()}</Sentence>
        </li>
      ))}
    </ul>
  );

const Part = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) => (
  <section class="part">
    <h3>{title}</h3>
    {children}
  </section>
);

const metricBox = (metric: MetricView) => (
  <div key={metric.name} class={`measured ${metric.kind}`}>
    <p class="name">{metric.name}</p>
    <p class="value">
      <b>{metric.kind === "measured" ? valueText(metric) : UNKNOWN}</b>
      {metric.target !== undefined && ` of ${metric.target}`}
      {metric.kind === "measured" && metric.ratio !== undefined && <LoadBar load={metric.ratio} />}
      {metric.kind === "measured" && <span class="asks">asks for {metric.proposal}</span>}
    </p>
    {metric.kind === "failed" && (
      <p class="words">
        {metric.reason}: {metric.message}
      </p>
    )}
    {metric.kind === "measured" && <MeasuredBy metric={metric} />}
  </div>
);

const MeasuredBy = ({
  metric,
}: {
  readonly metric: Extract<MetricView, { readonly kind: "measured" }>;
}) => {
  const lines = [
    podsText(metric),
    metric.assumed && `the value with these is ${metric.assumed.value}`,
    ...(metric.inputs ?? []).map(
      ({ name, value, message = "" }) => `${name}: ${value ?? `missing, ${message}`}`,
    ),
  ].filter((line) => line !== undefined);
  return (
    <>
      {lines.map((line) => (
        <p key={line} class="words">
          {line}
        </p>
      ))}
    </>
  );
};
