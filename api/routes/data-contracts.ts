import { dataContractBlocked } from "../../core/datasets/contract/blocked";
import { dataContractNotFound, setDataContract } from "../../core/datasets/contract/stored";
import { InvalidInputError } from "../../core/errors";
import { defineRoute } from "../http/route";
import * as operations from "../operations/data-contracts";

export const dataContractRoutes = [
  defineRoute(operations.getDataContract, async ({ platform, params: { name }, query: { revision } }) => {
    const { dataContracts } = platform;
    const contract =
      revision === undefined ? await dataContracts.findCurrent(name) : await dataContracts.find(name, revision);
    if (!contract) throw dataContractNotFound(name, revision);
    return { contract: contract };
  }),

  defineRoute(operations.listDataContracts, ({ platform, params: { name }, query }) =>
    platform.dataContracts.list({ dataset: name, ...query }),
  ),

  defineRoute(operations.setDataContract, async ({ platform, params: { name }, body, actor }) => {
    const { dataContracts, clock, pause } = platform;
    const { contract, ifRevision, reason } = body;
    const options = { actor, ifRevision, reason };
    return setDataContract({ contracts: dataContracts, clock, pause }, name, contract, options);
  }),

  defineRoute(operations.reportBlockedPush, async ({ platform, params: { name }, body }) => {
    const { dataContracts, runEvents, team } = platform;
    const { revision, digest, at, rows, file, violations } = body;
    if (!(await dataContracts.find(name, revision))) throw dataContractNotFound(name, revision);
    const time = Date.parse(at);
    if (Number.isNaN(time)) {
      throw new InvalidInputError("the request", [{ path: "at", value: at, rule: "must be a time in ISO 8601" }]);
    }
    const report = {
      dataset: { name, digest },
      revision,
      at: new Date(time).toISOString(),
      rows,
      outcomes: violations,
    };
    const origin = { team, dataset: name, source: "push" as const, file };
    const event = dataContractBlocked(report, origin);
    await runEvents.publishDataContractBlocked(event);
    return { eventId: event.id };
  }),
];
