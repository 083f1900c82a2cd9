import { account, region } from "../account";
import { ServiceError } from "../wire";

export function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${account}:function:${name}`;
}

export function functionNotFound(name: string): ServiceError {
  return new ServiceError("ResourceNotFoundException", 404, `Function not found: ${functionArn(name)}`, {
    Type: "User",
  });
}

export function requestTooLarge(limit: number): ServiceError {
  return new ServiceError(
    "RequestTooLargeException",
    413,
    `Request must be smaller than ${limit} bytes for the InvokeFunction operation`,
    {
      Type: "User",
    },
  );
}

export function invalidParameter(message: string): ServiceError {
  return new ServiceError("InvalidParameterValueException", 400, message, { Type: "User" });
}

export function invalidContent(message: string): ServiceError {
  return new ServiceError("InvalidRequestContentException", 400, message, { Type: "User" });
}
