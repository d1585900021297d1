#!/usr/bin/env node
import { userInfo } from "node:os";
import { main } from "./main.ts";
import { openDataFolder } from "./session.ts";

/** Who the person at this terminal is, as the system says; a container may know its user by number only. */
const person = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};

const { NO_COLOR: noColor, TERM: term } = process.env;

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  colours: process.stdout.isTTY === true && !noColor && term !== "dumb",
  by: person(),
  open: openDataFolder,
});
