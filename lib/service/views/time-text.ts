/** RFC 3339 in UTC with milliseconds, as every time in an answer is written; so that texts sort as times do. */
export const timeText = (ms: number): string => new Date(ms).toISOString();
