import type { ExaminationView } from "../../../answers/views/doctor.ts";
import { useDocument } from "../data/use-document.ts";
import { FailureNotice, Loading, Notice } from "../parts/notice.tsx";
import { Sentence } from "../parts/time.tsx";
import type { Place } from "../route.ts";

/** What the doctor finds: the evidence, what it costs, and what to change. */
export const DoctorTab = ({ place }: { readonly place: Place }) => {
  const { value, failure } = useDocument<{ readonly items: readonly ExaminationView[] }>(
    "/v1/doctor",
    { ...place },
    { once: true },
  );
  if (failure) return <FailureNotice failure={failure} />;
  if (!value) return <Loading lines={4} />;
  const findings = value.items.flatMap((examined) => examined.findings);
  if (findings.length === 0) return <Notice title="The doctor finds nothing wrong" />;
  return (
    <ol class="edits">
      {findings.map(
        ({ rule, severity, evidence, cost, change: { field, value: written, advice } }) => (
          <li key={`${rule} ${evidence}`} class="edit">
            <p>
              <b class={severity === "problem" ? "bad" : "warn"}>{severity}</b> {rule}
            </p>
            <p>
              <Sentence>{evidence}</Sentence>
            </p>
            <p>
              <Sentence>{cost}</Sentence>
            </p>
            <p>
              <code>{written === undefined ? field : `${field}: ${written}`}</code>{" "}
              <Sentence>{advice}</Sentence>
            </p>
          </li>
        ),
      )}
    </ol>
  );
};
