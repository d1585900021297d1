/** A refusal as SQS words it: `shape` is the error's name in the model, `query` its older code, which the SDK shows where the two differ. */
export class SqsFailure extends Error {
  readonly shape: string;
  readonly query: string;

  constructor(shape: string, message: string, query: string = shape) {
    super(message);
    this.name = "SqsFailure";
    this.shape = shape;
    this.query = query;
  }
}

const QUERY_PREFIX = "AWS.SimpleQueueService.";

/** One of the errors whose older code has the prefix of the service. */
export const sqsFailure = (shape: string, message: string): SqsFailure => new SqsFailure(shape, message, `${QUERY_PREFIX}${shape}`);

export const noSuchQueue = (): SqsFailure =>
  new SqsFailure("QueueDoesNotExist", "The specified queue does not exist.", `${QUERY_PREFIX}NonExistentQueue`);

export const invalidValue = (parameter: string, value: unknown, reason: string): SqsFailure =>
  new SqsFailure("InvalidParameterValue", `Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}.`);

export const missingParameter = (parameter: string): SqsFailure =>
  new SqsFailure("MissingParameter", `The request must contain the parameter ${parameter}.`);
