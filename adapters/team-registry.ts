import type { Logger } from "../core/logging";
import type { ObjectStore } from "../core/ports";
import type { ModelEvents } from "../core/registry/outbox";
import { createOutbox } from "../core/registry/outbox";
import { createProductionPointer, type PointerStore } from "../core/registry/pointer";
import { type ResolvedModel, resolveModel } from "../core/registry/production";
import { createRegistry } from "../core/registry/registry";
import type { ModelRepository } from "../core/registry/repository";
import { pauseBeforeRound } from "./dynamodb/contention";

export interface TeamRegistryPorts {
  readonly team: string;
  readonly repository: ModelRepository;
  readonly objects: ObjectStore;
  readonly pointers: PointerStore;
  readonly events: ModelEvents;
  readonly uriOf: (key: string) => string;
  readonly logger: Logger;
}

/** A team's registry with what follows from its changes: events, and pointers to champions. */
export function createTeamRegistry({ team, repository, objects, pointers, events, uriOf, logger }: TeamRegistryPorts) {
  const reader = createRegistry(repository);
  const resolve = async (name: string): Promise<ResolvedModel> => {
    const { model, version } = await reader.champion(name);
    return resolveModel(objects, uriOf, model, version);
  };
  const pointer = createProductionPointer({ store: pointers, resolve, pause: pauseBeforeRound });
  const outbox = createOutbox(team, { repository, events, pointer });
  const registry = createRegistry(repository, pauseBeforeRound, async (change) => {
    try {
      await outbox.committed(change);
    } catch (error) {
      // The change stands, and its row in the outbox: the sweep does it within a minute.
      const { name, revision } = change.model;
      logger.log("warn", "a change is told of later", { team, model: name, revision, error });
    }
  });
  return { registry, outbox, production: { resolve, find: pointer.find } };
}

export type TeamRegistry = ReturnType<typeof createTeamRegistry>;
