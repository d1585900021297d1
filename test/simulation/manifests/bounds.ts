/**
 * Largest count that any autoscaler may want: above eight pods a tolerance of a tenth leaves more
 * than one count at rest.
 */
export const PODS_MAX = 8;

/** Of every manifest and every cluster: stabilization, flap budget. */
export const LONGEST_WINDOW_SECONDS = 120;
