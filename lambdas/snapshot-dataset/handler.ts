import { dataContracts } from "../../adapters/dynamodb/data-contract-repository";
import { datasets } from "../../adapters/dynamodb/dataset-repository";
import { inbox } from "../../adapters/dynamodb/inbox-repository";
import { lineage } from "../../adapters/dynamodb/lineage-repository";
import { platformEvents } from "../../adapters/eventbridge/platform-events";
import { inboxFiles } from "../../adapters/s3/inbox-files";
import { teamObjects } from "../../adapters/s3/object-store";
import { functionHandler } from "../function-handler";
import { type FilePutEvent, takeFilePut } from "./snapshot";

/** Receives events of raw files that were put into teams' inboxes, and makes them versions of their datasets. */
export const handler = functionHandler(
  {
    shared: { runEvents: platformEvents("publish") },
    team: {
      datasets: datasets("read", "register", "annotate"),
      dataContracts: dataContracts("current"),
      inbox: inbox("read", "write"),
      inboxFiles: inboxFiles("read"),
      lineage: lineage("write"),
      objects: teamObjects("read", "write", "upload"),
    },
  },
  async (ports, event: FilePutEvent) => {
    const { logger } = ports;
    const report = await takeFilePut(ports, event);
    const { key } = event.detail.object;
    if (!report) return logger.log("info", "file passed over: none of ours, or dealt with before", { key });
    const { status, dataset, version, created, code, reason } = report;
    const level = status === "refused" ? "warn" : "info";
    logger.log(level, "file of an inbox", { key, status, dataset, version, created, code, reason });
  },
);
