import type { Clock } from "../../clock";
import { machineName } from "../arns";
import type { Engine } from "../engine/engine";
import { ServiceError } from "../errors";
import type { MachineRecord } from "../store/records";
import type { Store } from "../store/store";
import type { Input } from "./input";

export interface Api {
  readonly store: Store;
  readonly engine: Engine;
  readonly clock: Clock;
  exclusively<T>(machine: string, change: () => Promise<T>): Promise<T>;
}

export type Operation = (input: Input, api: Api) => Promise<object>;

export async function findMachine({ store }: Pick<Api, "store">, arn: string): Promise<MachineRecord> {
  const machine = await store.machine(machineName(arn));
  if (machine) return machine;
  throw new ServiceError("StateMachineDoesNotExist", `State Machine Does Not Exist: '${arn}'`);
}
