/** The instant at which the worlds of most tests stand. Worlds whose output states a date have an instant of their own. */
export const NOON = Date.UTC(2026, 10, 21, 12);
