import { InvalidInputError, RingmasterError } from "../../core/errors";

/** Returns an error with other texts. It keeps its class, by which it is reported. */
export function renamedError(error: RingmasterError, rename: (text: string) => string): RingmasterError {
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return rename(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, deep(each)]));
  };
  const details = deep(error.details) as InvalidInputError["details"];
  if (error instanceof InvalidInputError) {
    return new InvalidInputError(rename(error.message.split(": ")[0]!), details.problems, error);
  }
  const { code, httpStatus, retryable } = error;
  return new RingmasterError(rename(error.message), { code, httpStatus, retryable, details, cause: error });
}
