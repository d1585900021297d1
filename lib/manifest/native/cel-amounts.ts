/** The amount of a quantity in CEL. The API server of a cluster gives a rule the whole number or the text. */
export const amountOf = (self: string): string => `(type(${self}) == int ? quantity(string(${self})) : quantity(${self}))`;

/** True in CEL where one quantity is not above the other. */
export const notAbove = (low: string, high: string): string => `${amountOf(low)}.compareTo(${amountOf(high)}) <= 0`;
