import { instantText } from "../../stack/report/instant-text.ts";
import type { Chosen } from "../select/chosen-autoscalers.ts";
import type { Printer, Session } from "../io.ts";
import { forEachResource, resultText } from "../select/listed-autoscalers.ts";
import { queryFor } from "../select/selected-names.ts";
import { futureMs } from "../options/time-options.ts";

export const pause = async (
  { service, nowMs }: Session,
  printer: Printer,
  resources: readonly Chosen[],
  until: string | undefined,
): Promise<void> => {
  const untilMs = until === undefined ? undefined : futureMs("--until", until, nowMs, printer.note);
  const end = untilMs === undefined ? "" : ` until ${instantText(untilMs)}`;
  await forEachResource(resources, async ({ version: _version, ...resource }) => {
    const edited = await service.pause(await queryFor(service, resource), untilMs);
    await printer.print(
      resultText(edited, edited.changed ? `paused${end}` : `was paused${end} already`),
    );
  });
};

export const resume = async (
  { service }: Session,
  printer: Printer,
  resources: readonly Chosen[],
): Promise<void> =>
  forEachResource(resources, async ({ version: _version, ...resource }) => {
    const edited = await service.resume(await queryFor(service, resource));
    await printer.print(resultText(edited, edited.changed ? "resumed" : "was not paused"));
  });
