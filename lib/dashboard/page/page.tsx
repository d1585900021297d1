import { render } from "preact";
import "./style/base.css";
import "./style/shell.css";
import "./style/fleet.css";
import "./style/changes.css";
import "./style/autoscaler.css";
import "./style/edits.css";
import "./style/schedule.css";
import { findToken } from "./data/token.ts";
import { Shell } from "./shell.tsx";

/** Draws the page into its document. */
const start = async (): Promise<void> => {
  const root = document.getElementById("page");
  if (!root) throw new Error("The document has no place for the page");
  root.replaceChildren();
  render(<Shell token={await findToken()} />, root);
};

void start();
