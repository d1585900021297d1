/**
 * The rules by which this code writes heads and pages. Raise it with every rule that earlier code would break without knowing: then no such code claims a partition that this code
 * has claimed, during an update as well as after a way back to the release before. It holds there until a release that knows the rule is back.
 *
 * 1: the version itself.
 */
export const PROTOCOL_VERSION = 1;
