import { useState } from "preact/hooks";
import { useFacts } from "../data/facts.ts";
import { useKeys } from "../use-keys.ts";
import type { Edit } from "./edit.ts";
import { EditDialog } from "./edit-dialog.tsx";

/** A button for each edit where the server allows any. `e` opens the first. */
export const Edits = ({ edits }: { readonly edits: readonly Edit[] }) =>
  useFacts().edits ? <Buttons edits={edits} /> : null;

const Buttons = ({ edits }: { readonly edits: readonly Edit[] }) => {
  // As it was when it was opened: another person may pause or freeze meanwhile.
  const [asked, setAsked] = useState<Edit>();
  useKeys({ e: () => setAsked(edits[0]) });
  return (
    <div class="edits">
      {edits.map((edit, at) => (
        <button key={at} type="button" class="button" onClick={() => setAsked(edit)}>
          {edit.title}
        </button>
      ))}
      {asked && <EditDialog edit={asked} onClose={() => setAsked(undefined)} />}
    </div>
  );
};
