import type { Logger } from "../core/logging";
import { objectKeys, teamPrefix } from "../core/object-keys";
import type { ObjectStore } from "../core/ports";
import { createOutbox, type ModelEvents } from "../core/registry/outbox";
import { createPointer, type Pointer, type PointerSource, type PointerStore } from "../core/registry/pointer";
import { productionPointer, type ResolvedModel, resolveModel } from "../core/registry/production";
import { createRegistry, type FollowUp } from "../core/registry/registry";
import type { ModelRepository } from "../core/registry/repository";
import { type RoutedModel, routedModel, routingPointer } from "../core/registry/serving/traffic";
import { pauseBeforeRound } from "./dynamodb/client";
import { models } from "./dynamodb/model-repository";
import { platformEvents } from "./eventbridge/platform-events";
import { grantsOf, teamPort } from "./port";
import { teamObjects } from "./s3/object-store";
import { pointers } from "./s3/pointer-store";

export interface TeamRegistryPorts {
  readonly team: string;
  readonly repository: ModelRepository;
  readonly objects: ObjectStore;
  readonly pointers: PointerStore;
  readonly events: ModelEvents;
  readonly uriOf: (key: string) => string;
  readonly logger: Logger;
}

/** A team's registry with what follows from its changes: events, and pointers to champions and serving targets. */
export function createTeamRegistry({ team, repository, objects, pointers, events, uriOf, logger }: TeamRegistryPorts) {
  const reader = createRegistry(repository);
  const champions: PointerSource<ResolvedModel> = {
    async resolve(name) {
      const { model, version } = await reader.champion(name);
      return resolveModel(objects, uriOf, model, version);
    },
  };
  const routes: PointerSource<RoutedModel> = { resolve: async (name) => routedModel(await reader.head(name)) };
  const shared = { store: pointers, pause: pauseBeforeRound };
  const pointer = createPointer({
    ...shared,
    keyOf: objectKeys.productionPointer,
    kind: productionPointer,
    source: champions,
  });
  const routing = createPointer({ ...shared, keyOf: objectKeys.routingPointer, kind: routingPointer, source: routes });
  const outbox = createOutbox(team, { repository, events, pointer, routing });
  const followUp: FollowUp = {
    async committed(change) {
      try {
        await outbox.committed(change);
      } catch (error) {
        // The change and its outbox row are stored. The sweep publishes it within a minute.
        const { name, revision } = change.model;
        logger.log("warn", "the publication of a change is delayed", { team, model: name, revision, error });
      }
    },
  };
  const registry = createRegistry(repository, pauseBeforeRound, followUp);
  return { registry, outbox, production: pointedTo(champions, pointer), routing: pointedTo(routes, routing) };
}

const pointedTo = <T>(
  { resolve }: PointerSource<T>,
  pointer: Pointer<T>,
): PointerSource<T> & Pick<Pointer<T>, "find"> => ({
  resolve,
  find: (name) => pointer.find(name),
});

const wholeRegistry = teamPort({
  uses: { repository: models(), objects: teamObjects(), pointers: pointers(), events: platformEvents() },
  make: (ports, { config: { bucket }, team, logger }) =>
    createTeamRegistry({ ...ports, team, logger, uriOf: (key) => `s3://${bucket}/${teamPrefix(team)}${key}` }),
});

/** Grants that follow from a change: its event, the row of the outbox, and the pointers to champions and routes. */
const follow = grantsOf([models("publish"), platformEvents("publish"), teamObjects("read"), pointers("read", "write")]);

export const registry = teamPort({
  uses: { whole: wholeRegistry() },
  grants: {
    read: [...models("read").grants],
    list: [...models("list").grants],
    change: [...models("read", "commit").grants, ...follow],
  },
  make: ({ whole }) => whole.registry,
});

export const outbox = teamPort({
  uses: { whole: wholeRegistry() },
  grants: { publish: [...models("read").grants, ...follow] },
  make: ({ whole }) => whole.outbox,
});

export const production = teamPort({
  uses: { whole: wholeRegistry() },
  grants: { read: grantsOf([models("read"), teamObjects("read"), pointers("read")]) },
  make: ({ whole }) => whole.production,
});

export const routing = teamPort({
  uses: { whole: wholeRegistry() },
  grants: { read: grantsOf([models("read"), pointers("read")]) },
  make: ({ whole }) => whole.routing,
});
