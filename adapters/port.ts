import { checkTeamName } from "../core/access/principals";
import type { Pause } from "../core/backoff";
import { BoundedMap } from "../core/bounded-map";
import type { Logger } from "../core/logging";
import type { Clock } from "../core/ports";
import type { PlatformConfig } from "../platform/config";
import type { Permission } from "../platform/permissions";

/** Settings and tools that each factory receives, next to other ports. */
export interface Scope {
  readonly config: PlatformConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** In [0, 1). */
  readonly random: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Waits between the rounds of an optimistic write. */
  readonly pause: Pause;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface TeamScope extends Scope {
  readonly team: string;
}

/** A port that a function names: what its role may do for it, and how the port is made. */
export interface Port<T> {
  readonly grants: readonly Permission[];
  readonly source: Source<T>;
}

/** A factory. A process has one instance of each, or one for each team. */
interface Source<T> {
  readonly ofTeam: boolean;
  make(made: (ports: Ports) => Made<Ports>, scope: TeamScope): T;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of ports has ports of any type.
export type Ports = Readonly<Record<string, Port<any>>>;

export type Made<P extends Ports> = { readonly [Name in keyof P]: P[Name] extends Port<infer T> ? T : never };

interface Definition<Uses extends Ports, Given, Group extends string, T> {
  /** Ports that the factory receives. Their grants count for each group. */
  readonly uses?: Uses;
  /** Permissions by group of operations: reads apart from writes, so that a function names what it does. */
  readonly grants?: Readonly<Record<Group, readonly Permission[]>>;
  make(uses: Made<Uses>, scope: Given): T;
}

function define<Uses extends Ports, Group extends string, T>(
  ofTeam: boolean,
  { uses, grants, make }: Definition<Uses, TeamScope, Group, T>,
): (...groups: readonly Group[]) => Port<T> {
  const source: Source<T> = { ofTeam, make: (made, scope) => make(made(uses ?? {}) as Made<Uses>, scope) };
  const shared = grantsOf(Object.values(uses ?? {}));
  return (...groups) => ({ source, grants: union([...shared, ...groups.flatMap((group) => grants?.[group] ?? [])]) });
}

/** Defines a port that all teams share. @example openRuns("list") */
export const sharedPort = <Group extends string, T, Uses extends Ports = Readonly<Record<never, never>>>(
  definition: Definition<Uses, Scope, Group, T>,
) => define(false, definition);

/** Defines a port that each team has. @example datasets("read", "warn") */
export const teamPort = <Group extends string, T, Uses extends Ports = Readonly<Record<never, never>>>(
  definition: Definition<Uses, TeamScope, Group, T>,
) => define(true, definition);

/** Returns what a function with these ports may do, each resource once. */
export const grantsOf = (ports: readonly Port<unknown>[]): readonly Permission[] =>
  union(ports.flatMap(({ grants }) => grants));

function union(permissions: readonly Permission[]): readonly Permission[] {
  const actions = new Map<Permission["resource"], Set<string>>();
  for (const permission of permissions) {
    const resourceActions = actions.get(permission.resource) ?? new Set();
    for (const action of permission.actions) resourceActions.add(action);
    actions.set(permission.resource, resourceActions);
  }
  return [...actions].map(([resource, all]) => ({ resource, actions: [...all].sort() }));
}

/** Factories that replace those of ports. Tests use them. */
export type Replacements = readonly (readonly [port: Port<unknown>, make: (scope: TeamScope) => unknown])[];

export type TeamOf<TeamPorts extends Ports> = TeamScope & Made<TeamPorts>;

export type Deployment<SharedPorts extends Ports, TeamPorts extends Ports> = Scope &
  Made<SharedPorts> & {
    /** Returns the ports of a team. @throws InvalidInputError if the name cannot be that of a team */
    forTeam(team: string): TeamOf<SharedPorts & TeamPorts>;
  };

/** The maximum number of teams whose ports a process keeps. The ports of a dropped team are made again when needed. */
const maxTeams = 1_000;

/** Makes each port when it is first needed, once. Clients connect when they are first used. */
export function deploy<SharedPorts extends Ports, TeamPorts extends Ports>(
  scope: Scope,
  { shared, team: ofTeam }: { readonly shared: SharedPorts; readonly team: TeamPorts },
  replacements: Replacements = [],
): Deployment<SharedPorts, TeamPorts> {
  const replaced = new Map(replacements.map(([{ source }, make]) => [source, make]));
  const common = new Map<Source<unknown>, unknown>();

  function madeFor<P extends Ports>(ports: P, team: string | undefined, teams: Map<Source<unknown>, unknown>): Made<P> {
    const instanceOf = ({ source }: Port<unknown>): unknown => {
      const instances = source.ofTeam ? teams : common;
      if (!instances.has(source)) {
        if (source.ofTeam && team === undefined) throw new Error("a port of a team needs a team");
        const teamScope = { ...scope, team: team ?? "" };
        const make = replaced.get(source);
        instances.set(source, make ? make(teamScope) : source.make((uses) => madeFor(uses, team, teams), teamScope));
      }
      return instances.get(source);
    };
    return Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, instanceOf(port)])) as Made<P>;
  }

  type Team = TeamOf<SharedPorts & TeamPorts>;
  const teams = new BoundedMap<string, Team>(maxTeams);
  const deployment = { ...scope, ...madeFor(shared, undefined, new Map()) };
  const forTeam = (name: string): Team => {
    const team = checkTeamName(name);
    const cachedTeam = teams.get(team);
    if (cachedTeam) return cachedTeam;
    const ports = { ...deployment, ...madeFor(ofTeam, team, new Map()), team } as Team;
    teams.set(team, ports);
    return ports;
  };
  return { ...deployment, forTeam } as Deployment<SharedPorts, TeamPorts>;
}
