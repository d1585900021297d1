/** The instant at which the tests begin: noon of the first of March 2026. */
export const NOON = Date.UTC(2026, 2, 1, 12);
