import { ServiceError } from "../wire";

/** Batch's one error for whatever is wrong with a request. */
export function clientError(message: string): ServiceError {
  return new ServiceError("ClientException", 400, message);
}
