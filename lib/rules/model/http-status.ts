/** Statuses of HTTP that decide what follows, whichever server gave them. */
export const OK = 200;
export const FORBIDDEN = 403;
export const NOT_FOUND = 404;
export const CONFLICT = 409;
export const UNPROCESSABLE = 422;
export const TOO_MANY_REQUESTS = 429;
