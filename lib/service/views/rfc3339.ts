/** RFC 3339 in UTC with milliseconds, in every answer, so that texts sort in order of time. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();
