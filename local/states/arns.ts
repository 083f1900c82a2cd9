import { account, region } from "../account";
import { ServiceError } from "./errors";

const prefix = `arn:aws:states:${region}:${account}`;

/**
 * Returns the name under which the child executions of a distributed Map are stored. In ARNs a slash separates the two
 * parts. Keys of the store use the slash, and no name may contain the other character.
 */
export const childMachine = (machine: string, label: string): string => `${machine}|${label}`;
const shown = (machine: string): string => machine.replace("|", "/");

export const stateMachineArn = (name: string): string => `${prefix}:stateMachine:${shown(name)}`;
export const executionArn = (machine: string, name: string): string => `${prefix}:execution:${shown(machine)}:${name}`;

const parts = (arn: string): readonly string[] => {
  if (!arn.startsWith("arn:")) throw new ServiceError("InvalidArn", `Invalid Arn: 'Invalid ARN prefix: ${arn}'`);
  return arn.split(":");
};

/** Returns the name of the state machine in an ARN. Versions and aliases (a further part) are not implemented. */
export function machineName(arn: string): string {
  const [, , service, , , kind, name, ...rest] = parts(arn);
  if (service !== "states" || kind !== "stateMachine" || !name) {
    throw new ServiceError("InvalidArn", `Invalid Arn: 'Resource type not valid in this context: ${kind ?? arn}'`);
  }
  if (rest.length > 0) throw new ServiceError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
  return name;
}

export interface ExecutionName {
  readonly machine: string;
  readonly name: string;
}

export function executionName(arn: string): ExecutionName {
  const [, , service, , , kind, machine, name] = parts(arn);
  if (service !== "states" || kind !== "execution" || !machine || !name) {
    throw new ServiceError("InvalidArn", `Invalid Arn: 'Resource type not valid in this context: ${kind ?? arn}'`);
  }
  return { machine: machine.replace("/", "|"), name };
}
