import { asObject } from "../../model/json.ts";
import type { AutoscalerSpec } from "../../model/spec.ts";
import type { NativeSpec } from "../../model/spec-native.ts";
import { type Admitted, admit } from "../admit.ts";
import { type Conversion, convertedForm } from "./convert.ts";
import { nativeForm } from "./native-form.ts";

/** True for the rules of an HPA with a metric that is measured by pods. */
export const countsAllPods = (spec: AutoscalerSpec): boolean =>
  spec.dialect === "hpa" && spec.metrics.some(({ type }) => MEASURED_BY_PODS.has(type));

const MEASURED_BY_PODS: ReadonlySet<string> = new Set(["Resource", "ContainerResource", "Pods"]);

/** An HPA as native rules that count these pods; any other manifest as without the option. */
export const countingForm = (
  admitted: Pick<Admitted, "stored" | "spec">,
  pods: NativeSpec["pods"],
): Conversion => {
  if (admitted.spec.dialect !== "hpa") return convertedForm(admitted);
  const form = nativeForm(admitted);
  if (form.kind === "refused") return form;
  const document = { ...form.document, spec: { ...asObject(form.document["spec"]), pods } };
  const again = admit(document, { validation: "strict" });
  if (again.ok) return { kind: "converted", document };
  const [problem] = again.problems;
  return {
    kind: "refused",
    rule: problem?.field ?? "spec.pods",
    message: problem?.detail ?? "the result would not be accepted",
  };
};
