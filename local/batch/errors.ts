import { ServiceError } from "../wire";

/** Creates the error that Batch returns for every invalid request. */
export function clientError(message: string): ServiceError {
  return new ServiceError("ClientException", 400, message);
}
