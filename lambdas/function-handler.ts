import type { Context } from "aws-lambda";
import { type Deployment, deploy, grantsOf, type Ports } from "../adapters/port";
import { readScope } from "../adapters/process-scope";
import type { Permission } from "../platform/permissions";

/** A function's handler, with what its role may do. */
export type Granted<Handler> = Handler & { readonly grants: readonly Permission[] };

export interface FunctionPorts<SharedPorts extends Ports, TeamPorts extends Ports> {
  readonly shared: SharedPorts;
  readonly team: TeamPorts;
}

export const permissionsOf = ({ shared, team }: FunctionPorts<Ports, Ports>): readonly Permission[] =>
  grantsOf([...Object.values(shared), ...Object.values(team)]);

export const granted = <Handler extends (...given: never[]) => unknown>(
  ports: FunctionPorts<Ports, Ports>,
  handler: Handler,
): Granted<Handler> => Object.assign(handler, { grants: permissionsOf(ports) });

export function once<T>(make: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => {
    cached ??= { value: make() };
    return cached.value;
  };
}

/**
 * Makes a function's handler of the ports that it uses. The ports are made once in an execution environment; log lines name the request.
 *
 * @example functionHandler({ shared: { identities: runIdentities("read") }, team: { runs: runs("details") } }, async ({ forTeam }, event) => …)
 */
export function functionHandler<SharedPorts extends Ports, TeamPorts extends Ports, Event, Result>(
  ports: FunctionPorts<SharedPorts, TeamPorts>,
  execute: (deployment: Deployment<SharedPorts, TeamPorts>, event: Event, context: Context) => Promise<Result>,
): Granted<(event: Event, context: Context) => Promise<Result>> {
  const deployment = once(() => deploy(readScope(process.env), ports));
  return granted(ports, (event: Event, context: Context) => {
    const ports = deployment();
    return execute({ ...ports, logger: ports.logger.with({ requestId: context.awsRequestId }) }, event, context);
  });
}
