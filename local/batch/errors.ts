import { ServiceError } from "../wire";

export function clientError(message: string): ServiceError {
  return new ServiceError("ClientException", 400, message);
}
