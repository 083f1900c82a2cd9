import { ServiceError } from "../wire";

export function validation(message: string): ServiceError {
  return new ServiceError("ValidationException", 400, message);
}

export function conflict(message: string): ServiceError {
  return new ServiceError("ConflictException", 409, message);
}

export function notFound(kind: "Schedule" | "ScheduleGroup", name: string): ServiceError {
  return new ServiceError("ResourceNotFoundException", 404, `${kind} ${name} does not exist.`);
}
