import { ServiceError } from "../wire";

export function validation(message: string): ServiceError {
  return new ServiceError("ValidationException", 400, message);
}

export function noRule(name: unknown): ServiceError {
  return new ServiceError("ResourceNotFoundException", 400, `Rule ${name} does not exist on EventBus default.`);
}
