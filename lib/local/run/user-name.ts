import { userInfo } from "node:os";

/** The name of the system user, with which edits are recorded. A container may know its user only by number. */
export const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
};
