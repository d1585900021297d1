import * as z from "zod";
import { cloudEvent } from "../../answers/cloud-events/kinds.ts";
import type { Printer } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";

/** Prints the JSON Schema (2020-12) of an event as it leaves Tidemark. */
export const eventSchema = async (printer: Printer, format: DocumentFormat): Promise<void> => {
  await printer.print(documentText(z.toJSONSchema(cloudEvent, { io: "output" }), format));
};
