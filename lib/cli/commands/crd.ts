import { podAutoscalerDefinition } from "../../manifest/crd/definition.ts";
import type { Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/document-text.ts";

/** Prints the CustomResourceDefinition `podautoscalers.tidemark.dev`, ready for `kubectl apply --server-side -f -`. */
export const crd = async (printer: Printer, output: DocumentFormat): Promise<void> => {
  await printer.print(documentText(podAutoscalerDefinition(), output));
};
