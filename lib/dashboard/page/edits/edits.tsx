import { useState } from "preact/hooks";
import { useFacts } from "../data/facts.ts";
import { useKeys } from "../use-keys.ts";
import type { Edit } from "./edit.ts";
import { EditDialog } from "./edit-dialog.tsx";

interface Props {
  readonly edits: readonly Edit[];
  /** True where `e` opens the first: of one part of a page. */
  readonly hasKey?: boolean;
}

/** A button for each edit where the server allows any. */
export const Edits = (props: Props) => (useFacts().edits ? <Buttons {...props} /> : null);

const Buttons = ({ edits, hasKey = false }: Props) => {
  // As it was when it was opened: another person may pause or freeze meanwhile.
  const [asked, setAsked] = useState<Edit>();
  useKeys(hasKey ? { e: () => setAsked(edits[0]) } : {});
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
