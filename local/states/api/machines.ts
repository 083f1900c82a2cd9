import { randomUUID } from "node:crypto";
import { machineName, stateMachineArn } from "../arns";
import { ServiceError } from "../errors";
import { isObject, type JsonObject } from "../json";
import type { MachineRecord } from "../store/records";
import { invalidDefinition, validateDefinition } from "../validate";
import { checkedName, type Input, nextToken } from "./input";
import { findMachine, type Operation } from "./operation";

function checkedDefinition(input: Input): string {
  const definition = input.string("definition", { max: 1_048_576 });
  const diagnostics = validateDefinition(definition);
  if (diagnostics.length > 0) throw new ServiceError("InvalidDefinition", invalidDefinition(diagnostics));
  return definition;
}

function refuseUnimplemented(input: Input): void {
  const type = input.oneOf("type", ["STANDARD", "EXPRESS"]);
  if (type === "EXPRESS") {
    throw new ServiceError(
      "StateMachineTypeNotSupported",
      "EXPRESS state machines are not implemented by the embedded Step Functions",
    );
  }
  const encryption = input.fields["encryptionConfiguration"];
  if (isObject(encryption) && encryption["type"] !== "AWS_OWNED_KEY") {
    throw new ServiceError(
      "ValidationException",
      "Customer managed keys are not implemented by the embedded Step Functions",
    );
  }
  if (input.has("tags")) {
    throw new ServiceError("ValidationException", "Tags are not implemented by the embedded Step Functions");
  }
  if (input.boolean("publish", false)) {
    throw new ServiceError(
      "ValidationException",
      "Versions are not implemented by the embedded Step Functions: publish must be false",
    );
  }
}

const option = (input: Input, name: string): JsonObject | undefined => {
  const value = input.fields[name];
  return isObject(value) ? value : undefined;
};
const noLogging: JsonObject = { level: "OFF", includeExecutionData: false };
const noTracing: JsonObject = { enabled: false };

/** Returns whether two creations of the same name are equal. The role does not matter. */
const sameCreation = (a: MachineRecord, b: MachineRecord): boolean =>
  [a, b]
    .map(({ definition, logging, tracing }) => JSON.stringify([definition, logging, tracing]))
    .every((key, _, keys) => key === keys[0]);

export const createStateMachine: Operation = async (input, api) => {
  const name = checkedName(input.string("name"));
  refuseUnimplemented(input);
  const now = api.clock.now();
  const machine: MachineRecord = {
    name,
    definition: checkedDefinition(input),
    roleArn: input.string("roleArn", { max: 256 }),
    createdAt: now,
    updatedAt: now,
    logging: option(input, "loggingConfiguration") ?? noLogging,
    tracing: option(input, "tracingConfiguration") ?? noTracing,
  };
  return api.exclusively(name, async () => {
    const stored = await api.store.machine(name);
    if (stored && !sameCreation(stored, machine)) {
      throw new ServiceError("StateMachineAlreadyExists", `State Machine Already Exists: '${stateMachineArn(name)}'`);
    }
    if (!stored) await api.store.putMachine(machine);
    return { stateMachineArn: stateMachineArn(name), creationDate: (stored ?? machine).createdAt / 1000 };
  });
};

export const updateStateMachine: Operation = async (input, api) => {
  const arn = input.string("stateMachineArn", { max: 256 });
  refuseUnimplemented(input);
  const names = ["definition", "roleArn", "loggingConfiguration", "tracingConfiguration", "encryptionConfiguration"];
  if (!names.some(input.has)) {
    throw new ServiceError(
      "MissingRequiredParameter",
      "Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified",
    );
  }
  const definition = input.has("definition") ? checkedDefinition(input) : undefined;
  return api.exclusively(machineName(arn), async () => {
    const machine = await findMachine(api, arn);
    const updated: MachineRecord = {
      ...machine,
      definition: definition ?? machine.definition,
      roleArn: input.optional("roleArn", { max: 256 }) ?? machine.roleArn,
      logging: option(input, "loggingConfiguration") ?? machine.logging,
      tracing: option(input, "tracingConfiguration") ?? machine.tracing,
      revisionId: randomUUID(),
      updatedAt: api.clock.now(),
    };
    await api.store.putMachine(updated);
    return { updateDate: updated.updatedAt / 1000, revisionId: updated.revisionId };
  });
};

export const describeStateMachine: Operation = async (input, api) => {
  const machine = await findMachine(api, input.string("stateMachineArn", { max: 256 }));
  return {
    stateMachineArn: stateMachineArn(machine.name),
    name: machine.name,
    status: "ACTIVE",
    definition: machine.definition,
    roleArn: machine.roleArn,
    type: "STANDARD",
    creationDate: machine.createdAt / 1000,
    loggingConfiguration: machine.logging,
    tracingConfiguration: machine.tracing,
    revisionId: machine.revisionId,
  };
};

export const listStateMachines: Operation = async (input, api) => {
  const limit = input.maxResults();
  const stored = await api.store.machines(input.cursor("machines"), limit + 1);
  const page = stored.slice(0, limit);
  return {
    stateMachines: page.map(({ name, createdAt }) => ({
      stateMachineArn: stateMachineArn(name),
      name,
      type: "STANDARD",
      creationDate: createdAt / 1000,
    })),
    ...nextToken("machines", stored.length > limit ? page.at(-1)?.name : undefined),
  };
};
