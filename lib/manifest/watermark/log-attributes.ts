import * as z from "zod";

const shape = z.record(z.string(), z.unknown());

/** Reads the annotation `wpa.datadoghq.com/logs-attributes` for the log lines of its autoscaler. A failure only warns (watermark.md 1.4, 2.2). */
export const logAttributes = (
  annotations: Readonly<Record<string, string>>,
):
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly attributes: Readonly<Record<string, unknown>> }
  | { readonly kind: "unreadable"; readonly message: string } => {
  const text = annotations["wpa.datadoghq.com/logs-attributes"];
  if (text === undefined) return { kind: "none" };
  try {
    const attributes = shape.safeParse(JSON.parse(text));
    return attributes.success
      ? { kind: "read", attributes: attributes.data }
      : { kind: "unreadable", message: "the annotation is not a JSON object" };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: "unreadable", message: error.message };
    throw error;
  }
};
