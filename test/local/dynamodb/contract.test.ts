import { dynamoDbContract } from "./contract";
import { type Subject, startEmbedded } from "./harness";

let subject: Subject;
beforeAll(async () => {
  subject = await startEmbedded();
});
afterAll(() => subject.stop());

dynamoDbContract(() => subject.client);
