import { resolve } from "node:path";
import { ownerKeys } from "../adapters/files/owner-keys";
import { StackNotRunningError } from "./errors";
import { findStack, type StackInfo } from "./stack-file";

/** Returns the connection of the machine's owner to the AWS services of a running stack. @throws StackNotRunningError */
export async function ownerConnection(data: string) {
  const stack = await findStack(data);
  if (!stack) throw new StackNotRunningError(resolve(data));
  return connectionTo(stack);
}

export function connectionTo({ endpoint, data }: StackInfo) {
  return { endpoint, region: "us-east-1", credentials: ownerKeys(data) };
}
