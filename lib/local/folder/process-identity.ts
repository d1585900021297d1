import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a living process from every other that had or will have its pid: the instant it started, in the words of the system. Nothing when it is dead or a
 * zombie. A pid alone is not enough: after a reboot, or in a container, another process soon has the same pid.
 */
export const processIdentity = (pid: number): string | undefined => (process.platform === "linux" ? fromProc(pid) : fromPs(pid));

const fromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): the name in parentheses may hold spaces; field 3, the state, follows it, and field 22 is the start time in ticks since boot.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${rest[18]}`;
  } catch {
    // ENOENT or ESRCH: there is no such process.
    return undefined;
  }
};

const fromPs = (pid: number): string | undefined => {
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return started === "" ? undefined : started;
  } catch {
    // ps ends with 1 when no process has the pid.
    return undefined;
  }
};
