import { autoscalerUid } from "../../../lib/rules/model/ids.ts";
import type { Windows } from "../../../lib/rules/model/windows.ts";
import { decodePage, encodePage } from "../../../lib/stack/store/pages/codec.ts";

const UID = autoscalerUid("vector");

/** The windows as the next sync reads them: encoded into a page of the table and decoded again. */
export const throughStore = (windows: Windows): Windows => {
  const page = decodePage(encodePage([{ uid: UID, windows, open: false }]));
  const entry = page.kind === "read" ? page.entries.get(UID) : undefined;
  if (!entry)
    throw new RangeError(
      `the page cannot be read again: ${page.kind === "unreadable" ? page.message : "no entry"}`,
    );
  return entry.windows;
};
