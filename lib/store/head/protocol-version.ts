/**
 * The version of the rules by which this code writes heads and pages. Raise it with every rule that earlier code would break. Then earlier code cannot claim a partition that this
 * code has claimed, during an update or after a rollback: the partition holds until a release with the rule runs again.
 *
 * 1: the version itself.
 */
export const PROTOCOL_VERSION = 1;
