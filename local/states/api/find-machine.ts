import { machineName } from "../arns";
import { ServiceError } from "../errors";
import type { MachineRecord } from "../store/records";
import type { Api } from "./operation";

export async function findMachine({ store }: Pick<Api, "store">, arn: string): Promise<MachineRecord> {
  const machine = await store.machine(machineName(arn));
  if (machine) return machine;
  throw new ServiceError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
}
