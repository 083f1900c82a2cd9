import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createGangStore } from "../../../trainer-container/gang/dynamodb-store";
import { createTable, rangeTable, type Subject, startEmbedded } from "../../local/dynamodb/harness";
import { MemoryGangStore } from "../../support/memory-gang-store";
import { gangStoreContract } from "./store-contract";

describe("the gang store on DynamoDB", () => {
  let subject: Subject;
  let table: string;
  beforeAll(async () => {
    subject = await startEmbedded();
    table = await createTable(subject.client, rangeTable("S"));
  });
  afterAll(() => subject.stop());

  gangStoreContract(() => createGangStore(createDocumentClient(subject.client), table));
});

describe("the gang store in memory", () => gangStoreContract(() => new MemoryGangStore()));
